// Reads a decision log, oldest record first. Truncated or damaged records are skipped and counted.
// A log may be read while a server writes it.
//   for (const pb::LogRecord& record : log) ... record.decision() ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "env/base/files/tfrecord.h"
#include "serving/log/log_files.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

namespace pb = ::yardmaster::v1;

inline constexpr uint32_t kLogFormat = 1;

class LogReader {
 public:
  struct Damage {
    uint64_t cut_tails = 0;  // files that end within a record, as after kill -9 or during a write
    uint64_t damaged = 0;    // records with a wrong checksum, or which are no LogRecord
    uint64_t lost = 0;       // files whose remainder cannot be read
    uint64_t unknown = 0;    // records of an unknown kind
    std::string first;       // error text of the first damage that is not a cut tail
  };

  // Opens a folder of log files or one log file. Throws InputError if `path` has no log.
  explicit LogReader(const std::filesystem::path& path);

  // Reads the next decision, outcome or report into record(). Returns false at the end of the log.
  // Throws InputError if a file has another format version.
  bool next();
  const pb::LogRecord& record() const { return record_; }
  const pb::LogHead& head() const { return head_; }  // head of the current file

  const Damage& damage() const { return damage_; }
  const std::vector<LogFile>& files() const { return files_; }

  class Iterator {
   public:
    explicit Iterator(LogReader* log) : log_(log) { ++*this; }
    const pb::LogRecord& operator*() const { return log_->record(); }
    Iterator& operator++() {
      over_ = !log_->next();
      return *this;
    }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.over_; }

   private:
    LogReader* log_;
    bool over_;
  };
  Iterator begin() { return Iterator(this); }  // the iteration continues after the last next()
  static std::default_sentinel_t end() { return {}; }

 private:
  bool open_next_file();
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
