// The fields of a job in Yardmaster's own CSV and JSONL: one list for names, reading and writing,
// and the rules that hold between fields.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/core/error.h"
#include "env/trace/core/column_names.h"
#include "env/trace/core/job.h"

namespace yard {

// Calls `f` with each field's name and value, the minimum of a number, and the value which means
// "not given". `J` is Job or const Job. Job::line and Job::scored are not fields, since they depend
// on the file and on the window.
template <class J, class F>
void visit_native_fields(J& job, F& f) {
  constexpr double kAnyNumber = std::numeric_limits<double>::lowest();
  constexpr int64_t kAnyWhole = std::numeric_limits<int64_t>::min();
  f.text("job_id", job.id);
  f.time("submit_s", job.submit_us, kAnyWhole);
  f.time("run_s", job.run_us, Job::kFromProfile);
  f.whole("gpus", job.gpus, 0);
  f.time("limit_s", job.limit_us, -1);
  f.text("user", job.user);
  f.text("name", job.name);
  f.text("model", job.model);
  f.whole("batch_size", job.batch_size, 0);
  f.number("iterations", job.iterations, 0, 0);
  f.number("iteration_ms", job.iteration_ms, 0, 0);
  f.text("batch_mode", job.batch_mode);
  f.groups("groups", job.groups);
  f.pattern("pattern", job.pattern);
  f.texts("gpu_types", job.gpu_types);
  f.number("loss_b0", job.loss.b0, 0, 0);
  f.number("loss_b1", job.loss.b1, 0, 0);
  f.number("loss_b2", job.loss.b2, kAnyNumber, 0);
  f.number("target", job.target, kAnyNumber, Job::kNoTarget);
  f.number("enough", job.enough, kAnyNumber, Job::kNoTarget);
  f.time("save_s", job.save_us, -1);
  f.time("restore_s", job.restore_us, -1);
  f.text("tenant", job.tenant);
  f.whole("priority", job.priority, kAnyWhole);
  f.number("weight", job.weight, 0, 1);
  f.deadlines("dues", job.dues);
  f.texts("after", job.after);
  f.text("array", job.array);
  f.time("logged_start_s", job.logged_start_us, -1);
  f.time("logged_end_s", job.logged_end_us, -1);
  f.flag("run_unknown", job.run_unknown);
  f.text("status", job.status);
}

inline constexpr size_t kNumRequiredFields = 4;  // number of the first fields, which every file has
// An additional column, set in the first row only: the Unix time of the trace's time 0.
inline constexpr const char* kEpochColumn = "epoch_unix_s";
inline constexpr int64_t kMaxEpochS = 100'000'000'000;

// Returns the names of all fields, in the order of visit_native_fields().
std::vector<std::string> native_field_names();

// Returns the field that a column or key means, by its name in any case ("Submit_S", "limit s"), or
// by a usual name of a start or end ("start_s", "end_time"); empty if it means none.
std::string field_meant_by_column(std::string_view column);

// Returns the key of the list if a text is one JSON object with a list of all jobs: "jobs" of
// {"jobs":[{.... Returns "" for any other text, and for a job that has a list such as groups.
std::string key_of_job_list(std::string_view text);

// Throws InputError, naming --columns, if `renames` has a name that is not the name of a field.
void check_renames(const Renames& renames);

// Returns the advice of missing_column_advice() about fields that a table with these column names
// lacks. If run_s is missing, the advice may name start_s and end_s as a replacement.
std::string native_column_advice(std::vector<std::string> missing,
                                 const std::vector<std::string>& columns,
                                 const std::string& what = "column");

// Returns the error that a table lacks required columns. `got` is the line of column names.
InputError missing_columns_error(const std::string& where, const std::vector<std::string>& missing,
                                 const std::vector<std::string>& columns, const std::string& got);

// "columns that are not used: cluster, priorty (did you mean priority? --columns priority=priorty)"
std::string unused_columns_text(const char* what, const std::vector<std::string>& names);

// Error text for a number of GPUs that is given as a fraction instead of a whole number.
inline constexpr const char* kWholeGpus =
    "a whole number of GPUs (for a share, set gpu_milli of a group: gpus 1 and groups "
    "[{\"count\":1,\"gpu_milli\":500}])";

// The reason why a value of a job cannot be used, and the value's place in the job.
struct Flaw {
  std::string place, reason, expected, got;
};

// Returns the first inconsistency between fields of a job, if any: GPUs that do not match groups,
// sizes of a group that contradict each other, deadlines that do not rise.
std::optional<Flaw> check_native_job(const Job& job);

// Converts patterns to and from names such as "ring"; an unknown name gives no pattern.
const char* communication_pattern_name(Pattern pattern);
std::optional<Pattern> parse_communication_pattern(std::string_view text);
std::string communication_pattern_names();  // "none, ring, ..."

}  // namespace yard
