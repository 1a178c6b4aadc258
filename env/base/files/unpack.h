// Reads the bytes of a file and unpacks gzip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace yard {

class UnpackingReader {
 public:
  // Recognises gzip by its first two bytes. Throws InputError if the file is missing or a folder.
  explicit UnpackingReader(const std::filesystem::path& path);
  ~UnpackingReader();

  // Writes up to `most` bytes to `to`. Returns their number, 0 at the end. Throws InputError for
  // truncated or corrupt gzip data.
  size_t read(char* to, size_t most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace yard
