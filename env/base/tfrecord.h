// TFRecord: bytes in frames, one after another, each with its length, the length's checksum, the
// bytes and theirs. TensorBoard reads it, logs are kept in it: what was cut off or damaged is told
// from what is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace yard {

// CRC-32C (Castagnoli): crc32c("123456789") is 0xe3069283.
uint32_t crc32c(std::string_view bytes);

// One frame.
std::string tfrecord(std::string_view bytes);
inline constexpr uint64_t kTfrecordOverhead = 16;  // bytes of a frame beside its content

class TfrecordReader {
 public:
  enum class Found {
    kWhole,    // a frame
    kEnd,      // no more
    kCutOff,   // the file ends within a frame
    kDamaged,  // a frame whose bytes do not fit their checksum; the next one may be whole
    kLost,     // no length of a frame: what follows cannot be found
  };

  // Throws InputError where the file cannot be opened.
  explicit TfrecordReader(const std::filesystem::path& path);

  // Puts a whole frame's content to `bytes`. After kCutOff and kLost comes kEnd.
  Found next(std::string& bytes);

  uint64_t offset() const { return offset_; }  // where the frame begins that next() told of
  uint64_t size() const { return size_; }      // of the file, when it was opened

 private:
  Found over(Found found);

  std::ifstream file_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;
  uint64_t at_ = 0;  // where the next frame begins
};

}  // namespace yard
