// Notices that files have changed, by their content: also behind links, and within the resolution
// of file times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yard {

class WatchedFiles {
 public:
  // Begins with the content that the files have now.
  explicit WatchedFiles(std::vector<std::string> paths);

  // Whether the content differs from that of the last time this returned true. A change counts once
  // two calls in a row have found the same, so that files which are being replaced one by one are
  // not read half-way; `at_once`: at the first call.
  bool changed(bool at_once);

 private:
  std::string content_hash() const;

  const std::vector<std::string> paths_;
  std::string seen_, latest_;
};

// What became of the versions of files since the start.
struct ReloadCounts {
  uint64_t loaded = 0, refused = 0;
};

// Returns a file that holds a secret. Throws InputError, naming `option`, if it cannot be read or
// if users outside of its owner and group may read or write it.
std::string read_secret(const std::string& option, const std::string& path);

}  // namespace yard
