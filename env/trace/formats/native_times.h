// Reads the times of jobs in Yardmaster's own CSV and JSONL, and in tables of other programs.
// Tables of other programs may lack run times, list jobs that never ran, count in units other than
// seconds, and have local times from clocks that were put back.
//
// A file with epoch_unix_s was written by Yardmaster and is read exactly as it is written.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/base/config/settings.h"
#include "env/trace/core/job.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/timestamps.h"

namespace yard {

// Returns whether a field holds the submission, start or end of a job.
bool is_timestamp_field(std::string_view field);

// Settings of the readers of Yardmaster's own CSV and JSONL formats.
struct NativeConfig {
  std::string zone = "UTC0";
  void fields(FieldList& f) { f("zone", zone, "zone of dates that name none, in POSIX format"); }
};

// The times of a row that may be ambiguous, and which kinds of time the row has.
struct RowTimes {
  AmbiguousTime submit, start, end;
  AmbiguousTime& of(std::string_view field) {
    return field == "submit_s" ? submit : field == "logged_start_s" ? start : end;
  }
  bool has_run = false;    // there is a column or key for the run time, even if empty
  bool has_start = false;  // there is a column or key for the start
  bool has_ends = false;   // there are columns for start and end, or a key for start or end
};

// Returns the unit of times in a column or key by its name in the file: seconds unless named.
const TimeUnit& time_unit_of_column(const std::string& column);

// Adds notices about columns whose names state a unit other than seconds.
class UnitConversionNotices {
 public:
  // Adds a notice, once for each pair of field and column, that values of the column were converted
  // to seconds for the field.
  void add(Rows& rows, const std::string& field, const std::string& column, const TimeUnit& unit);

 private:
  std::vector<std::pair<std::string, std::string>> noted_;
};

// Reports why "logged_start_s" or "logged_end_s" of a row cannot be used. `reason` is the same text
// for all rows with the same problem. `expected` follows the field's name in the message.
using RefuseTime =
    std::function<void(const char* field, const std::string& reason, const std::string& expected)>;

// Completes the times of a job: leaves out a job that never ran, chooses the meanings of ambiguous
// clock times, and computes a missing run time from start and end. Returns false if the row was
// left out or refused. `zone` is the setting trace.zone, by default UTC0.
bool complete_times(Rows& rows, const TimestampReader& timestamps, const std::string& zone,
                    const RowTimes& row, const RefuseTime& refuse, Job& job);

// Returns whether reading a written file would give a different trace if epoch_unix_s were missing:
// if complete_times() would change a job, or a large time would be read as a date.
bool needs_epoch_column(const Trace& trace);

}  // namespace yard
