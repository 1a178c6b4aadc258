// Times of jobs in Yardmaster's own CSV and JSONL, and in tables of other programs that the same
// readers accept: those may lack run times, list jobs that never ran, count in other units, and
// have local times from clocks that were put back.
//
// A file with epoch_unix_s is Yardmaster's own and is read as it is written.
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

// Whether a field is a submission, a start or an end.
bool is_timestamp_field(std::string_view field);

// Settings of the readers of both formats.
struct NativeConfig {
  std::string zone = "UTC0";
  void fields(FieldList& f) { f("zone", zone, "time zone of dates without one, in POSIX format"); }
};

// Which times a row gives, beside their values in the job.
struct RowTimes {
  AmbiguousTime submit, start, end;
  AmbiguousTime& of(std::string_view field) {
    return field == "submit_s" ? submit : field == "logged_start_s" ? start : end;
  }
  bool has_run = false;    // there is a column or key for the run time, even if it is empty
  bool has_start = false;  // there is a column or key for the start
  bool has_ends = false;   // there are columns for start and end, or a key for either
};

// Returns the unit of a time whose column or key has this name in the file.
const TimeUnit& time_unit_of_column(const std::string& column);

// Notices about columns that are in a unit other than seconds by their names.
class UnitNotices {
 public:
  // Reports that a value of the column was converted for the field. Adds one notice for each pair
  // of field and column.
  void add(Rows& rows, const std::string& field, const std::string& column, const TimeUnit& unit);

 private:
  std::vector<std::pair<std::string, std::string>> noted_;
};

// Reports why "logged_start_s" or "logged_end_s" of a row cannot be used. `reason` is the same for
// all such rows. `expected` follows the name of the field in the message.
using RefuseTime =
    std::function<void(const char* field, const std::string& reason, const std::string& expected)>;

// Completes the times of a job that was read: leaves out jobs that never ran, chooses the readings
// of clock times that come twice, and computes a missing run time from start and end. Returns false
// if the row was left out or refused. `zone`: the setting; UTC0 is its default.
bool complete_times(Rows& rows, const TimestampReader& timestamps, const std::string& zone,
                    const RowTimes& row, const RefuseTime& refuse, Job& job);

// Returns whether a file without epoch_unix_s would be read as another trace: complete_times()
// would change a job, or a large time would be read as a date.
bool needs_epoch_column(const Trace& trace);

}  // namespace yard
