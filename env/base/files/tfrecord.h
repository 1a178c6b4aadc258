// TFRecord files: frames of a length, its checksum, the data and its checksum. TensorBoard reads
// them, and logs are kept in them, since truncated or damaged frames can be detected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace yard {

// CRC-32C (Castagnoli): crc32c("123456789") is 0xe3069283.
uint32_t crc32c(std::string_view bytes);

// Returns `bytes` as one frame.
std::string tfrecord(std::string_view bytes);
inline constexpr uint64_t kTfrecordOverhead = 16;  // bytes of a frame in addition to its content

class TfrecordReader {
 public:
  enum class FrameStatus {
    kWhole,    // a frame
    kEnd,      // no more
    kCutOff,   // the file ends within a frame
    kDamaged,  // the content does not match its checksum; the next frame may be whole
    kLost,     // the length is damaged: no further frame can be found
  };

  // Throws InputError if the file cannot be opened.
  explicit TfrecordReader(const std::filesystem::path& path);

  // Stores a whole frame's content in `bytes`. kEnd follows kCutOff and kLost.
  FrameStatus next(std::string& bytes);

  uint64_t offset() const { return offset_; }  // start of the frame last returned by next()
  uint64_t size() const { return size_; }      // of the file, when opened

 private:
  FrameStatus over(FrameStatus found);

  std::ifstream file_;
  uint64_t size_ = 0, offset_ = 0;
  uint64_t at_ = 0;  // where the next frame begins
};

}  // namespace yard
