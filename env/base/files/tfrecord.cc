#include "env/base/files/tfrecord.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>

#include "env/base/core/error.h"

namespace yard {
namespace {

constexpr size_t kHead = 12;  // length and its checksum
constexpr size_t kFoot = 4;

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t c = byte;
    for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0);
    table[byte] = c;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

// Masks a checksum, as TFRecord requires: a CRC over data that contains its CRC is weak.
uint32_t masked(uint32_t crc) { return std::rotr(crc, 15) + 0xa282ead8u; }

template <class T>
void put_little_endian(std::string& out, T bits) {
  for (size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>(bits >> (8 * i) & 0xff);
}

template <class T>
T get_little_endian(const char* from) {
  T bits = 0;
  for (size_t i = 0; i < sizeof(T); ++i) bits |= T{static_cast<uint8_t>(from[i])} << (8 * i);
  return bits;
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~0u;
  for (const char c : bytes) crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

std::string tfrecord_frame(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + kTfrecordOverhead);
  put_little_endian(out, static_cast<uint64_t>(bytes.size()));
  put_little_endian(out, masked(crc32c(out)));
  out += bytes;
  put_little_endian(out, masked(crc32c(bytes)));
  return out;
}

TfrecordReader::TfrecordReader(const std::filesystem::path& path) {
  file_.open(path, std::ios::binary);
  if (!file_) throw InputError(path.string(), "a readable file", std::strerror(errno));
  file_.seekg(0, std::ios::end);
  const auto end = static_cast<std::streamoff>(file_.tellg());
  size_ = end > 0 ? static_cast<uint64_t>(end) : 0;
  file_.seekg(0);
}

TfrecordReader::FrameStatus TfrecordReader::stop_reading(FrameStatus found) {
  at_ = size_;
  return found;
}

TfrecordReader::FrameStatus TfrecordReader::next(std::string& bytes) {
  offset_ = at_;
  if (at_ == size_) return FrameStatus::kEnd;
  if (size_ - at_ < kHead) return stop_reading(FrameStatus::kCutOff);
  char head[kHead];
  if (!file_.read(head, kHead)) return stop_reading(FrameStatus::kLost);
  const auto length = get_little_endian<uint64_t>(head);
  if (masked(crc32c({head, 8})) != get_little_endian<uint32_t>(head + 8)) {
    return stop_reading(FrameStatus::kLost);
  }
  const uint64_t rest = size_ - at_ - kHead;
  if (rest < kFoot || length > rest - kFoot) return stop_reading(FrameStatus::kCutOff);
  bytes.resize(length);
  char foot[kFoot];
  if (!file_.read(bytes.data(), static_cast<std::streamsize>(length)) || !file_.read(foot, kFoot)) {
    return stop_reading(FrameStatus::kLost);
  }
  at_ += length + kTfrecordOverhead;
  return masked(crc32c(bytes)) == get_little_endian<uint32_t>(foot) ? FrameStatus::kWhole
                                                                    : FrameStatus::kDamaged;
}

}  // namespace yard
