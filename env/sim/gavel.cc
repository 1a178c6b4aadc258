// First come, first served in Gavel's simulator (Narayanan et al., OSDI 2020): rounds of at most
// 360 seconds, throughputs measured by kind of job, GPU type and number of GPUs. Nothing is charged
// and the place within a type makes no difference.
//
// Jobs get GPUs of one type (gavel_fifo.h), but not at once: who came or left is taken into account
// 1920 seconds after the last time, or at a time of 0, to which the last time is also set where
// nothing runs and nobody is to come. In a round everybody who was given GPUs runs, in order of
// the share that its time has of the type's (least first), then of the time it is behind, as far as
// GPUs go. A job does min(whole steps in 360 s, steps left) and rests until the last of the round
// is through; its own end counts. Where nobody runs the clock goes to the next arrival.
//
// Kept from the original, since results hang on it:
//  - time counts from the end of the round before, also where the cluster stood still in between;
//  - a round's steps are dealt to a job's GPUs; where one gets none the round fails and nothing is
//    done, and after five such rounds in a row the job is dropped, never to end. So a job whose
//    last steps are fewer than its GPUs never ends.
// Differs: what can never run any more is an error, where the original goes on for ever.

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/error.h"
#include "env/sim/gavel_fifo.h"
#include "env/sim/rule_stage.h"
#include "env/trace/throughputs.h"

namespace yard {
namespace {

constexpr double kUsPerS = 1e6;
constexpr int32_t kMostFailures = 5;
constexpr const char* kUnnamedType = "gpu";  // of a cluster that names none

struct Config {
  std::string throughputs;
  std::string gpu_type = "v100";
  int64_t round_s = 360;
  int64_t recompute_s = 1920;
  uint32_t seed = 0;

  void fields(auto& f) {
    f("throughputs", throughputs, "file of measured steps a second, as Gavel's JSON has them");
    f("gpu_type", gpu_type, "the type of GPUs whose type the cluster does not name");
    f("round_s", round_s, 1, 86'400, "longest round");
    f("recompute_s", recompute_s, 0, 1'000'000'000,
      "shortest time from one allocation to the next");
    f("seed", seed, 0, UINT32_MAX, "of the lots drawn where there are several types");
  }
};

// The types of a cluster's GPUs by name, and which nodes are of which.
struct Workers {
  std::vector<std::string> names;           // (T) rising
  std::vector<int32_t> gpus;                // (T)
  std::vector<std::vector<uint8_t>> is_of;  // (T, M)
};

Workers workers_of(const ClusterSpec& cluster, const Throughputs& table, const Config& config) {
  const auto name_of = [&](const Node& node) {
    const std::string& name = cluster.types[static_cast<size_t>(node.type)].name;
    return name == kUnnamedType && !table.has_type(name) ? config.gpu_type : name;
  };
  Workers workers;
  std::map<std::string, size_t> types;
  for (const Node& node : cluster.nodes) types.try_emplace(name_of(node));
  for (auto& [name, type] : types) {
    if (!table.has_type(name)) {
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
  int64_t round_steps = 0;  // of the present round
  double finish_s = 0;      // likewise
  // Since the last allocation: time run, with half a round that everybody is given.
  double time_s = 0;
  double deficit_s = 0;  // how far it is behind, from all allocations before
  double priority = 0;
  int32_t failures = 0;
  bool left = false;
  bool runs = false;  // in the present round
  bool ran = false;   // in the one before
};

class Rounds {
 public:
  Rounds(const Replay& replay, const Config& config, const Throughputs& table)
      : config_(config),
        stage_(replay, "gavel"),
        workers_(workers_of(*replay.cluster, table, config)),
        next_(replay.first_job),
        end_job_(replay.end_job),
        jobs_(static_cast<size_t>(replay.end_job)),
        fifo_(workers_.gpus, replay.fixed.jobs.gpus, replay.end_job, config.seed),
        time_s_(workers_.names.size(), 0) {
    for (int32_t j = next_; j < end_job_; ++j) look_up(j, table);
  }

  Outcome run() {
    while (!stage_.done()) {
      const bool idle = running_.empty() && next_ == end_job_;
      if (idle) last_allocation_s_ = 0;
      turn_clock();
      credit();
      stage_.pass_to(to_us(now_s_));
      take_in_arrived();
      const bool often = now_s_ - last_allocation_s_ < static_cast<double>(config_.recompute_s);
      if (news_ && (!often || last_allocation_s_ == 0)) allocate();
      begin_round();
      stage_.end_event();
      if (idle && running_.empty() && !stage_.done()) stage_.stuck();
    }
    return stage_.take_outcome();
  }

 private:
  GavelJob& job(int32_t j) { return jobs_[static_cast<size_t>(j)]; }
  static int64_t to_us(double s) { return std::llround(s * kUsPerS); }
  double half_round_s() const { return static_cast<double>(config_.round_s) / 2; }

  void look_up(int32_t j, const Throughputs& table) {
    const Job& said = stage_.job(j);
    const auto kind = Throughputs::kind_of(said);
    job(j).steps_left = static_cast<int64_t>(said.iterations);
    if (said.iterations < 1 || said.iterations != std::floor(said.iterations)) {
      throw InputError("job '" + said.id + "'", "a whole number of steps, as Gavel's traces have",
                       shortest(said.iterations));
    }
    bool runs_somewhere = false;
    for (const std::string& type : workers_.names) {
      const auto steps_per_s = table.alone(type, kind);
      if (!steps_per_s) {
        throw InputError(table.path(),
                         type + ": " + Throughputs::text_of(kind) + " of job '" + said.id + "'",
                         "none");
      }
      job(j).steps_per_s.push_back(*steps_per_s);
      runs_somewhere |= *steps_per_s > 0;
    }
    if (runs_somewhere) return;
    throw InputError(table.path(), "a GPU type of the cluster on which job '" + said.id + "' runs",
                     "0 steps/s for " + Throughputs::text_of(kind));
  }

  // To when the last job of the round is through, else to the next arrival.
  void turn_clock() {
    double last_s = 0;
    for (const int32_t j : running_) last_s = std::max(last_s, job(j).finish_s);
    if (last_s > 0) {
      if (round_end_s_ >= 0) round_begin_s_ = round_end_s_;
      now_s_ = round_end_s_ = last_s;
    } else if (next_ < end_job_) {
      now_s_ = static_cast<double>(stage_.submit_us(next_)) / kUsPerS;
    }
  }

  // Jobs are credited from the last one through to the first: sums are taken in that order.
  void credit() {
    std::sort(running_.begin(), running_.end(), [&](int32_t a, int32_t b) {
      return job(a).finish_s != job(b).finish_s ? job(a).finish_s > job(b).finish_s : a < b;
    });
    leaving_.clear();
    for (const int32_t j : running_) {
      GavelJob& one = job(j);
      const double ran_s = one.finish_s - round_begin_s_;
      if (one.round_steps < stage_.gpus(j) || ran_s <= 0) {
        news_ = true;
        one.left = ++one.failures == kMostFailures;
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
    news_ = true;
    std::erase_if(active_, [&](int32_t j) { return job(j).left; });
    for (auto at = leaving_.rbegin(); at != leaving_.rend(); ++at) leave(*at);
  }

  void leave(int32_t j) {
    const int64_t end_us = to_us(job(j).finish_s);
    stage_.pass_to(end_us);
    job(j).steps_left > 0 ? stage_.drop(j) : stage_.finish(j, end_us);
    job(j).ran = false;
  }

  void take_in_arrived() {
    for (; next_ < end_job_; ++next_) {
      if (static_cast<double>(stage_.submit_us(next_)) / kUsPerS > now_s_) return;
      stage_.arrive(next_);
      active_.push_back(next_);
      job(next_).time_s = half_round_s();
      news_ = true;
    }
  }

  // What jobs should have had since the last time is settled, then they are given GPUs anew.
  void allocate() {
    const double passed_s = now_s_ - last_allocation_s_;
    for (const int32_t j : fifo_.allocated()) {
      GavelJob& one = job(j);
      one.deficit_s += passed_s - (one.time_s - half_round_s());
      one.time_s = half_round_s();
    }
    for (double& time_s : time_s_) {
      time_s = half_round_s() * static_cast<double>(active_.size());
    }
    last_allocation_s_ = now_s_;
    fifo_.allocate(active_);
    news_ = false;
  }

  void begin_round() {
    const auto types = static_cast<int32_t>(workers_.names.size());
    for (int32_t type = 0; type < types; ++type) choose(type);
    for (const int32_t j : active_) {
      GavelJob& one = job(j);
      if (one.ran && !one.runs) stage_.preempt(j);
    }
    for (const int32_t j : running_) {
      GavelJob& one = job(j);
      const auto type = static_cast<size_t>(fifo_.type_of(j));
      if (!one.ran) stage_.start_anywhere(j, workers_.is_of[type].data());
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

  // Who of a type's jobs runs in this round.
  void choose(int32_t type) {
    candidates_.clear();
    const double total_s = time_s_[static_cast<size_t>(type)];
    for (const int32_t j : fifo_.allocated()) {
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
      if (stage_.gpus(j) > free) continue;
      free -= stage_.gpus(j);
      job(j).runs = true;
      running_.push_back(j);
    }
  }

  const Config& config_;
  RuleStage stage_;
  Workers workers_;
  int32_t next_, end_job_;        // jobs [next_, end_job_) are still to come
  std::vector<GavelJob> jobs_;    // (N)
  std::vector<int32_t> active_;   // by rising number
  std::vector<int32_t> running_;  // in the present round
  std::vector<int32_t> candidates_, leaving_;
  GavelFifo fifo_;
  std::vector<double> time_s_;  // by type: of all jobs since the last allocation
  double now_s_ = 0, last_allocation_s_ = 0;
  double round_begin_s_ = 0, round_end_s_ = -1;  // of the last round in which somebody ran
  bool news_ = true;  // somebody came, left or failed since the last allocation
};

class Gavel final : public Pacing {
 public:
  explicit Gavel(const Settings& settings)
      : config_(parse<Config>(settings)), table_(Throughputs::load(config_.throughputs)) {}

  Outcome replay(const Replay& replay) const override {
    YARD_CHECK(replay.cluster != nullptr, "the rules of gavel go by the names of GPU types");
    return Rounds(replay, config_, table_).run();
  }

 private:
  Config config_;
  Throughputs table_;
};

const PacingRegistry::Add<Gavel> kGavel{
    "gavel",
    {.about = "Gavel's simulator: rounds of up to 360 s, measured throughputs by GPU type",
     .source = "Gavel, OSDI 2020",
     .fidelity = "step for step, on one GPU type or several, over-allocation and dropped jobs "
                 "included; fifo only",
     .policies = {"fifo"},
     .placements = {"count"},
     .fields = describe<Config>,
     .needs = {"throughputs"},
     .round_s = 360,
     .by_types = true}};

}  // namespace
}  // namespace yard
