// Bearer tokens (RFC 6750) that a server accepts.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serving/net/watched_files.h"

namespace yard {

// Returns the tokens of a file, one per line, except for lines that are empty or begin with '#'.
// Throws InputError, naming `option`, if the file has no token, or a short or unprintable one.
std::vector<std::string> read_tokens(const std::string& option, const std::string& path);

// The tokens of a file. Several tokens may be valid, for the time when one replaces another.
// Thread-safe if only one thread at a time reloads.
class Tokens {
 public:
  // Throws InputError as read_tokens() does.
  Tokens(std::string option, std::string path);

  // Returns whether the Authorization header has a valid token. How long the check takes does not
  // depend on the tokens, nor on how much of a token is right.
  bool accept(std::string_view authorization) const;

  // Reads a changed file again. If the file is damaged, the tokens in memory stay valid.
  void reload_if_changed(bool at_once);

  ReloadCounts counts() const;
  std::string reload_error() const;  // why the file on disk is not used; empty: it is used

 private:
  using Digest = std::array<unsigned char, 32>;

  const std::string option_, path_;
  WatchedFiles file_;
  mutable std::mutex mutex_;
  std::vector<Digest> digests_;
  ReloadCounts counts_;
  std::string trouble_;
};

}  // namespace yard
