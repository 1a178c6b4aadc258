// Frames are read back as written. The reader distinguishes truncated and damaged frames from whole
// ones.
#include "env/base/files/tfrecord.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "env/base/core/error.h"
#include "tests/support/temp_file.h"

namespace yard::testing {
namespace {

using FrameStatus = TfrecordReader::FrameStatus;

const std::vector<std::string> kContents = {"one", "", std::string(70'000, 'x'), "last"};

std::string frames() {
  std::string out;
  for (const std::string& content : kContents) out += tfrecord_frame(content);
  return out;
}

// Returns all results of reading `content`, the last kEnd, and the whole frames in `whole`.
std::vector<FrameStatus> read(const std::string& content, std::vector<std::string>& whole) {
  const TempFile file("frames", content);
  TfrecordReader reader(file.path());
  std::vector<FrameStatus> out;
  std::string bytes;
  do {
    out.push_back(reader.next(bytes));
    if (out.back() == FrameStatus::kWhole) whole.push_back(bytes);
  } while (out.back() != FrameStatus::kEnd);
  return out;
}

TEST(Tfrecord, ChecksumIsCastagnoli) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);  // RFC 3720, B.4
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Tfrecord, RoundTripsContents) {
  std::vector<std::string> whole;
  const auto found = read(frames(), whole);
  EXPECT_EQ(whole, kContents);
  EXPECT_EQ(found.size(), 5u);
  EXPECT_EQ(frames().size(), 3 + 70'000 + 4 + 4 * kTfrecordOverhead);
  std::vector<std::string> none;
  EXPECT_EQ(read("", none), std::vector<FrameStatus>{FrameStatus::kEnd});
  EXPECT_THROW(TfrecordReader("no/such/file"), InputError);
}

TEST(Tfrecord, HandlesTruncationAnywhere) {
  const std::string all = tfrecord_frame("one") + tfrecord_frame("second");
  const size_t first = tfrecord_frame("one").size();
  for (size_t length = 0; length < all.size(); ++length) {
    std::vector<std::string> whole;
    const auto found = read(all.substr(0, length), whole);
    EXPECT_EQ(whole.size(), length >= first ? 1u : 0u) << length;
    const bool cut = length != 0 && length != first;
    EXPECT_EQ(std::ranges::count(found, FrameStatus::kCutOff), cut ? 1 : 0) << length;
    EXPECT_EQ(std::ranges::count(found, FrameStatus::kLost), 0) << length;
  }
}

// Flips every bit of two frames: the reader never accepts content that was not written.
TEST(Tfrecord, DetectsEveryFlippedBit) {
  const std::string all = tfrecord_frame("one") + tfrecord_frame("second");
  const size_t first = tfrecord_frame("one").size();
  for (size_t bit = 0; bit < 8 * all.size(); ++bit) {
    std::string damaged = all;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    std::vector<std::string> whole;
    const auto found = read(damaged, whole);
    EXPECT_EQ(std::ranges::count(found, FrameStatus::kDamaged) +
                  std::ranges::count(found, FrameStatus::kLost),
              1)
        << bit;
    // Damaged content does not invalidate the frame after it.
    if (bit / 8 >= 12) {
      EXPECT_EQ(whole, std::vector<std::string>{bit / 8 < first ? "second" : "one"}) << bit;
    }
  }
}

TEST(Tfrecord, FrameLengthIsLimitedByTheFile) {
  std::string head(8, '\0');
  head[6] = 1;  // 2^48 bytes: must not be allocated
  const std::string frame = tfrecord_frame(head);
  // The length has the same checksum as an eight-byte payload.
  std::vector<std::string> whole;
  const auto found = read(head + frame.substr(20, 4) + "rest", whole);
  EXPECT_EQ(found, (std::vector<FrameStatus>{FrameStatus::kCutOff, FrameStatus::kEnd}));
  EXPECT_TRUE(whole.empty());
}

TEST(Tfrecord, ZeroBytesAreNotFrames) {
  std::vector<std::string> whole;
  const auto found = read(tfrecord_frame("one") + std::string(4096, '\0'), whole);
  EXPECT_EQ(found,
            (std::vector<FrameStatus>{FrameStatus::kWhole, FrameStatus::kLost, FrameStatus::kEnd}));
}

}  // namespace
}  // namespace yard::testing
