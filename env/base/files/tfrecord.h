// TFRecord files: sequences of frames, each with a length, its checksum, data and their checksum.
// TensorBoard reads this format. Decision logs use this format, too, since truncated or damaged
// frames can be detected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace yard {

// Returns the CRC-32C (Castagnoli): crc32c("123456789") is 0xe3069283.
uint32_t crc32c(std::string_view bytes);

// Returns `bytes` as one TFRecord frame.
std::string tfrecord_frame(std::string_view bytes);
inline constexpr uint64_t kTfrecordOverhead = 16;  // bytes of a frame in addition to its content

class TfrecordReader {
 public:
  enum class FrameStatus {
    kWhole,    // a frame
    kEnd,      // no more
    kCutOff,   // the file ends within a frame
    kDamaged,  // the content does not match its checksum; next() goes on after the frame
    kLost,     // the length is damaged, so that no further frame can be found
  };

  // Throws InputError if the file cannot be opened.
  explicit TfrecordReader(const std::filesystem::path& path);

  // Stores a whole frame's content in `bytes`. Returns kEnd in the call after kCutOff or kLost.
  FrameStatus next(std::string& bytes);

  uint64_t frame_offset() const { return offset_; }  // start of the frame read by the last next()
  uint64_t size() const { return size_; }            // size of the file when it was opened

 private:
  FrameStatus stop_reading(FrameStatus found);

  std::ifstream file_;
  uint64_t size_ = 0, offset_ = 0;
  uint64_t at_ = 0;  // position where the next frame begins
};

}  // namespace yard
