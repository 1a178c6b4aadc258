#include "serving/net/watched_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "env/base/core/error.h"
#include "env/base/files/file.h"

namespace yard {

WatchedFiles::WatchedFiles(std::vector<std::string> paths)
    : paths_(std::move(paths)), seen_(content_hash()), latest_(seen_) {}

std::string WatchedFiles::content_hash() const {
  std::string out;
  for (const std::string& path : paths_) {
    try {
      out += sha256_hex(read_file(path));
    } catch (const InputError& error) {
      out += error.what();
    }
    // What may be read also depends on the mode, see read_secret().
    struct stat about {};
    if (stat(path.c_str(), &about) == 0) out += std::to_string(about.st_mode);
  }
  return out;
}

bool WatchedFiles::changed(bool at_once) {
  std::string now = content_hash();
  const bool settled = at_once || now == latest_;
  latest_ = std::move(now);
  if (!settled || latest_ == seen_) return false;
  seen_ = latest_;
  return true;
}

std::string read_secret(const std::string& option, const std::string& path) {
  std::string out;
  try {
    out = read_file(path);
  } catch (const InputError& error) {
    throw InputError(option + ": " + error.what());
  }
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && (about.st_mode & S_IRWXO) != 0) {
    throw InputError(
        option, "a file for its owner and group only",
        fmt::format("mode {:o} of {}; chmod o= {}", about.st_mode & 07777, path, path));
  }
  return out;
}

}  // namespace yard
