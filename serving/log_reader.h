// A decision log read back, oldest record first. What was cut off or damaged is passed over and
// counted; a log may be read while a server writes it.
//
//   LogReader log("log");
//   for (const pb::LogRecord& record : log) ... record.decision() ...
//   log.damage()
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "env/base/tfrecord.h"
#include "serving/log_files.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

namespace pb = ::yardmaster::v1;

inline constexpr uint32_t kLogFormat = 1;

class LogReader {
 public:
  struct Damage {
    uint64_t cut_tails = 0;  // files that end within a record, as after kill -9 or while written
    uint64_t damaged = 0;    // records that do not fit their checksum, or are no LogRecord
    uint64_t lost = 0;       // files of which the rest cannot be found
    uint64_t unknown = 0;    // records of a kind that is not known here
    std::string first;  // where, what was expected, what came; of the first that is no cut tail
  };

  // A folder, or one file. Throws InputError where there is no log.
  explicit LogReader(const std::filesystem::path& path);

  // The next decision or outcome to record(). Returns false at the end. Throws InputError where a
  // file is of another format.
  bool next();
  const pb::LogRecord& record() const { return record_; }
  const pb::LogHead& head() const { return head_; }  // of the file that it stands in

  const Damage& damage() const { return damage_; }
  const std::vector<LogFile>& files() const { return files_; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = pb::LogRecord;
    using difference_type = std::ptrdiff_t;
    using pointer = const pb::LogRecord*;
    using reference = const pb::LogRecord&;

    Iterator() = default;
    explicit Iterator(LogReader* log) : log_(log) { ++*this; }
    reference operator*() const { return log_->record(); }
    Iterator& operator++() {
      over_ = !log_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.over_; }

   private:
    LogReader* log_ = nullptr;
    bool over_ = true;
  };
  Iterator begin() { return Iterator(this); }  // goes on where next() stands
  static std::default_sentinel_t end() { return {}; }

 private:
  bool open_next();
  bool take(const std::string& bytes);
  void note(uint64_t& count, const std::string& expected, const std::string& got);

  std::vector<LogFile> files_;
  size_t next_file_ = 0;
  std::optional<TfrecordReader> file_;
  pb::LogHead head_;
  pb::LogRecord record_;
  Damage damage_;
};

}  // namespace yard
