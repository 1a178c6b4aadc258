// A file opened for appending. A write is complete or throws a RunError which names the file.
#pragma once

#include <filesystem>
#include <string_view>

namespace yard {

class AppendFile {
 public:
  // Opens or creates the file. Throws InputError if the file cannot be written.
  explicit AppendFile(const std::filesystem::path& path);
  ~AppendFile();
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&& other) noexcept;

  // Locks the file for the lifetime of this object. Returns false if another process has the lock.
  bool lock();

  void write(std::string_view bytes);

 private:
  std::filesystem::path path_;
  int fd_;
};

}  // namespace yard
