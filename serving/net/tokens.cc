#include "serving/net/tokens.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr size_t kMinBytes = 16, kMaxBytes = 4096;  // of a token
constexpr size_t kMaxTokens = 100;
constexpr std::string_view kScheme = "bearer ";

std::array<unsigned char, 32> digest_of(std::string_view token) {
  std::array<unsigned char, 32> out;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), out.data());
  return out;
}

bool is_visible(char c) { return c > ' ' && c < '\x7f'; }

}  // namespace

std::vector<std::string> read_tokens(const std::string& option, const std::string& path) {
  const std::string text = read_secret(option, path);
  std::vector<std::string> out;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view token = trim(line);
    if (token.empty() || token.front() == '#') continue;
    // The message must not show the token.
    if (token.size() < kMinBytes || token.size() > kMaxBytes ||
        !std::ranges::all_of(token, is_visible)) {
      throw InputError(option + ": " + path + ":" + std::to_string(number),
                       "a token of 16 to 4096 visible ASCII characters",
                       std::to_string(token.size()) + " bytes");
    }
    out.emplace_back(token);
  }
  if (out.empty() || out.size() > kMaxTokens) {
    throw InputError(option + ": " + path, "1 to 100 tokens, one per line",
                     std::to_string(out.size()));
  }
  return out;
}

Tokens::Tokens(std::string option, std::string path)
    : option_(std::move(option)), path_(std::move(path)), file_({path_}) {
  for (const std::string& token : read_tokens(option_, path_)) digests_.push_back(digest_of(token));
}

bool Tokens::accept(std::string_view authorization) const {
  if (lower_case(authorization.substr(0, kScheme.size())) != kScheme) return false;
  const Digest given = digest_of(trim(authorization.substr(kScheme.size())));
  const std::lock_guard lock(mutex_);
  int same = 0;
  for (const Digest& one : digests_) {
    same += CRYPTO_memcmp(one.data(), given.data(), one.size()) == 0 ? 1 : 0;
  }
  return same > 0;
}

void Tokens::reload_if_changed(bool at_once) {
  if (!file_.changed(at_once)) return;
  std::vector<Digest> digests;
  std::string trouble;
  try {
    for (const std::string& token : read_tokens(option_, path_)) {
      digests.push_back(digest_of(token));
    }
  } catch (const InputError& error) {
    trouble = error.what();
  }
  const std::lock_guard lock(mutex_);
  ++(trouble.empty() ? counts_.loaded : counts_.refused);
  if (trouble.empty()) digests_ = std::move(digests);
  trouble_ = std::move(trouble);
}

ReloadCounts Tokens::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::string Tokens::reload_error() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

}  // namespace yard
