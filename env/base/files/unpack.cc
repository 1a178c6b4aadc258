#include "env/base/files/unpack.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "env/base/core/check.h"
#include "env/base/core/error.h"

namespace yard {
namespace {

constexpr int kGzipOnly = 15 + 16;
constexpr size_t kPiece = 1 << 18;

}  // namespace

struct DecompressingReader::State {
  std::string name;
  int fd = -1;
  std::string packed = std::string(kPiece, '\0');
  size_t from = 0, to = 0;  // unread range of `packed`
  bool at_end = false, is_gzip = false, member_done = false;
  uint64_t unpacked = 0;
  z_stream z{};

  ~State() {
    if (is_gzip) inflateEnd(&z);
    if (fd >= 0) ::close(fd);
  }

  // Reads more of the file after the unread rest.
  void fill() {
    std::memmove(packed.data(), packed.data() + from, to - from);
    to -= from;
    from = 0;
    while (!at_end && to < packed.size()) {
      const ssize_t n = ::read(fd, packed.data() + to, packed.size() - to);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw InputError(name, "a readable file", std::strerror(errno));
      if (n == 0) at_end = true;
      to += static_cast<size_t>(n);
    }
  }

  size_t inflate_some(char* out, size_t most) {
    for (;;) {
      if (from == to) fill();
      if (member_done) {
        if (from == to) return 0;
        inflateReset(&z);
        member_done = false;
      }
      z.next_in = reinterpret_cast<Bytef*>(packed.data() + from);
      z.avail_in = static_cast<uInt>(to - from);
      z.next_out = reinterpret_cast<Bytef*>(out);
      z.avail_out = static_cast<uInt>(std::min<size_t>(most, 1u << 30));
      const uInt room = z.avail_out;
      const int status = inflate(&z, Z_NO_FLUSH);
      from = to - z.avail_in;
      const size_t got = room - z.avail_out;
      unpacked += got;
      if (status == Z_STREAM_END) {
        member_done = true;
      } else if (status == Z_BUF_ERROR && from == to && at_end) {
        throw InputError(
            name, "complete gzip data",
            "truncated data that ends after " + std::to_string(unpacked) + " unpacked bytes");
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw InputError(name, "valid gzip data",
                         "corrupt data after " + std::to_string(unpacked) + " unpacked bytes (" +
                             (z.msg != nullptr ? z.msg : "no progress") + ")");
      }
      if (got > 0) return got;
    }
  }
};

DecompressingReader::DecompressingReader(const std::filesystem::path& path)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.name = path.string();
  s.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (s.fd < 0) throw InputError(s.name, "a readable file", std::strerror(errno));
  s.fill();
  s.is_gzip = s.to >= 2 && s.packed[0] == '\x1f' && s.packed[1] == '\x8b';
  if (s.is_gzip) YARD_CHECK(inflateInit2(&s.z, kGzipOnly) == Z_OK, "zlib failed to start");
}

DecompressingReader::~DecompressingReader() = default;

size_t DecompressingReader::read(char* to, size_t most) {
  State& s = *state_;
  if (s.is_gzip) return s.inflate_some(to, most);
  if (s.from == s.to) s.fill();
  const size_t n = std::min(most, s.to - s.from);
  std::memcpy(to, s.packed.data() + s.from, n);
  s.from += n;
  return n;
}

}  // namespace yard
