// vcNAME.cluster_sequence_vc.csv: the load of one virtual cluster of SenseTime's Helios by minute,
// May 2020, as counted by its authors (Hu et al., SC 2021). It names no jobs; this reader makes the
// fewest jobs that explain the counts, with times in whole minutes. Numbers of jobs and GPUs
// running and waiting at each minute are exact, separately for jobs below 8 GPUs and others.
// Unknown, and decided here:
//   - which jobs ended: among jobs whose GPUs were released, the latest to start, since run times
//     have heavy tails (many end in minutes, some run for days);
//   - sizes of jobs that arrived in one minute: as equal as their sum allows;
//   - arrivals and ends between two counts: none, unless a number of GPUs changed.
// Jobs running at the first or last minute are cut off there; their status says so.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

constexpr int32_t kLarge = 8;         // GPUs from which a job counts as large
constexpr int32_t kMaxJobs = 10'000;  // of one kind at one time

struct Config {
  std::string tenant;
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("tenant", tenant, "tenant of all jobs, such as the virtual cluster in the file's name");
    f("zone", zone, "time zone of the log's clock, in POSIX format; the log names no zone");
  }
};

// Counts of one kind of jobs in one row.
struct Count {
  int32_t running = 0, pending = 0;
  int32_t running_gpus = 0, pending_gpus = 0;
};

int32_t gpus_of(const std::vector<Job>& jobs) {
  return std::accumulate(jobs.begin(), jobs.end(), 0,
                         [](int32_t sum, const Job& job) { return sum + job.gpus; });
}

// Takes `n` jobs out of `from` which hold `gpus` in total, or as close as swaps of single jobs get:
// starts from the last ones. Requires: n <= from.size().
std::vector<Job> remove_jobs(std::vector<Job>& from, size_t n, int32_t gpus) {
  constexpr size_t kMaxSwapped = 16;  // jobs; the search would be too slow for more
  std::vector<size_t> taken(n);
  for (size_t i = 0; i < n; ++i) taken[i] = from.size() - 1 - i;
  int32_t missing = gpus;
  for (const size_t t : taken) missing -= from[t].gpus;
  for (size_t i = 0; i < n && n <= kMaxSwapped && missing != 0; ++i) {
    size_t best = taken[i];
    for (size_t j = from.size(); j-- > 0;) {
      if (std::ranges::count(taken, j) > 0) continue;
      const auto left = [&](size_t with) {
        return std::abs(missing - (from[with].gpus - from[taken[i]].gpus));
      };
      if (left(j) < left(best)) best = j;
    }
    missing -= from[best].gpus - from[taken[i]].gpus;
    taken[i] = best;
  }
  std::ranges::sort(taken);
  std::vector<Job> out;
  for (const size_t t : taken) out.push_back(std::move(from[t]));
  for (size_t i = n; i-- > 0;) from.erase(from.begin() + static_cast<std::ptrdiff_t>(taken[i]));
  return out;
}

// The jobs of one kind, reconstructed row by row.
class JobClass {
 public:
  struct ClassSpec {
    std::string prefix, tenant;  // of ids
    int32_t min_gpus, max_gpus;  // GPUs of a job
  };
  JobClass(Rows& rows, ClassSpec spec) : rows_(rows), spec_(std::move(spec)) {}

  void update(const Count& count, int64_t at_us) {
    const int32_t running = static_cast<int32_t>(running_.size());
    const int32_t pending = static_cast<int32_t>(pending_.size());
    int32_t starts = std::max(0, count.running - running);
    int32_t ends = std::max(0, running - count.running);
    int32_t arrivals = count.pending - pending + starts;
    // Arriving jobs took the places of those that ended.
    const int32_t replaced = std::max(0, -arrivals);
    starts += replaced, ends += replaced, arrivals += replaced;
    const bool changed = seen_ && count.running_gpus != running_gpus_;
    running_gpus_ = count.running_gpus;
    if (starts == 0 && ends == 0 && changed && running > 0) ++starts, ++ends, ++arrivals;

    // Waiting jobs start first. Arriving jobs start if no job is left waiting; otherwise they wait.
    const int32_t waited = std::min(starts, pending);
    const int32_t started_on_arrival = starts - waited;
    const int32_t waits = arrivals - started_on_arrival;
    const int32_t left_gpus = gpus_of(pending_) - count.pending_gpus + waits * spec_.min_gpus;
    std::vector<Job> begun = remove_jobs(pending_, static_cast<size_t>(waited), left_gpus);
    arrive(pending_, waits, count.pending_gpus - gpus_of(pending_), at_us);
    const int32_t begun_gpus = gpus_of(begun) + started_on_arrival * spec_.min_gpus;
    const auto ended = static_cast<size_t>(std::min(ends, running));
    const int32_t ended_gpus = gpus_of(running_) + begun_gpus - count.running_gpus;
    for (Job& job : remove_jobs(running_, ended, ended_gpus)) end(std::move(job), at_us, "");
    std::ranges::move(begun, std::back_inserter(running_));
    arrive(running_, started_on_arrival, count.running_gpus - gpus_of(running_), at_us);
    for (Job& job : running_) {
      if (job.logged_start_us < 0) job.logged_start_us = at_us;
    }
    // More jobs ended than were running a minute ago: some of the arrivals ended too.
    const auto surplus = static_cast<size_t>(ends) - ended;
    for (Job& job : remove_jobs(running_, std::min(surplus, running_.size()), 0)) {
      end(std::move(job), at_us, "");
    }
    if (!seen_) {
      for (Job& job : running_) job.status = "began earlier";
    }
    seen_ = true;
  }

  void finish(int64_t at_us) {
    for (Job& job : running_) end(std::move(job), at_us, "still ran");
    for (size_t i = 0; i < pending_.size(); ++i) rows_.leave_out_row("never started");
  }

 private:
  void arrive(std::vector<Job>& where, int32_t n, int32_t gpus, int64_t at_us) {
    for (int32_t i = 0; i < n; ++i) {
      const int32_t unit =
          gpus % spec_.min_gpus == 0 ? spec_.min_gpus : 1;  // large jobs mostly use whole nodes
      const int32_t units = gpus / unit;
      const int32_t share =
          unit * static_cast<int32_t>(std::lround(static_cast<double>(units) / (n - i)));
      Job job;
      job.id = spec_.prefix + std::to_string(++number_);
      job.gpus = std::clamp(share, spec_.min_gpus, spec_.max_gpus);
      job.submit_us = at_us;
      job.tenant = spec_.tenant;
      gpus -= job.gpus;
      where.push_back(std::move(job));
    }
  }

  void end(Job job, int64_t at_us, const char* status) {
    job.run_us = at_us - job.logged_start_us;
    job.logged_end_us = at_us;
    if (*status != '\0') job.status = status;
    rows_.add(std::move(job));
  }

  Rows& rows_;
  ClassSpec spec_;
  std::vector<Job> running_, pending_;
  int32_t running_gpus_ = 0;  // a minute ago
  int64_t number_ = 0;
  bool seen_ = false;
};

class HeliosLoadReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_columns({"time", "gpu_utilization", "idle_gpu_num", "running_gpu_num_noless_8",
                             "running_gpu_num_less_8"});
  }

  void read(Rows& rows) const override {
    constexpr int32_t kMaxGpus = 1 << 20;
    const int time = rows.column("time");
    std::array<JobClass, 2> classes = {JobClass(rows, {"s", config_.tenant, 1, kLarge - 1}),
                                       JobClass(rows, {"l", config_.tenant, kLarge, kMaxGpus})};
    std::array<std::array<int, 4>, 2> columns;
    for (size_t k = 0; k < classes.size(); ++k) {
      const std::string of = k == 0 ? "_less_8" : "_noless_8";
      columns[k] = {rows.column("running_job_num" + of), rows.column("pending_job_num" + of),
                    rows.column("running_gpu_num" + of), rows.column("pending_gpu_num" + of)};
    }
    rows.move_zero_to_first_submission();
    int64_t now_us = -1;
    while (rows.next()) {
      int64_t at_us = 0;
      std::array<Count, 2> counts;
      if (!rows.date(time, zone_, at_us) || !read_counts(rows, columns, counts)) continue;
      if (at_us <= now_us) {
        rows.reject_row(time, "times not increasing", "a time after the previous row's",
                        rows.trimmed(time));
        continue;
      }
      now_us = at_us;
      for (size_t k = 0; k < classes.size(); ++k) classes[k].update(counts[k], at_us);
    }
    for (JobClass& kind : classes) kind.finish(now_us);
  }

  std::string example() const override {
    return "time,gpu_utilization,idle_gpu_num,running_job_num_less_8,pending_job_num_less_8,"
           "running_gpu_num_less_8,pending_gpu_num_less_8,running_job_num_noless_8,"
           "pending_job_num_noless_8,running_gpu_num_noless_8,pending_gpu_num_noless_8\n"
           "2020-05-01 00:00:00,0.75,4,2,0,4,0,1,0,8,0\n"
           "2020-05-01 00:01:00,0.625,6,1,0,2,0,1,1,8,16\n"
           "2020-05-01 00:02:00,1.0,0,0,0,0,0,1,0,16,0\n";
  }

 protected:
  // (2, 4) columns: by kind, in the order of Count.
  static bool read_counts(Rows& rows, const std::array<std::array<int, 4>, 2>& columns,
                          std::array<Count, 2>& out) {
    for (size_t k = 0; k < out.size(); ++k) {
      Count& one = out[k];
      if (!rows.integer(columns[k][0], one.running, 0, kMaxJobs) ||
          !rows.integer(columns[k][1], one.pending, 0, kMaxJobs) ||
          !rows.gpus(columns[k][2], one.running_gpus, 0) ||
          !rows.gpus(columns[k][3], one.pending_gpus, 0)) {
        return false;
      }
    }
    return true;
  }

  Config config_;
  Zone zone_;
};

const AddReader<HeliosLoadReader, Config> kAdd{
    "helios-load",
    "load per minute of a virtual cluster of SenseTime's Helios Earth, 2020 (Hu et al., SC "
    "2021), read as the fewest jobs that explain it. Jobs between two counts are missing. If a "
    "job ends, the latest to start with that number of GPUs is assumed."};

}  // namespace
}  // namespace yard
