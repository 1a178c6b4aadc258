// The bytes of a file, gzip unpacked on the way.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace yard {

class Unpack {
 public:
  // gzip is recognised by its first two bytes. Throws InputError when the file is missing or a
  // folder.
  explicit Unpack(const std::filesystem::path& path);
  ~Unpack();

  // Returns how many bytes were put to `to`, 0 at the end. Throws InputError for truncated or
  // corrupt gzip data.
  size_t read(char* to, size_t most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace yard
