// Agent `mlfs`, after MLFS (Wang, Liu and Shen, "Job scheduling for large-scale machine learning
// clusters", CoNEXT 2020). MLF-RL decides which jobs start, on which servers, and which are
// preempted for them; MLF-C (`load_control`) ends jobs early (env/scheduling/mlf_load.h).
//
// From the paper: the reward (equation 7 with its weights), the kinds of features of tasks, jobs
// and servers, a policy gradient that begins as MLF-H, and rounds of a minute (ten in what ships).
// Adapted: MLF-H is the prior, not imitated first. One action starts one job in one way. At most
// twelve waiting jobs are shown, by priority or by predicted time left (survival_index.h instead of
// the paper's fitted predictor). Equation 7 has units (mlfs_goals.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "env/predict/rolling_estimate.h"
#include "env/predict/survival_index.h"
#include "env/scheduling/mlf_config.h"
#include "env/scheduling/preempt_to_start.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/task_placer.h"
#include "env/sim/placement/throughput_model.h"
#include "env/sim/view/work_view.h"
#include "env/task/mlfs_goals.h"
#include "env/task/row_task.h"

namespace yard {
namespace {

constexpr int kShown = 12;  // waiting jobs
enum Way : int32_t { kNearestIdeal, kMinNodes, kPreemptLowestPriority, kPreemptLongest, kWays };
constexpr int kRows = kShown * kWays;
constexpr int64_t kRapidRepreemptionUs = 1'000'000;
constexpr int kMaxSameClass = 2;  // shown jobs of one size class

enum RowFeature {
  kSize,                       // log2 of its GPUs
  kParts,                      // number of its model's partitions, in quarters
  kUrgency,                    // in tenths
  kPriority,                   // log2 of its MLF-H priority over the highest of waiting jobs
  kLeft,                       // log2 s predicted left
  kRan,                        // log2 s run so far
  kWaited,                     // log2 s waited since submission
  kSlack,                      // signed log2 min of time to its deadline minus time left
  kDue,                        // 1: it has a deadline that is not past
  kAccuracy,                   // share of its sufficient accuracy reached; 0: not measured
  kRate,                       // log2 of its throughput there over its best; 0 with preemption
  kNodes,                      // log2 of its nodes; likewise
  kCrowding,                   // share of cores in use on its fullest node, the job included
  kWay,                        // one-hot: the way, of kWays
  kVictimGpus = kWay + kWays,  // GPUs of the victims over its own
  kVictimTimeLeft,             // log2 s predicted left of the victim that would end first
  kVictimPriority,             // log2 of its priority over the victims' highest
  kVictimRunTime,              // log2 s since the latest start of a victim
  kRowFeatures
};
enum ClusterFeature {
  kFree,        // share of GPUs
  kCoresFree,   // share
  kQueue,       // GPUs waited for over all GPUs, at most 4
  kWaiting,     // log2 of 1 + jobs
  kLive,        // log2 of 1 + jobs
  kOverloaded,  // share of servers with more cores in use than the threshold
  kRound,       // 1: MLF-H may preempt jobs
  kClusterFeatures
};

struct Config {
  MlfConfig mlf_h;
  MlfsGoals goals;
  double prior_gap = 1;
  double stop_gap = 3;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the suggested one");
    f("stop_gap", stop_gap, 0.0, 100.0, "additional logit penalty of unsuggested preemptions");
    mlf_h.fields(f);
    goals.fields(f);
  }
};

struct PreemptSetting {
  bool preempt = true;
  void fields(FieldList&) {}
};
using RemainingTimes = SurvivalIndex<Level::kHistory, PreemptSetting, WorkView>;

RemainingTimes::Config remaining_times_config() {
  RemainingTimes::Config out;
  out.keep_s = 600;
  return out;
}

struct ListedAction {
  int32_t slot, way;
};

// Memory of the agent; the predictors' memories are behind it.
struct AgentState {
  double met, satisfied, accuracy;  // jobs in time, with sufficient accuracy, sum of accuracies
  double due, measured;             // jobs with a deadline, with an accuracy
  int32_t preemptions_left;         // jobs that MLF-H may still preempt in this decision
  int32_t round_done;               // 1: the decision took "nothing more"
  int32_t choices;                  // kNone: not computed yet
  int32_t expert_action;
  ListedAction choice[kRows];
};

class Mlfs final : public RowTask {
 public:
  explicit Mlfs(const Settings& settings)
      : config_(parse<Config>(settings)), remaining_times_(remaining_times_config()) {}

  TaskShape shape() const override { return {kRows, kRowFeatures, kClusterFeatures}; }
  std::string feature_schema() const override {
    return "mlfs 2, 12 jobs x 4 ways: size parts urgency priority left ran waited slack due "
           "accuracy rate nodes crowding ways(4) stopped stopped_left stopped_priority "
           "stopped_ran; cluster: free cores_free queue waiting live overloaded round";
  }
  Level level() const override { return Level::kHistory; }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return record(config_);
  }
  Heuristic heuristic() const override {
    Heuristic out{"mlf-h", {}};
    for (const auto& [key, value] : record(config_.mlf_h)) {
      out.settings.set(key, value, "training");
    }
    return out;
  }

  size_t memory_bytes(const View& view) const override {
    return BumpAllocator::bytes<AgentState>(1) + BumpAllocator::bytes<uint8_t>(view.capacity()) +
           RollingEstimate::bytes(view) + remaining_times_.bytes(view);
  }

  void on_events(const View& view, std::byte* memory) const override {
    Memory m(view, memory);
    m.estimate.on_events(view);
    BumpAllocator bump(m.lengths);
    const RemainingTimes::Evaluator now(remaining_times_, view, bump);
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed(i);
      if (!view.finished(slot)) continue;
      m.kept.met += view.due_us(slot) != kNone && view.now_us() <= view.due_us(slot);
      m.kept.due += view.due_us(slot) != kNone;
      if (!view.may_end(slot)) continue;
      ++m.kept.measured;
      const double accuracy = mlf_accuracy(view, slot);
      m.kept.accuracy += accuracy;
      m.kept.satisfied += accuracy >= 1;
    }
  }

  void begin_round(const View& view, std::byte* memory) const override {
    Memory m(view, memory);
    m.kept.round_done = 0;
    m.kept.choices = kNone;
    m.kept.preemptions_left = mlf_may_stop(view, m.total_s, config_.mlf_h.rule);
    std::fill_n(m.given_up, view.capacity(), uint8_t{0});
  }

  bool needs_action(const View& view, std::byte* memory) const override {
    Memory m(view, memory);
    if (m.kept.round_done != 0 || view.num_waiting() == 0) return false;
    if (m.kept.choices == kNone) list_actions(view, m);
    return m.kept.choices > 0;
  }

  void observe(const View& view, std::byte* memory, Observation& o) const override {
    Memory m(view, memory);
    if (m.kept.choices == kNone) list_actions(view, m);
    RemainingTimes::Evaluator now = attach(view, m);
    const ThroughputModel throughputs(view);
    const std::vector<Holder> holders = holders_of(view, m, now);
    const double highest = highest_priority(view, m);
    std::fill_n(o.mask, kRows + 1, uint8_t{0});
    o.choices = m.kept.choices;
    for (int32_t row = 0; row < m.kept.choices; ++row) {
      const ListedAction& c = m.kept.choice[row];
      float* f = o.jobs + int64_t{row} * kRowFeatures;
      describe_job(view, m, now, c, highest, f);
      if (c.way < kPreemptLowestPriority) {
        describe_place(view, throughputs, c.slot, place_for(view, c), f);
      } else {
        describe_victims(view, m, c, victims_for(view, m, now, c, holders), f);
      }
      o.mask[row] = 1;
      o.slots[row] = c.slot;
    }
    // If a job has room, one must start, as in MLF-H. If nothing runs, waiting is useless.
    o.mask[kRows] = !has_room(m.kept) && view.num_held() > 0;
    o.expert_action = m.kept.expert_action;
    if (o.expert_action == kRows && o.mask[kRows] == 0) o.expert_action = 0;
    if (o.prior != nullptr) {
      write_prior(o, config_.prior_gap);
      for (int32_t row = 0; row < m.kept.choices; ++row) {
        const bool stops = m.kept.choice[row].way >= kPreemptLowestPriority;
        if (stops && row != o.expert_action) o.prior[row] -= static_cast<float>(config_.stop_gap);
      }
    }
    clear_rest(o, m.kept.choices);
    describe_cluster(view, m, o.cluster);
  }

  void apply(const View& view, std::byte* memory, int32_t action, Draft& draft) const override {
    Memory m(view, memory);
    if (m.kept.choices == kNone) list_actions(view, m);  // after a decision was undone
    const int32_t expert_action = m.kept.expert_action;
    m.kept.choices = kNone;
    if (action == kRows) {
      m.kept.round_done = 1;
      return;
    }
    const ListedAction c = m.kept.choice[action];
    const int32_t held = view.num_held();
    bool started;
    if (c.way < kPreemptLowestPriority) {
      const std::vector<Piece> there = place_for(view, c);
      started = draft.start(c.slot, there.data(), static_cast<int32_t>(there.size()));
    } else {
      RemainingTimes::Evaluator now = attach(view, m);
      std::vector<int32_t> stops;
      if (action == expert_action) {  // MLF-H's own: lowest priority first, as many as it may
        stops = mlf_step(view, m.total_s, config_.mlf_h.rule, m.kept.preemptions_left, m.given_up)
                    .victims;
      } else {
        for (const Holder& h : victims_for(view, m, now, c, holders_of(view, m, now))) {
          stops.push_back(h.slot);
        }
      }
      started = preempt_to_start(view, c.slot, stops, draft);
    }
    if (started) {
      m.kept.preemptions_left = std::max(0, m.kept.preemptions_left - (held + 1 - view.num_held()));
    } else {
      m.given_up[c.slot] = 1;
    }
  }

  void commit(const View& view, std::byte*, Draft& draft) const override {
    draft.put_stops_first();
    if (view.num_waiting() > 0 && view.num_held() > 0 && view.may_preempt()) {
      draft.wake_at(view.now_us() + config_.mlf_h.rule.round_us());
    }
    if (!config_.mlf_h.load.on) return;
    const int32_t held = view.num_held();
    mlf_control_load(view, config_.mlf_h.load, config_.mlf_h.rule.round_us(), draft);
    // Decide again, so that waiting jobs can use what became free.
    if (view.num_held() < held && view.num_waiting() > 0)
      draft.wake_at(view.now_us() + kRapidRepreemptionUs);
  }

  // Equation 7: the goals as sums, in their units.
  double cumulative_reward(const View& view, const std::byte* memory, double job_s) const override {
    const AgentState& kept = *reinterpret_cast<const AgentState*>(memory);
    return config_.goals.reward({job_s, kept.met, view.moved_bytes(), kept.satisfied, kept.accuracy,
                                 kept.due, kept.measured});
  }

 private:
  struct Memory {
    Memory(const View& view, std::byte* at) : Memory(view, BumpAllocator(at)) {}
    Memory(const Memory&) = delete;
    AgentState& kept;
    uint8_t* given_up;  // (S) in this decision
    RollingEstimate estimate;
    RunEstimate total_s;
    std::byte* lengths;  // of the survival index

   private:
    Memory(const View& view, BumpAllocator bump)
        : kept(*bump.allocate<AgentState>(1)),
          given_up(bump.allocate<uint8_t>(view.capacity())),
          estimate(view, bump),
          total_s([this, &view](int32_t slot) { return estimate.total_s(view, slot); }),
          lengths(bump.allocate<std::byte>(0)) {}
  };

  RemainingTimes::Evaluator attach(const View& view, const Memory& m) const {
    BumpAllocator bump(m.lengths);
    return RemainingTimes::Evaluator(RemainingTimes::Evaluator::kAttach, remaining_times_, view,
                                     bump);
  }

  struct Holder {
    int32_t slot;
    double priority, left_s;
  };

  double priority_of(const View& view, const Memory& m, int32_t slot) const {
    return mlf_priority(view, m.total_s, config_.mlf_h.rule.weights, slot);
  }

  std::vector<Holder> holders_of(const View& view, const Memory& m,
                                 RemainingTimes::Evaluator& now) const {
    std::vector<Holder> out;
    for (const auto& [slot, priority] : mlf_holders(view, m.total_s, config_.mlf_h.rule)) {
      out.push_back({slot, priority, now.seconds(slot)});
    }
    return out;
  }

  // Returns the first jobs that rank after the job in the way's order, until they release the
  // GPUs it needs. Returns none if they never do.
  std::vector<Holder> victims_for(const View& view, const Memory& m, RemainingTimes::Evaluator& now,
                                  const ListedAction& c, std::vector<Holder> holders) const {
    if (c.way == kPreemptLongest) {
      const double left_s = now.seconds(c.slot);
      std::erase_if(holders, [&](const Holder& h) { return h.left_s <= left_s; });
      std::ranges::stable_sort(holders, std::greater(), &Holder::left_s);
    } else {
      const double priority = priority_of(view, m, c.slot);
      std::erase_if(holders, [&](const Holder& h) { return h.priority >= priority; });
    }
    int32_t gpus = view.free_gpus();
    size_t n = 0;
    while (n < holders.size() && gpus < view.gpus(c.slot)) gpus += view.gpus(holders[n++].slot);
    if (gpus < view.gpus(c.slot)) return {};
    // Free GPUs may be fragmented, so a few more victims may be needed.
    const size_t most = std::min(holders.size(), std::max<size_t>(2 * n, n + 2));
    holders.resize(most);
    return holders;
  }

  std::vector<Piece> place_for(const View& view, const ListedAction& c) const {
    return c.way == kMinNodes ? best_fit(view, c.slot)
                              : nearest_ideal_place(view, config_.mlf_h.rule, c.slot);
  }

  double highest_priority(const View& view, const Memory& m) const {
    double highest = 0;
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      highest = std::max(highest, priority_of(view, m, slot));
    }
    return highest;
  }

  // Returns `first` if given, then jobs with the highest priority for half of the places, then
  // those with the shortest predicted time left. At most kMaxSameClass of each share a size class.
  std::vector<int32_t> shown(const View& view, const Memory& m, RemainingTimes::Evaluator& now,
                             int32_t first) const {
    struct Waiting {
      double priority, left_s;
      int64_t rank;
      int32_t slot;
    };
    std::vector<Waiting> all;
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      if (m.given_up[slot] != 0 || !view.within_limit(slot)) continue;
      all.push_back({priority_of(view, m, slot), now.seconds(slot), view.queue_rank(slot), slot});
    }
    std::vector<int32_t> out;
    if (first != kNone) out.push_back(first);
    const auto add_first = [&](size_t most) {
      std::vector<int32_t> classes;
      for (const Waiting& w : all) {
        if (out.size() == most) return;
        const int32_t k = view.size_class(w.slot);
        if (std::ranges::count(classes, k) >= kMaxSameClass) continue;
        classes.push_back(k);
        if (std::ranges::find(out, w.slot) == out.end()) out.push_back(w.slot);
      }
    };
    std::ranges::sort(all, {}, [](const Waiting& w) { return std::pair(-w.priority, w.rank); });
    add_first(kShown / 2);
    std::ranges::sort(all, {}, [](const Waiting& w) { return std::pair(w.left_s, w.rank); });
    add_first(kShown);
    return out;
  }

  static bool has_room(const AgentState& kept) {
    return std::ranges::any_of(
        std::span(kept.choice, static_cast<size_t>(kept.choices)),
        [](const ListedAction& c) { return c.way < kPreemptLowestPriority; });
  }

  void list_actions(const View& view, Memory& m) const {
    AgentState& kept = m.kept;
    RemainingTimes::Evaluator now = attach(view, m);
    const std::vector<Holder> holders = holders_of(view, m, now);
    const MlfStep step =
        mlf_step(view, m.total_s, config_.mlf_h.rule, kept.preemptions_left, m.given_up);
    kept.choices = 0;
    kept.expert_action = kRows;
    for (const int32_t slot : shown(view, m, now, step.slot)) {
      const auto add = [&](int32_t way) {
        const bool expert_action =
            slot == step.slot &&
            way == (step.victims.empty() ? kNearestIdeal : kPreemptLowestPriority);
        if (expert_action) kept.expert_action = kept.choices;
        kept.choice[kept.choices++] = {slot, way};
      };
      const std::vector<Piece> ideal = nearest_ideal_place(view, config_.mlf_h.rule, slot);
      if (!ideal.empty()) {
        add(kNearestIdeal);
        if (best_fit(view, slot) != ideal) add(kMinNodes);
        continue;
      }
      for (const int32_t way : {kPreemptLowestPriority, kPreemptLongest}) {
        if (!victims_for(view, m, now, {slot, way}, holders).empty()) add(way);
      }
    }
  }

  void describe_job(const View& view, const Memory& m, RemainingTimes::Evaluator& now,
                    const ListedAction& c, double highest, float* f) const {
    const int32_t slot = c.slot;
    const double left_s = now.seconds(slot);
    const double ran_s = 1e-6 * static_cast<double>(view.attained_us(slot));
    std::fill_n(f, int{kRowFeatures}, 0.0F);
    f[kSize] = log2_of(view.weight_gpus(slot)) / 4;
    f[kParts] = static_cast<float>(mlf_partitions(view, slot)) / 4;
    f[kUrgency] = static_cast<float>(view.priority(slot)) / 10;
    f[kPriority] = log2_of(std::max(priority_of(view, m, slot) / highest, 1e-6)) / 8;
    f[kLeft] = log2_of_s(left_s);
    f[kRan] = log2_of_s(ran_s);
    f[kWaited] =
        log2_of_s(1e-6 * static_cast<double>(view.now_us() - view.submit_us(slot)) - ran_s);
    const double due_s = 1e-6 * static_cast<double>(view.due_us(slot) - view.now_us());
    if (view.due_us(slot) != kNone && due_s > 0) {
      f[kDue] = 1;
      f[kSlack] = std::copysign(log2_of(1 + std::abs(due_s - left_s) / 60) / 8,
                                static_cast<float>(due_s - left_s));
    }
    if (view.may_end(slot)) f[kAccuracy] = static_cast<float>(mlf_accuracy(view, slot));
    f[kWay + c.way] = 1;
  }

  static void describe_place(const View& view, const ThroughputModel& throughputs, int32_t slot,
                             const std::vector<Piece>& there, float* f) {
    const TaskPlacer placer(view);
    const double best = throughputs.best_throughput(slot),
                 rate = throughputs.throughput(slot, there, {});
    if (best > 0 && rate > 0) f[kRate] = log2_of(std::clamp(rate / best, 1.0 / 16, 16.0));
    std::vector<int32_t> nodes;
    double fullest = 0;
    for (const Piece& p : there) {
      if (std::ranges::find(nodes, p.node) == nodes.end()) nodes.push_back(p.node);
      const double takes = placer.need(slot, p.group, p.node).cpus * std::max(p.tasks, 1);
      fullest = std::max(fullest, 1 - placer.room(p.node).cpus + takes);
    }
    f[kNodes] = log2_of(static_cast<double>(nodes.size())) / 2;
    f[kCrowding] = static_cast<float>(fullest);
  }

  void describe_victims(const View& view, const Memory& m, const ListedAction& c,
                        const std::vector<Holder>& stops, float* f) const {
    int32_t gpus = view.free_gpus(), stopped = 0;
    double left_s = 1e9, priority = 0;
    int64_t began_us = 0;
    for (const Holder& h : stops) {
      if (gpus >= view.gpus(c.slot)) break;
      gpus += view.gpus(h.slot);
      stopped += view.gpus(h.slot);
      left_s = std::min(left_s, h.left_s);
      priority = std::max(priority, h.priority);
      began_us = std::max(began_us, view.until_us(h.slot));
    }
    f[kVictimGpus] = static_cast<float>(stopped) / static_cast<float>(view.weight_gpus(c.slot)) / 4;
    if (stopped == 0) return;  // GPUs suffice, but not where its tasks fit
    f[kVictimTimeLeft] = log2_of_s(left_s);
    f[kVictimPriority] =
        log2_of(std::clamp(priority_of(view, m, c.slot) / priority, 1e-6, 1e6)) / 8;
    f[kVictimRunTime] = log2_of_s(1e-6 * static_cast<double>(view.now_us() - began_us));
  }

  void describe_cluster(const View& view, const Memory& m, float* f) const {
    const TaskPlacer placer(view);
    const int32_t nodes = view.spec().num_nodes;
    double cores = 0, overloaded = 0;
    for (int32_t node = 0; node < nodes; ++node) {
      const double free = placer.room(node).cpus;
      cores += free / nodes;
      overloaded += free < 1 - config_.mlf_h.rule.overloaded ? 1.0 / nodes : 0;
    }
    const auto total = static_cast<float>(view.total_gpus());
    f[kFree] = static_cast<float>(view.free_gpus()) / total;
    f[kCoresFree] = static_cast<float>(cores);
    f[kQueue] = std::min(4.0F, static_cast<float>(view.waiting_gpus()) / total);
    f[kWaiting] = log2_of(1.0 + view.num_waiting()) / 8;
    f[kLive] = log2_of(1.0 + view.num_live()) / 8;
    f[kOverloaded] = static_cast<float>(overloaded);
    f[kRound] = m.kept.preemptions_left > 0;
  }

  Config config_;
  RemainingTimes remaining_times_;
};

const RowTasks::Add<Mlfs> kMlfs{
    "mlfs",
    {.about = "decides which jobs start, where, which are preempted and, with MLF-C, end early",
     .source = "Wang, Liu and Shen, MLFS, CoNEXT 2020",
     .fidelity = "goals and weights as published; MLF-H as prior, not imitated first; our network, "
                 "shapes, predictor; deadlines and losses reveal run times, as in the paper",
     .level = Level::kHistory,
     .preemptive = true,
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
