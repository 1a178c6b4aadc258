#include "env/base/files/lines.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "env/base/core/check.h"
#include "env/base/files/file.h"
#include "env/base/files/unpack.h"

namespace yard {
namespace {

constexpr size_t kHead = 1 << 16;
constexpr size_t kPiece = 1 << 18;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

class Lines::Pieces {
 public:
  // Reads `text` if `file` is null.
  explicit Pieces(std::unique_ptr<DecompressingReader> file, std::string_view text = {})
      : file_(std::move(file)), text_(text) {
    YARD_CHECK(hash_ != nullptr && EVP_DigestInit_ex(hash_, EVP_sha256(), nullptr) == 1,
               "SHA-256 is not available");
  }
  ~Pieces() { EVP_MD_CTX_free(hash_); }
  Pieces(const Pieces&) = delete;

  // Returns the space to reserve for the next piece; no more than is left, if that is known.
  size_t next_size() const { return file_ ? kPiece : std::min(kPiece, text_.size()); }

  size_t read(char* to, size_t most) {
    size_t n = 0;
    if (file_) {
      n = file_->read(to, most);
    } else {
      n = std::min(most, text_.size());
      if (n > 0) std::memcpy(to, text_.data(), n);
      text_.remove_prefix(n);
    }
    YARD_CHECK(EVP_DigestUpdate(hash_, to, n) == 1, "SHA-256 is not available");
    return n;
  }

  std::string sha256() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    YARD_CHECK(EVP_DigestFinal_ex(hash_, digest, &length) == 1, "SHA-256 is not available");
    return hex_digits({digest, length});
  }

 private:
  std::unique_ptr<DecompressingReader> file_;
  std::string_view text_;
  EVP_MD_CTX* hash_ = EVP_MD_CTX_new();
};

Lines::Lines(std::unique_ptr<Pieces> pieces, std::string name)
    : pieces_(std::move(pieces)), name_(std::move(name)) {}
Lines::Lines(Lines&&) noexcept = default;
Lines::~Lines() = default;

Lines Lines::of_file(const std::filesystem::path& path) {
  return Lines(std::make_unique<Pieces>(std::make_unique<DecompressingReader>(path)),
               path.string());
}

Lines Lines::of_text(std::string_view text, std::string name) {
  return Lines(std::make_unique<Pieces>(nullptr, text), std::move(name));
}

// Appends another piece to the buffer. Returns false at the end.
bool Lines::read_more() {
  if (ended_) return false;
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t before = buffer_.size(), piece = pieces_->next_size();
  buffer_.resize(before + piece);
  const size_t got = pieces_->read(buffer_.data() + before, piece);
  buffer_.resize(before + got);
  if (got == 0) {
    ended_ = true;
    sha256_ = pieces_->sha256();
  }
  return got > 0;
}

std::string_view Lines::first_bytes() {
  if (!begun_) {
    while (buffer_.size() < kHead + kByteOrderMark.size() && read_more()) {
    }
    if (buffer_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
    begun_ = true;
  }
  return std::string_view(buffer_).substr(at_, kHead);
}

bool Lines::next(std::string_view& line) {
  if (!begun_) first_bytes();
  size_t seen = 0;  // bytes of the line searched so far
  for (;;) {
    const size_t end = buffer_.find('\n', at_ + seen);
    if (end != std::string::npos) {
      line = std::string_view(buffer_).substr(at_, end - at_);
      at_ = end + 1;
      ending_ = "\n";
      break;
    }
    seen = buffer_.size() - at_;
    if (read_more()) continue;
    if (at_ == buffer_.size()) return false;
    line = std::string_view(buffer_).substr(at_);
    at_ = buffer_.size();
    ending_ = "";
    break;
  }
  if (line.ends_with('\r')) {
    line.remove_suffix(1);
    ending_ = ending_.empty() ? "\r" : "\r\n";
  }
  ++number_;
  return true;
}

}  // namespace yard
