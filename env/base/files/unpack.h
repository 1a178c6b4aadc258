// Reads the bytes of a file and unpacks gzip.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

namespace yard {

class DecompressingReader {
 public:
  // Recognises gzip by its first two bytes. Throws InputError if `path` is missing or a folder.
  explicit DecompressingReader(const std::filesystem::path& path);
  ~DecompressingReader();

  // Writes up to `most` unpacked bytes to `to`. Returns the number of bytes; 0 at the end of the
  // file. Throws InputError for truncated or corrupt gzip data.
  size_t read(char* to, size_t most);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace yard
