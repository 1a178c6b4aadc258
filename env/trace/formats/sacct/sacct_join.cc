// Joins rows with one job number: runs of a requeued job, parts of a resized one, repetitions of a
// row. A later job that reuses the number is kept apart.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "env/trace/formats/sacct/sacct_log.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int64_t kMinuteUs = 60 * kUsPerS;
constexpr int64_t kDayUs = 1440 * kMinuteUs;

// In these states, the job continues in another row.
bool is_open(std::string_view state) { return state == "REQUEUED" || state == "RESIZING"; }

// Returns the longest time from a run's end in this state to the job's next submission; -1: none.
int64_t max_requeue_gap_us(std::string_view state) {
  if (is_open(state)) return 90 * kDayUs;  // it may be on hold
  if (state == "PREEMPTED" || state == "NODE_FAIL" || state == "BOOT_FAIL") return kDayUs;
  return state == "COMPLETED" || state.empty() ? -1 : 10 * kMinuteUs;
}

constexpr const char* kNoGpus =
    "no row counts GPUs (is gres/gpu in AccountingStorageTRES?): all jobs are read as CPU jobs; "
    "--set trace.gpus_per_node=N sets the GPUs per node";

// Returns "'a', 'b'": names as in the log, which may be empty.
std::string join_names(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "'" : ", '") + name + "'";
  return out;
}

int64_t held_gpu_s(const Job& job) { return job.gpus * (job.run_us / kUsPerS); }

}  // namespace

std::string SacctLog::full_id(uint32_t cluster, const std::string& id) const {
  return config_.cluster.empty() && clusters_.size() > 1 ? clusters_[cluster] + "/" + id : id;
}

void SacctLog::drop(Run& run, const char* reason) {
  run.dropped = true;
  rows_.set_line_number(run.job.line);
  rows_.leave_out_row(reason);
}

bool SacctLog::is_continuation(const Run& before, const Run& run) const {
  const Job &first = before.job, &second = run.job;
  if (first.user != second.user) return false;
  const int64_t max_gap_us = max_requeue_gap_us(before.state);
  if (max_gap_us < 0) return false;
  if (first.logged_end_us < 0 || second.logged_start_us < 0) {
    return is_open(before.state) || run.submitted_us == before.submitted_us;
  }
  if (second.logged_start_us < first.logged_end_us) return false;
  return run.submitted_us == before.submitted_us ||
         (run.submitted_us > before.submitted_us &&
          run.submitted_us <= first.logged_end_us + max_gap_us);
}

// Returns whether the row belongs to the same job, after the run.
bool SacctLog::follows_run(const RowWithoutRun& mark, const Run& run) {
  if (mark.user != run.job.user || mark.submitted_us < run.submitted_us) return false;
  const int64_t end_us = run.job.logged_end_us;
  if (end_us < 0 || max_requeue_gap_us(run.state) < 0) return is_open(run.state);
  if (mark.submitted_us > end_us + max_requeue_gap_us(run.state)) return false;
  return is_open(run.state) || mark.started_us >= end_us ||
         (mark.submitted_us > run.submitted_us && mark.submitted_us >= end_us - kMinuteUs);
}

// Joins the rows to one job, in place of the first. Returns nullptr if the job has not ended.
SacctLog::Run* SacctLog::join_runs_of_job(const std::vector<Run*>& chain,
                                          const std::vector<RowWithoutRun*>& unstarted) {
  Run& last = *chain.back();
  bool open = is_open(last.state);
  for (RowWithoutRun* mark : unstarted) {
    if (follows_run(*mark, last)) {
      open = mark->reason != kNeverStarted;
      if (!open) last.job.status = "CANCELLED";  // while waiting to run again
    } else if (mark->user == last.job.user && mark->submitted_us == last.submitted_us) {
      mark->reason = "earlier state of a job that has ended in the log";
    }
  }
  if (open) {
    for (Run* run : chain) drop(*run, kNotEnded);
    return nullptr;
  }
  size_t first_part = chain.size() - 1;
  while (first_part > 0 && chain[first_part - 1]->state == "RESIZING") --first_part;
  Job job = std::move(last.job);
  const int32_t line = job.line;
  int64_t run_us = job.run_us, run_gpu_s = held_gpu_s(job);
  for (size_t i = first_part; i + 1 < chain.size(); ++i) {
    run_us += chain[i]->job.run_us;
    run_gpu_s += held_gpu_s(chain[i]->job);
  }
  // Takes the size of the part which, over the whole run time, is closest to the GPU time used.
  const auto gpu_time_error = [&](const Job& part) {
    return std::llabs(part.gpus * (run_us / kUsPerS) - run_gpu_s);
  };
  for (size_t i = first_part; i + 1 < chain.size(); ++i) {
    Job& part = chain[i]->job;
    if (gpu_time_error(part) > gpu_time_error(job)) continue;
    job.gpus = part.gpus;
    job.groups = std::move(part.groups);
  }
  job.run_us = run_us;
  for (size_t i = 0; i + 1 < chain.size(); ++i) {
    drop(*chain[i], chain[i]->state == "RESIZING" ? "part of a resized job, joined to the last part"
                                                  : "earlier run of a requeued job, joined to the "
                                                    "last run");
  }
  const Job& came = chain.front() == &last ? job : chain.front()->job;
  job.submit_us = came.submit_us;
  job.logged_start_us = came.logged_start_us;
  Run& kept = *chain.front();
  last.dropped = &last != &kept;
  kept.dropped = false;
  kept.submitted_us = std::min(kept.submitted_us, last.submitted_us);
  kept.state = last.state;
  kept.job = std::move(job);
  kept.job.line = line;
  return &kept;
}

void SacctLog::join_rows(std::vector<Run*> runs, const std::vector<RowWithoutRun*>& unstarted) {
  const auto begin_us = [](const Run* run) {
    return run->job.logged_start_us >= 0 ? run->job.logged_start_us : run->submitted_us;
  };
  std::ranges::stable_sort(runs, {}, begin_us);
  std::vector<std::vector<Run*>> chains;
  for (Run* run : runs) {
    const auto same = [&](const std::vector<Run*>& chain) {
      const Job& job = chain.back()->job;
      return chain.back()->submitted_us == run->submitted_us && job.user == run->job.user &&
             job.logged_start_us == run->job.logged_start_us && job.run_us == run->job.run_us;
    };
    if (std::ranges::any_of(chains, same)) {
      drop(*run, "duplicate row of a run");
      continue;
    }
    const auto before = std::ranges::find_if(chains, [&](const std::vector<Run*>& chain) {
      return is_continuation(*chain.back(), *run);
    });
    if (before != chains.end()) {
      before->push_back(run);
    } else {
      chains.push_back({run});
    }
  }
  std::vector<Run*> jobs;
  for (const std::vector<Run*>& chain : chains) {
    Run* run = join_runs_of_job(chain, unstarted);
    if (run == nullptr) continue;
    // One submission cannot be two jobs: Rows reports the duplicate number.
    const bool twice = std::ranges::any_of(jobs, [&](const Run* other) {
      return other->submitted_us == run->submitted_us && other->job.user == run->job.user;
    });
    if (!jobs.empty() && !twice) {
      const std::string mark = "#" + std::to_string(jobs.size() + 1);
      run->job.id += mark;
      if (!run->job.array.empty()) run->job.array += mark;
      rows_.set_line_number(run->job.line);
      rows_.add_row_notice("job number reused: the later job's id ends in " + mark);
    }
    jobs.push_back(run);
  }
}

void SacctLog::check_unused_settings() const {
  const auto unused_setting = [&](const char* key, const std::string& expected,
                                  const std::string& got) {
    throw InputError(std::string("trace.") + key, expected, got);
  };
  const bool zone = is_setting_given("zone") && config_.zone != SacctConfig().zone;
  if (zone && !dates_seen_ && !(num_runs_ == 0 && unstarted_.empty())) {
    unused_setting("zone", "a log with dates",
                   rows_.header_position() + " with seconds since 1970");
  }
  if (!config_.cluster.empty() && std::ranges::count(clusters_, config_.cluster) == 0) {
    std::vector<std::string> named = clusters_;  // an empty setting selects all
    std::erase(named, "");
    unused_setting(
        "cluster",
        named.empty() ? "a log with names in the column Cluster" : "one of: " + join_names(named),
        "'" + config_.cluster + "'");
  }
  if (config_.shards_per_gpu > 0 && !shards_seen_ && num_runs_ > 0) {
    unused_setting("shards_per_gpu", "a log with gres/shard",
                   rows_.header_position() + " without it");
  }
}

// Joins rows that share a number of one cluster. Numbers with equal hashes are grouped first, then
// separated.
void SacctLog::join_rows_of_jobs() {
  struct Entry {
    size_t hash;
    uint32_t index;
    bool is_unstarted;
    auto operator<=>(const Entry&) const = default;
  };
  std::vector<Entry> entries;
  entries.reserve(num_runs_ + unstarted_.size());
  const auto enter = [&](const std::string& id, uint32_t cluster, size_t index, bool is_unstarted) {
    entries.push_back(
        {std::hash<std::string>{}(id) + cluster, static_cast<uint32_t>(index), is_unstarted});
  };
  for (size_t i = 0; i < num_runs_; ++i) {
    Run& one = run(i);
    if (one.had_decimal_zero && whole_ids_.contains(one.job.id)) {
      drop(one, kStep);
    } else if (one.unallocated && allocations_seen_) {
      drop(one, kNeverStarted);
    } else {
      enter(one.job.id, one.cluster, i, false);
    }
  }
  for (size_t i = 0; i < unstarted_.size(); ++i) {
    RowWithoutRun& mark = unstarted_[i];
    const bool is_step = mark.had_decimal_zero && whole_ids_.contains(mark.id);
    if (is_step) mark.reason = kStep;
    if (!is_step) enter(mark.id, mark.cluster, i, true);
  }
  std::ranges::sort(entries);
  for (size_t first = 0, end = 0; first < entries.size(); first = end) {
    throw_if_interrupted();
    std::vector<Run*> runs;
    std::vector<RowWithoutRun*> unstarted;
    for (; end < entries.size() && entries[end].hash == entries[first].hash; ++end) {
      const Entry& entry = entries[end];
      if (entry.is_unstarted) {
        unstarted.push_back(&unstarted_[entry.index]);
      } else {
        runs.push_back(&run(entry.index));
      }
    }
    while (!runs.empty()) {
      const std::string id = runs.front()->job.id;
      const uint32_t cluster = runs.front()->cluster;
      std::vector<Run*> same, others;
      for (Run* one : runs) {
        (one->job.id == id && one->cluster == cluster ? same : others).push_back(one);
      }
      std::vector<RowWithoutRun*> of_same;
      for (RowWithoutRun* mark : unstarted) {
        if (mark->id == id && mark->cluster == cluster) of_same.push_back(mark);
      }
      const bool alone = same.size() == 1 && of_same.empty() && !is_open(same[0]->state);
      if (!alone) join_rows(std::move(same), of_same);
      runs = std::move(others);
    }
  }
}

void SacctLog::finish() {
  check_unused_settings();
  join_rows_of_jobs();
  for (const RowWithoutRun& mark : unstarted_) {
    rows_.set_line_number(mark.line);
    rows_.leave_out_row(std::string(mark.reason));
  }
  const bool uncounted = !gpus_seen_ && config_.gpus_per_node == 0;
  const bool several = config_.cluster.empty() && clusters_.size() > 1;
  for (size_t i = 0; i < num_runs_; ++i) {
    if (i > 0 && i % kPiece == 0) Piece().swap(runs_[i / kPiece - 1]);
    Run& one = run(i);
    if (one.dropped) continue;
    Job& job = one.job;
    rows_.set_line_number(job.line);
    job.id = full_id(one.cluster, job.id);
    if (!job.array.empty()) job.array = full_id(one.cluster, job.array);
    if (uncounted) rows_.add_row_notice(kNoGpus);
    if (several && one.cluster > 0) {
      rows_.add_row_notice("clusters " + join_names(clusters_) +
                           " in one log: their jobs are read as jobs of one cluster, with ids "
                           "CLUSTER/NUMBER; --set trace.cluster=NAME selects one cluster");
    }
    rows_.add(std::move(job));
  }
}

}  // namespace yard
