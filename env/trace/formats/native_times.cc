#include "env/trace/formats/native_times.h"

#include <algorithm>
#include <array>

#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/trace/formats/sacct/sacct_fields.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int64_t kHourUs = 3600 * kUsPerS;
constexpr int64_t kClocksApartUs = 5 * kUsPerS;  // of the servers that record the times

// Whether, by its status, a job that ran for no time never started.
bool never_started(const std::string& status) {
  constexpr std::array<std::string_view, 3> kStates = {"CANCELLED", "DEADLINE", "REVOKED"};
  constexpr std::array<std::string_view, 6> kWords = {"pending",      "queued",   "notstarted",
                                                      "neverstarted", "neverran", "didnotstart"};
  const std::string_view state = parse_slurm_state(trim(status));
  if (std::ranges::count(kStates, state) > 0) return true;
  const std::string word = normalised_name(status);
  return word.starts_with("cancel") || std::ranges::count(kWords, word) > 0;
}

// Returns why the row has no run of a job; nullptr if it has one.
const char* reason_not_a_run(const Job& job, const RowTimes& row) {
  const bool started = job.logged_start_us >= 0, ended = job.logged_end_us >= 0;
  const bool from_profile = !started && !ended && job.iterations > 0;
  if (job.run_us < 0 && row.has_ends && !from_profile) {
    if (!started || !ended) return started ? "has not ended" : "never started";
    const bool took_no_time = job.logged_end_us == job.logged_start_us;
    return took_no_time && never_started(job.status) ? "never started" : nullptr;
  }
  if (job.run_us != 0) return nullptr;
  const bool took_time = started && job.logged_end_us > job.logged_start_us;
  const bool not_by_status = !took_time && never_started(job.status);
  return not_by_status || (row.has_start && !started) ? "never started" : nullptr;
}

// Moves a job's submission to its logged start if that is up to 5 s earlier.
void align_clocks(Rows& rows, Job& job) {
  const int64_t early_us = job.submit_us - job.logged_start_us;
  if (job.logged_start_us < 0 || early_us <= 0 || early_us > kClocksApartUs) return;
  job.submit_us = job.logged_start_us;
  rows.add_row_notice(
      "start up to 5 s before submission, assumed clock skew: submission set to the start");
}

// Adds a notice if a job's run time is not its logged end minus start. The run time counts.
void note_run_time_mismatch(Rows& rows, const Job& job) {
  if (job.logged_start_us < 0 || job.logged_end_us < 0) return;
  const int64_t over_us = job.run_us - (job.logged_end_us - job.logged_start_us);
  if (over_us > kUsPerS) {  // whole seconds may be off by one
    rows.add_row_notice("run_s is longer than the time from start to end: run_s is used");
  } else if (over_us < -kUsPerS) {
    rows.add_row_notice(
        "run_s is shorter than the time from start to end, as for a suspended job: run_s is used");
  }
}

}  // namespace

bool is_timestamp_field(std::string_view field) {
  return field == "submit_s" || field == "logged_start_s" || field == "logged_end_s";
}

const TimeUnit& time_unit_of_column(const std::string& column) {
  const TimeUnit* const unit = unit_in_column_name(column);
  return unit == nullptr ? kInSeconds : *unit;
}

void UnitConversionNotices::add(Rows& rows, const std::string& field, const std::string& column,
                                const TimeUnit& unit) {
  if (unit == kInSeconds || std::ranges::count(noted_, std::pair(field, column)) > 0) return;
  noted_.emplace_back(field, column);
  rows.add_file_notice("`" + column + "` is in " + unit.name +
                       " by its name: converted to seconds for " + field);
}

bool complete_times(Rows& rows, const TimestampReader& timestamps, const std::string& zone,
                    const RowTimes& row, const RefuseTime& refuse, Job& job) {
  const bool own = timestamps.has_declared_relative_seconds();
  const bool derives = job.run_us < 0 && (!own || !row.has_run);
  if (const char* const reason = reason_not_a_run(job, row);
      reason != nullptr && (!own || derives)) {
    rows.leave_out_row(reason);
    return false;
  }
  const bool dates = timestamps.kind() == TimestampReader::Kind::kDates;
  const bool unzoned = dates && zone == "UTC0" && timestamps.used_zone();
  if (dates) {
    const ResolvedTimes chosen =
        resolve_ambiguous_times(row.submit, row.start, row.end, job.run_us);
    job.submit_us = chosen.submit_us;
    job.logged_start_us = chosen.start_us;
    job.logged_end_us = chosen.end_us;
    if (chosen.hour_short && unzoned) {
      job.logged_end_us += kHourUs;
      rows.add_row_notice(
          std::string("the end is an hour too early for start and run_s: clocks were put back in "
                      "between, so run_s is used; ") +
          kSetZoneAdvice);
    }
  }
  const auto hint = [&](int64_t by_us) {
    if (!unzoned || by_us > kHourUs) return std::string();
    return std::string(" (if clocks were put back in between, ") + kSetZoneAdvice + ")";
  };
  if (derives || !own) align_clocks(rows, job);
  const int64_t early_us = job.logged_start_us < 0 ? 0 : job.submit_us - job.logged_start_us;
  if (early_us > 0 && derives && job.logged_end_us >= 0) {
    refuse("logged_start_s", "starts before its submission",
           " after the submission" + hint(early_us));
    return false;
  }
  const bool started = job.logged_start_us >= 0;
  const int64_t from_us = started ? job.logged_start_us : job.submit_us;
  if (job.logged_end_us >= 0 && job.logged_end_us < from_us && (started || !own)) {
    refuse("logged_end_s", started ? "ends before it starts" : "ends before its submission",
           (started ? " after the start" : " after the submission") +
               hint(from_us - job.logged_end_us));
    return false;
  }
  if (derives && started && job.logged_end_us >= 0) {
    job.run_us = job.logged_end_us - job.logged_start_us;
  } else if (early_us > 0 && !own) {
    job.logged_start_us = job.logged_end_us = -1;
    rows.add_row_notice("starts before its submission: its logged times are not used" +
                        hint(early_us));
  }
  if (job.run_us >= 0) note_run_time_mismatch(rows, job);
  return true;
}

bool needs_epoch_column(const Trace& trace) {
  const auto logged = [](const Job& job) {
    return job.logged_start_us >= 0 || job.logged_end_us >= 0;
  };
  const bool any_logged = std::ranges::any_of(trace.jobs, logged);
  RowTimes row;
  row.has_run = true;
  row.has_start = row.has_ends = any_logged;
  return std::ranges::any_of(trace.jobs, [&](const Job& job) {
    const int64_t latest_us = std::max({job.submit_us, job.logged_start_us, job.logged_end_us});
    const int64_t first_us =
        logged(job) && job.logged_start_us < 0 ? job.logged_end_us : job.logged_start_us;
    return looks_like_date(latest_us) || reason_not_a_run(job, row) != nullptr ||
           (job.run_us < 0 && logged(job)) || (logged(job) && first_us < job.submit_us);
  });
}

}  // namespace yard
