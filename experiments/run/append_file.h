// A file that grows: every write is whole in the file, or a RunError that names it.
#pragma once

#include <filesystem>
#include <string_view>

namespace yard {

class AppendFile {
 public:
  // Opens an existing file, or makes it. Throws InputError when the place cannot be written.
  explicit AppendFile(const std::filesystem::path& path);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  // Keeps other processes that ask from the file for as long as this is open. Returns false when
  // one was first.
  bool lock();

  void write(std::string_view bytes);

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int fd_;
};

}  // namespace yard
