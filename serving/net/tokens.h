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

// Returns the tokens of a file: one per line, without empty lines and those that begin with '#'.
// Throws InputError, naming `option`, if it has none, or one that is short or not printable.
std::vector<std::string> read_tokens(const std::string& option, const std::string& path);

// The tokens of a file, of which several are valid while they are replaced. Thread-safe, but only
// one thread at a time may reload.
class Tokens {
 public:
  // Throws InputError as read_tokens() does.
  Tokens(std::string option, std::string path);

  // `authorization`: the value of that header. The time depends neither on the tokens nor on how
  // much of one is right.
  bool accept(std::string_view authorization) const;

  // Reads the file again if it has changed. If it is damaged the tokens in memory stay valid.
  void reload_if_changed(bool at_once);

  ReloadCounts counts() const;
  std::string trouble() const;  // why the file on disk is not used; empty: it is

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
