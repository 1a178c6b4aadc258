// Rule set of Gavel's simulator (Narayanan et al., OSDI 2020) with its FIFO policy: rounds of at
// most 360 s, throughputs measured by kind of job, GPU type and number of GPUs. No costs; the
// placement within a GPU type has no effect.
//
// Each job is allocated GPUs of one type (gavel_fifo.h). Arrivals and ends change the allocation no
// sooner than 1920 s after the last one, or at once if the time of the last one is 0. That time is
// reset to 0 when nothing runs and no arrival is left. In a round allocated jobs run as GPUs
// permit: first those with the smallest share of the type's time, then those with the largest
// deficit. A job does min(whole steps in 360 s, steps left) and idles until the round's last job is
// done; its own finish time counts. When nothing runs, the clock moves to the next arrival.
//
// Kept from the original, since results depend on it:
//  - A job's time counts from the end of the previous round, even if the cluster was idle since.
//  - A round's steps are split over a job's GPUs. If a GPU gets none, the round fails without any
//    progress. After five failed rounds in a row the job is dropped and never ends. So a job with
//    fewer steps left than GPUs never ends.
// Differs from the original: jobs which can never run are an error, not an endless loop.

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/core/error.h"
#include "env/sim/rulesets/gavel_fifo.h"
#include "env/sim/rulesets/job_sim.h"
#include "env/trace/profiles/throughputs.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int32_t kMaxFailures = 5;
constexpr const char* kUnnamedType = "gpu";  // in a cluster without names of types

struct Config {
  std::string throughputs;
  std::string gpu_type = "v100";
  int64_t round_s = 360;
  int64_t recompute_s = 1920;
  uint32_t seed = 0;

  void fields(auto& f) {
    f("throughputs", throughputs,
      "file of measured throughputs in steps per second, in Gavel's JSON format");
    f("gpu_type", gpu_type, "GPU type of nodes without a type in the cluster file");
    f("round_s", round_s, 1, 86'400, "longest round in seconds");
    f("recompute_s", recompute_s, 0, 1'000'000'000, "minimum seconds between allocations");
    f("seed", seed, 0, UINT32_MAX, "seed of random choices among GPU types");
  }
};

// The GPU types of a cluster. Dims: T types, M nodes.
struct Workers {
  std::vector<std::string> names;           // (T)  sorted
  std::vector<int32_t> gpus;                // (T)
  std::vector<std::vector<uint8_t>> is_of;  // (T, M)  whether the node has GPUs of the type
};

Workers workers_of(const ClusterSpec& cluster, const Throughputs& table, const Config& config) {
  const auto name_of = [&](const Node& node) {
    const std::string& name = cluster.types[static_cast<size_t>(node.type)].name;
    return name == kUnnamedType && !table.has_gpu_type(name) ? config.gpu_type : name;
  };
  Workers workers;
  std::map<std::string, size_t> types;
  for (const Node& node : cluster.nodes) types.try_emplace(name_of(node));
  for (auto& [name, type] : types) {
    if (!table.has_gpu_type(name)) {
      throw InputError(table.path(), "GPU type '" + name + "' of the cluster", join(table.types()));
    }
    type = workers.names.size();
    workers.names.push_back(name);
  }
  workers.gpus.resize(types.size());
  workers.is_of.assign(types.size(), std::vector<uint8_t>(cluster.nodes.size()));
  for (size_t m = 0; m < cluster.nodes.size(); ++m) {
    const size_t type = types[name_of(cluster.nodes[m])];
    workers.gpus[type] += cluster.nodes[m].gpus;
    workers.is_of[type][m] = 1;
  }
  return workers;
}

struct GavelJob {
  std::vector<double> steps_per_s;  // by type
  int64_t steps_left = 0;
  int64_t round_steps = 0;  // in the present round
  double finish_s = 0;      // in the present round
  // Time run since the last allocation, plus an initial half round.
  double time_s = 0;
  double deficit_s = 0;  // time missed in all previous allocations
  double priority = 0;
  int32_t failures = 0;
  bool left = false;  // ended or dropped
  bool runs = false;  // in the present round
  bool ran = false;   // in the previous round
};

class Rounds {
 public:
  Rounds(const Replay& replay, const Config& config, const Throughputs& table)
      : config_(config),
        sim_(replay, "gavel"),
        workers_(workers_of(*replay.cluster, table, config)),
        next_(replay.first_job),
        end_job_(replay.end_job),
        jobs_(static_cast<size_t>(replay.end_job)),
        fifo_(workers_.gpus, replay.fixed.jobs.gpus, replay.end_job, config.seed),
        time_s_(workers_.names.size(), 0) {
    for (int32_t j = next_; j < end_job_; ++j) load_throughputs(j, table);
  }

  Outcome run() {
    while (!sim_.done()) {
      const bool idle = running_.empty() && next_ == end_job_;
      if (idle) last_allocation_s_ = 0;
      advance_clock();
      credit();
      sim_.advance_to(to_us(now_s_));
      add_arrivals();
      const bool too_soon = now_s_ - last_allocation_s_ < static_cast<double>(config_.recompute_s);
      if (allocation_stale_ && (!too_soon || last_allocation_s_ == 0)) allocate();
      begin_round();
      sim_.end_event();
      if (idle && running_.empty() && !sim_.done()) sim_.throw_stuck();
    }
    return sim_.outcome_at_end();
  }

 private:
  GavelJob& job(int32_t j) { return jobs_[static_cast<size_t>(j)]; }
  static int64_t to_us(double s) { return std::llround(s * kUsPerS); }
  double half_round_s() const { return static_cast<double>(config_.round_s) / 2; }

  void load_throughputs(int32_t j, const Throughputs& table) {
    const Job& trace_job = sim_.job(j);
    const auto kind = Throughputs::kind_of(trace_job);
    job(j).steps_left = static_cast<int64_t>(trace_job.iterations);
    if (trace_job.iterations < 1 || trace_job.iterations != std::floor(trace_job.iterations)) {
      throw InputError("job '" + trace_job.id + "'",
                       "a whole number of steps, at least 1, as in Gavel's traces",
                       shortest_text(trace_job.iterations));
    }
    for (const std::string& type : workers_.names) {
      const auto steps_per_s = table.isolated_throughput(type, kind);
      if (!steps_per_s) {
        throw InputError(
            table.path(),
            type + ": " + Throughputs::text_of(kind) + " of job '" + trace_job.id + "'", "none");
      }
      job(j).steps_per_s.push_back(*steps_per_s);
    }
    if (std::ranges::max(job(j).steps_per_s) > 0) return;
    throw InputError(table.path(),
                     "a GPU type of the cluster on which job '" + trace_job.id + "' runs",
                     "0 steps/s for " + Throughputs::text_of(kind));
  }

  // Moves the clock to the end of the round's last job; if nothing ran, to the next arrival.
  void advance_clock() {
    double last_s = 0;
    for (const int32_t j : running_) last_s = std::max(last_s, job(j).finish_s);
    if (last_s > 0) {
      if (round_end_s_ >= 0) round_begin_s_ = round_end_s_;
      now_s_ = round_end_s_ = last_s;
    } else if (next_ < end_job_) {
      now_s_ = static_cast<double>(sim_.submit_us(next_)) / kUsPerS;
    }
  }

  // Credits the round's steps to its jobs, from the last finisher to the first: the order of sums.
  void credit() {
    std::sort(running_.begin(), running_.end(), [&](int32_t a, int32_t b) {
      return job(a).finish_s != job(b).finish_s ? job(a).finish_s > job(b).finish_s : a < b;
    });
    leaving_.clear();
    for (const int32_t j : running_) {
      GavelJob& one = job(j);
      const double ran_s = one.finish_s - round_begin_s_;
      if (one.round_steps < sim_.gpus(j) || ran_s <= 0) {
        allocation_stale_ = true;
        one.left = ++one.failures == kMaxFailures;
      } else {
        one.failures = 0;
        one.steps_left -= one.round_steps;
        one.time_s += ran_s;
        time_s_[static_cast<size_t>(fifo_.type_of(j))] += ran_s;
        one.left = one.steps_left <= 0;
      }
      if (one.left) leaving_.push_back(j);
    }
    running_.clear();
    if (leaving_.empty()) return;
    allocation_stale_ = true;
    std::erase_if(active_, [&](int32_t j) { return job(j).left; });
    for (auto at = leaving_.rbegin(); at != leaving_.rend(); ++at) leave(*at);
  }

  void leave(int32_t j) {
    const int64_t end_us = to_us(job(j).finish_s);
    sim_.advance_to(end_us);
    job(j).steps_left > 0 ? sim_.drop_unfinished(j) : sim_.finish(j, end_us);
    job(j).ran = false;
  }

  void add_arrivals() {
    for (; next_ < end_job_; ++next_) {
      if (static_cast<double>(sim_.submit_us(next_)) / kUsPerS > now_s_) return;
      sim_.arrive(next_);
      active_.push_back(next_);
      job(next_).time_s = half_round_s();
      allocation_stale_ = true;
    }
  }

  // Settles the deficits since the last allocation, then recomputes the allocation.
  void allocate() {
    const double passed_s = now_s_ - last_allocation_s_;
    for (const int32_t j : fifo_.allocated_jobs()) {
      GavelJob& one = job(j);
      one.deficit_s += passed_s - (one.time_s - half_round_s());
      one.time_s = half_round_s();
    }
    std::ranges::fill(time_s_, half_round_s() * static_cast<double>(active_.size()));
    last_allocation_s_ = now_s_;
    fifo_.allocate(active_);
    allocation_stale_ = false;
  }

  void begin_round() {
    const auto types = static_cast<int32_t>(workers_.names.size());
    for (int32_t type = 0; type < types; ++type) choose(type);
    for (const int32_t j : active_) {
      GavelJob& one = job(j);
      if (one.ran && !one.runs) sim_.preempt(j);
    }
    for (const int32_t j : running_) {
      GavelJob& one = job(j);
      const auto type = static_cast<size_t>(fifo_.type_of(j));
      if (!one.ran) sim_.start_anywhere(j, workers_.is_of[type].data());
      const double steps_per_s = one.steps_per_s[type];
      const double whole = steps_per_s * static_cast<double>(config_.round_s);
      one.round_steps = std::min(static_cast<int64_t>(whole), one.steps_left);
      one.finish_s = std::max(now_s_, now_s_ + static_cast<double>(one.round_steps) / steps_per_s);
    }
    for (const int32_t j : active_) {
      job(j).ran = job(j).runs;
      job(j).runs = false;
    }
  }

  // Chooses the jobs of a type which run in this round.
  void choose(int32_t type) {
    candidates_.clear();
    const double total_s = time_s_[static_cast<size_t>(type)];
    for (const int32_t j : fifo_.allocated_jobs()) {
      GavelJob& one = job(j);
      if (one.left || fifo_.type_of(j) != type) continue;
      if (one.steps_per_s[static_cast<size_t>(type)] <= 0) continue;
      const double share = total_s == 0 ? 0 : one.time_s / total_s;
      one.priority = share > 0 ? 1 / share : 1e9;
      candidates_.push_back(j);
    }
    std::stable_sort(candidates_.begin(), candidates_.end(), [&](int32_t a, int32_t b) {
      const GavelJob &x = job(a), &y = job(b);
      return x.priority != y.priority ? x.priority > y.priority : x.deficit_s > y.deficit_s;
    });
    int32_t free = workers_.gpus[static_cast<size_t>(type)];
    for (const int32_t j : candidates_) {
      if (sim_.gpus(j) > free) continue;
      free -= sim_.gpus(j);
      job(j).runs = true;
      running_.push_back(j);
    }
  }

  const Config& config_;
  RuleSetSimByJob sim_;
  Workers workers_;
  int32_t next_, end_job_;        // jobs [next_, end_job_) have not arrived
  std::vector<GavelJob> jobs_;    // (N)
  std::vector<int32_t> active_;   // in ascending order
  std::vector<int32_t> running_;  // in the present round
  std::vector<int32_t> candidates_, leaving_;
  GavelFifo fifo_;
  std::vector<double> time_s_;  // (T)  sum over all jobs since the last allocation
  double now_s_ = 0, last_allocation_s_ = 0;
  double round_begin_s_ = 0, round_end_s_ = -1;  // of the last round in which a job ran
  bool allocation_stale_ = true;  // a job arrived, left or failed since the last allocation
};

class Gavel final : public RuleSet {
 public:
  explicit Gavel(const Settings& settings)
      : config_(parse<Config>(settings)), table_(Throughputs::load(config_.throughputs)) {}

  Outcome replay(const Replay& replay) const override {
    YARD_CHECK(replay.cluster != nullptr,
               "rule set gavel needs the cluster for the names of its GPU types");
    return Rounds(replay, config_, table_).run();
  }

 private:
  Config config_;
  Throughputs table_;
};

const RuleSetRegistry::Add<Gavel> kGavel{
    "gavel",
    {.about = "Gavel's simulator: rounds of up to 360 s, measured throughputs by GPU type",
     .source = "Gavel, OSDI 2020",
     .fidelity = "exact step for step on one or several GPU types, including over-allocation and "
                 "dropped jobs; fifo only",
     .policies = {"fifo"},
     .placements = {"count"},
     .fields = describe<Config>,
     .needs = {"throughputs"},
     .round_s = 360,
     .by_types = true}};

}  // namespace
}  // namespace yard
