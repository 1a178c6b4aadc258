// The fields of a job in Yardmaster's own CSV and JSONL: one list that names, reads and writes
// them, and what must hold between them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/trace/header.h"
#include "env/trace/job.h"

namespace yard {

// Calls `f` with each field's name and value, the least of a number, and what a time or a number is
// where it is not said. `J` is Job or const Job. Not among the fields: `line`, which is the new
// file's, and `scored`, which a window says.
template <class J, class F>
void visit_own_fields(J& job, F& f) {
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
  f.dues("dues", job.dues);
  f.texts("after", job.after);
  f.text("array", job.array);
  f.time("logged_start_s", job.logged_start_us, -1);
  f.time("logged_end_s", job.logged_end_us, -1);
  f.flag("run_unknown", job.run_unknown);
  f.text("status", job.status);
}

inline constexpr size_t kOwnRequired = 4;  // so many fields, the first, stand in every file
// Beside them, in the first row alone: the calendar time of the trace's zero.
inline constexpr const char* kOwnEpoch = "epoch_unix_s";
inline constexpr int64_t kMostEpochS = 100'000'000'000;

// Returns the names of all fields, in order.
std::vector<std::string> own_names();

// The field that a column or key means: its name in any case ("Submit_S", "limit s"), and what
// says start and end ("start_s", "end_time"); empty where it means none.
std::string own_name(std::string_view column);

// The key of JSON that holds all jobs in one object, "jobs" of {"jobs":[{...; empty where it is
// other JSON, or a job with a list of its own, as of groups.
std::string wrapping_key(std::string_view text);

// Throws InputError, naming --columns, about a name that is none of a field.
void check_renames(const Renames& renames);

// "columns that are not used: cluster, priorty (did you mean priority? --columns priority=priorty)"
std::string unused_text(const char* what, const std::vector<std::string>& names);

// What a number of GPUs must be where a part of one is given.
inline constexpr const char* kWholeGpus =
    "a whole number of GPUs (a part of one is gpu_milli of a group: gpus 1 and groups "
    "[{\"count\":1,\"gpu_milli\":500}])";

// Why a value cannot be used, and where in the job it stands.
struct Flaw {
  std::string place, reason, expected, got;
};

// Returns what does not fit together in a job, if anything: its GPUs and groups, a group's sizes,
// deadlines that do not rise.
std::optional<Flaw> check_own(const Job& job);

// "ring"; nothing for another text.
const char* pattern_name(Pattern pattern);
std::optional<Pattern> parse_pattern(std::string_view text);
std::string pattern_names();  // "none, ring, ..."

}  // namespace yard
