// Checks logs that are truncated, damaged or no logs: intact records are read, the rest is counted,
// and what cannot be a log is refused with one message.
#include "serving/log/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/base/files/file.h"
#include "serving/log/log_summary.h"
#include "tests/serving/log/logs.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

class Damaged : public ::testing::Test {
 protected:
  void SetUp() override {
    DecisionLogOptions options;
    options.folder = temp_.path() / "whole";
    {
      DecisionLog log(options);
      fill(log, 5, 40);
    }
    whole_ = read_file(log_files(options.folder).at(0).path);
    for (const pb::LogRecord& record : read_log(options.folder)) {
      written_.insert(record.SerializeAsString());
    }
    ASSERT_EQ(written_.size(), 5u);
    std::filesystem::create_directory(folder());
  }

  std::filesystem::path folder() const { return temp_.path() / "log"; }

  void put(int number, const std::string& content) const {
    std::ofstream(folder() / ("decisions-0000000" + std::to_string(number) + ".tfrecord"),
                  std::ios::binary)
        << content;
  }

  std::string refusal() const {
    try {
      LogReader log(folder());
      summarise(log);
      return "none";
    } catch (const InputError& error) {
      return error.what();
    }
  }

  TempFolder temp_;
  std::string whole_;
  std::set<std::string> written_;
};

TEST_F(Damaged, TruncatedTailIsSkipped) {
  uint64_t records = 0;
  for (size_t length = 0; length <= whole_.size(); length += 3) {
    put(1, whole_.substr(0, length));
    put(2, whole_);
    LogReader::Damage damage;
    const auto read = read_log(folder(), &damage);
    EXPECT_GE(read.size(), 5 + records);  // never fewer than before
    records = read.size() - 5;
    EXPECT_LE(damage.cut_tails, 1u);
    EXPECT_EQ(damage.damaged + damage.lost + damage.unknown, 0u) << damage.first;
  }
  EXPECT_GE(records, 4u);
}

TEST_F(Damaged, CorruptionNeverYieldsOtherRecords) {
  Rng rng{5};
  for (int i = 0; i < 500; ++i) {
    std::string content = whole_;
    for (uint64_t changes = 1 + rng.below(3); changes > 0; --changes) {
      content[rng.below(content.size())] ^= static_cast<char>(1 + rng.below(255));
    }
    put(1, content);
    LogReader::Damage damage;
    const auto read = read_log(folder(), &damage);
    EXPECT_GE(damage.damaged + damage.lost + damage.cut_tails, 1u);
    for (const pb::LogRecord& record : read) {
      EXPECT_TRUE(written_.contains(record.SerializeAsString()));
    }
  }
}

TEST_F(Damaged, GarbageNextToALogIsCounted) {
  put(1, "this is no log, this is a text that somebody has put here\n");
  put(2, whole_);
  put(3, "");
  std::ofstream(folder() / "notes.txt") << "ignored";
  std::ofstream(folder() / "decisions-x.tfrecord") << "also ignored";
  std::filesystem::create_directory(folder() / "decisions-00000009.tfrecord");
  LogReader log(folder());
  const LogSummary summary = summarise(log);
  EXPECT_EQ(summary.files, 3u);
  EXPECT_EQ(summary.decisions, 5u);
  EXPECT_EQ(summary.damage.lost, 1u);
  EXPECT_THAT(summary.damage.first, HasSubstr("decisions-00000001.tfrecord, byte 0: expected"));
}

TEST_F(Damaged, ForeignFramesAreCounted) {
  pb::LogRecord later;
  later.GetReflection()->MutableUnknownFields(&later)->AddVarint(99, 1);
  put(1, tfrecord_frame("\xff\xff\xff") + tfrecord_frame(later.SerializeAsString()) + whole_);
  LogReader::Damage damage;
  EXPECT_EQ(read_log(folder(), &damage).size(), 5u);
  EXPECT_EQ(damage.damaged, 1u);
  EXPECT_EQ(damage.unknown, 1u);
  EXPECT_THAT(damage.first, HasSubstr("expected a yardmaster.v1.LogRecord"));
}

TEST_F(Damaged, RejectsOtherFiles) {
  EXPECT_THAT(refusal(), HasSubstr("log: expected a decision log"));
  put(1, "garbage that is longer than a head of a frame");
  EXPECT_THAT(refusal(),
              HasSubstr("decisions-00000001.tfrecord, byte 0: expected a record length"));
  pb::LogRecord head;
  head.mutable_head()->set_format(2);
  put(1, tfrecord_frame(head.SerializeAsString()));
  EXPECT_THAT(refusal(), HasSubstr("expected a decision log of format 1, got format 2"));
  std::filesystem::remove_all(folder());
  EXPECT_THAT(refusal(), HasSubstr("expected a folder with a decision log, got No such file"));
}

TEST_F(Damaged, SingleFileIsALog) {
  put(7, whole_);
  EXPECT_EQ(read_log(folder() / "decisions-00000007.tfrecord").size(), 5u);
}

}  // namespace
}  // namespace yard::testing
