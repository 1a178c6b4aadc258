// Detects changes of files by their content. Changes behind links and changes within the resolution
// of file times are detected, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace yard {

class WatchedFiles {
 public:
  // Later changes are compared with the content that the files have now.
  explicit WatchedFiles(std::vector<std::string> paths);

  // Returns whether the content has changed since changed() last returned true. A change counts
  // when two calls in a row have found the same content, so that files which are being replaced one
  // by one are not read half-way. With `at_once`, a change counts at the first call.
  bool changed(bool at_once);

 private:
  std::string content_hash() const;

  const std::vector<std::string> paths_;
  std::string seen_, latest_;
};

// How many versions of files were loaded and refused since the start.
struct ReloadCounts {
  uint64_t loaded = 0, refused = 0;
};

// Returns the content of a secret file. Throws InputError, naming `option`, if the file cannot be
// read, or if users other than the owner and the group may read or write it.
std::string read_secret(const std::string& option, const std::string& path);

}  // namespace yard
