// Agent `mlfs`, after MLFS (Wang, Liu and Shen, "Job scheduling for large-scale machine learning
// clusters", CoNEXT 2020): which jobs start, on which servers, and which are preempted for them.
// With `load_control`, MLF-C ends jobs early (env/scheduling/mlf_load.h).
//
// From the paper: the reward (equation 7, mlfs_goals.h), the kinds of features, a policy gradient
// that begins as MLF-H, and rounds of a minute. Adapted: MLF-H is the prior, not imitated first; an
// action starts one job in one way; at most twelve waiting jobs are shown; survival_index.h
// predicts run times.
#include <algorithm>
#include <cmath>
#include <utility>

#include "env/predict/rolling_estimate.h"
#include "env/scheduling/mlf_config.h"
#include "env/scheduling/preempt_to_start.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/task_placer.h"
#include "env/sim/placement/throughput_model.h"
#include "env/task/agent.h"
#include "env/task/mlfs_goals.h"
#include "env/task/remaining_times.h"

namespace yard {
namespace {

constexpr int kShown = 12;  // waiting jobs
enum Way : int32_t { kNearestIdeal, kMinNodes, kPreemptLowestPriority, kPreemptLongest, kWays };
constexpr int kRows = kShown * kWays;
constexpr int64_t kRapidRepreemptionUs = 1'000'000;
constexpr int kMaxSameClass = 2;  // shown jobs of one size class

struct RowFeatures {
  float size, parts, urgency, priority, left, ran, waited, slack, due, accuracy;
  float rate, nodes, crowding, way[kWays];
  float victim_gpus, victim_time_left, victim_priority, victim_run_time;
};
struct StateFeatures {
  float free, cores_free, queue, waiting, live, overloaded, round;
};

struct Config {
  MlfsPolicyConfig mlf_h;
  MlfsRewardConfig goals;
  double prior_gap = 1;
  double stop_gap = 3;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the expert action");
    f("stop_gap", stop_gap, 0.0, 100.0,
      "additional logit penalty of preemptions other than the expert action");
    mlf_h.fields(f);
    goals.fields(f);
  }
};

RemainingTimes::Config remaining_times_config() {
  RemainingTimes::Config out;
  out.keep_s = 600;
  return out;
}

// Memory of the agent; the predictors' memories are behind it.
struct AgentState {
  double met, satisfied, accuracy;  // jobs in time, with sufficient accuracy, sum of accuracies
  double due, measured;             // jobs with a deadline, with an accuracy
  int32_t preemptions_left;         // jobs that MLF-H may still preempt in this decision
  int32_t round_done;               // 1: the decision took the no-op
};

class Mlfs final : public ConfiguredAgent<Config> {
 public:
  explicit Mlfs(const Settings& settings)
      : ConfiguredAgent(settings), remaining_times_(remaining_times_config()) {}

  int32_t max_actions() const override { return kRows; }
  std::vector<Feature> action_features() const override {
    return {{"size", "log2 of its GPUs, over 4"},
            {"parts", "number of its model's partitions, in quarters"},
            {"urgency", "in tenths"},
            {"priority", "log2 of its MLF-H priority over the highest of waiting jobs, over 8"},
            {"left", "log2 s predicted left, minus 12, over 8"},
            {"ran", "log2 s run so far, minus 12, over 8"},
            {"waited", "log2 s waited since submission, minus 12, over 8"},
            {"slack", "signed log2 min of time to its deadline minus time left, over 8"},
            {"due", "1: it has a deadline that is not past"},
            {"accuracy", "share of its sufficient accuracy reached; 0: not measured"},
            {"rate", "log2 of its throughput there over its best; 0 with preemption"},
            {"nodes", "log2 of its nodes, over 2; likewise"},
            {"crowding", "share of cores in use on its fullest node, the job included"},
            {"nearest_ideal", "1: on the nodes nearest to MLF-H's ideal"},
            {"min_nodes", "1: on the fewest nodes"},
            {"preempt_lowest", "1: it preempts jobs of the lowest priority"},
            {"preempt_longest", "1: it preempts the jobs with the longest time left"},
            {"victim_gpus", "GPUs of the victims over its own, in quarters"},
            {"victim_left", "log2 s predicted left of the victim that would end first, scaled"},
            {"victim_priority", "log2 of its priority over the victims' highest, over 8"},
            {"victim_ran", "log2 s since the latest start of a victim, minus 12, over 8"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"free", "share of GPUs free"},
            {"cores_free", "share of cores free"},
            {"queue", "GPUs waited for over all GPUs, at most 4"},
            {"waiting", "log2 of 1 + waiting jobs, over 8"},
            {"live", "log2 of 1 + jobs in the system, over 8"},
            {"overloaded", "share of servers with more cores in use than the threshold"},
            {"round", "1: MLF-H may preempt jobs"}};
  }
  int feature_version() const override { return 2; }
  InformationLevel level() const override { return InformationLevel::kHistory; }
  PolicyWithSettings expert() const override {
    return policy_with_settings("mlf-h", config_.mlf_h);
  }

  bool preempts() const override { return true; }

  size_t memory_bytes(const View& view) const override {
    return BumpAllocator::bytes<AgentState>(1) + BumpAllocator::bytes<uint8_t>(view.num_slots()) +
           RollingEstimate::bytes(view) + remaining_times_.bytes(view);
  }

  void on_events(const View& view, AgentMemory& memory) const override {
    Memory m(view, memory.data());
    m.estimate.on_events(view);
    BumpAllocator bump(m.lengths);
    const RemainingTimes::Evaluator now(remaining_times_, view, bump);
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed_slot(i);
      if (!view.ended_after_running(slot)) continue;
      m.kept.met +=
          view.first_deadline_us(slot) != kNone && view.now_us() <= view.first_deadline_us(slot);
      m.kept.due += view.first_deadline_us(slot) != kNone;
      if (!view.may_end_early(slot)) continue;
      ++m.kept.measured;
      const double accuracy = mlfs_progress_to_target(view, slot);
      m.kept.accuracy += accuracy;
      m.kept.satisfied += accuracy >= 1;
    }
  }

  void begin_decision(const View& view, AgentMemory& memory) const override {
    Memory m(view, memory.data());
    m.kept.round_done = 0;
    m.kept.preemptions_left = mlfs_preemption_budget(view, m.total_s, config_.mlf_h.rule);
    std::fill_n(m.skipped_slots, view.num_slots(), uint8_t{0});
  }

  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    Memory m(view, memory.data());
    if (m.kept.round_done != 0 || view.num_waiting() == 0) return;
    const bool has_room = list_actions(view, m, out);
    if (out.empty()) return;
    // If a job has room, one must start, as in MLF-H. If nothing runs, waiting is useless.
    out.noop_legal = !has_room && view.num_holders() > 0;
    if (out.expert != kNone) out.actions[static_cast<size_t>(out.expert)].index = kExpert;
    if (out.expert == kNone && !out.noop_legal) out.expert = 0;
    out.set_priors_for_expert(config_.prior_gap);
    for (int32_t i = 0; i < out.size(); ++i) {
      Action& a = out.actions[static_cast<size_t>(i)];
      if (is_preemption(a) && i != out.expert) a.prior -= static_cast<float>(config_.stop_gap);
    }
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    Memory m(view, memory.data());
    RemainingTimes::Evaluator now = attach(view, m);
    const ThroughputModel throughputs(view);
    const std::vector<Holder> holders = holders_of(view, m, now);
    const double highest = highest_priority(view, m);
    for (const Action& a : list.actions) {
      auto& f = append_feature_row<RowFeatures>(out);
      describe_job(view, m, now, a, highest, f);
      if (is_preemption(a)) {
        describe_victims(view, m, a, victims_for(view, m, now, a, holders), f);
      } else {
        describe_place(view, throughputs, a.slot, place_for(view, a), f);
      }
    }
  }
  void describe_state(const View& view, AgentMemory& memory, const ActionList&,
                      float* out) const override {
    auto& f = append_feature_row<StateFeatures>(out);
    const TaskPlacer placer(view);
    const int32_t nodes = view.spec().num_nodes;
    double cores = 0, overloaded = 0;
    for (int32_t node = 0; node < nodes; ++node) {
      const double free = placer.free_shares(node).cpus;
      cores += free / nodes;
      overloaded += free < 1 - config_.mlf_h.rule.overloaded ? 1.0 / nodes : 0;
    }
    const auto total = static_cast<float>(view.total_gpus());
    f.free = static_cast<float>(view.free_gpus()) / total;
    f.cores_free = static_cast<float>(cores);
    f.queue = std::min(4.0F, static_cast<float>(view.gpus_requested_by_waiting()) / total);
    f.waiting = log2_of(1.0 + view.num_waiting()) / 8;
    f.live = log2_of(1.0 + view.num_live()) / 8;
    f.overloaded = static_cast<float>(overloaded);
    f.round = Memory(view, memory.data()).kept.preemptions_left > 0;
  }

  void apply(const View& view, AgentMemory& memory, const Action& action,
             Draft& draft) const override {
    Memory m(view, memory.data());
    if (action.is_noop()) {
      m.kept.round_done = 1;
      return;
    }
    const int32_t held = view.num_holders();
    bool started;
    if (!is_preemption(action)) {
      started = draft.start(action.slot, place_for(view, action));
    } else {
      RemainingTimes::Evaluator now = attach(view, m);
      std::vector<int32_t> stops;
      if (action.index == kExpert) {  // MLF-H's own: lowest priority first, as many as it may
        stops = mlfs_next_start(view, m.total_s, config_.mlf_h.rule, m.kept.preemptions_left,
                                m.skipped_slots)
                    .victims;
      } else {
        for (const Holder& h : victims_for(view, m, now, action, holders_of(view, m, now))) {
          stops.push_back(h.slot);
        }
      }
      started = preempt_to_start(view, action.slot, stops, draft);
    }
    if (started) {
      m.kept.preemptions_left =
          std::max(0, m.kept.preemptions_left - (held + 1 - view.num_holders()));
    } else {
      m.skipped_slots[action.slot] = 1;
    }
  }

  void commit(const View& view, AgentMemory&, Draft& draft) const override {
    draft.put_stops_first();
    if (view.num_waiting() > 0 && view.num_holders() > 0 && view.may_preempt()) {
      draft.wake_at(view.now_us() + config_.mlf_h.rule.round_length_us());
    }
    if (!config_.mlf_h.load.on) return;
    const int32_t held = view.num_holders();
    mlfs_end_jobs_early(view, config_.mlf_h.load, config_.mlf_h.rule.round_length_us(), draft);
    // Decide again, so that waiting jobs can use what became free.
    if (view.num_holders() < held && view.num_waiting() > 0)
      draft.wake_at(view.now_us() + kRapidRepreemptionUs);
  }

  // Equation 7: the goals as sums, in their units.
  double cumulative_reward(const View& view, const AgentMemory& memory,
                           double job_s) const override {
    const AgentState& kept = *reinterpret_cast<const AgentState*>(memory.data());
    return config_.goals.reward({job_s, kept.met, view.bytes_moved_between_nodes(), kept.satisfied,
                                 kept.accuracy, kept.due, kept.measured});
  }

 private:
  static constexpr int32_t kExpert = 1;  // index of the action which MLF-H takes

  static bool is_preemption(const Action& a) { return a.kind >= kPreemptLowestPriority; }

  struct Memory {
    Memory(const View& view, std::byte* at) : Memory(view, BumpAllocator(at)) {}
    Memory(const Memory&) = delete;
    AgentState& kept;
    uint8_t* skipped_slots;  // (S) in this decision
    RollingEstimate estimate;
    RunEstimate total_s;
    std::byte* lengths;  // of the survival index

   private:
    Memory(const View& view, BumpAllocator bump)
        : kept(*bump.allocate<AgentState>(1)),
          skipped_slots(bump.allocate<uint8_t>(view.num_slots())),
          estimate(view, bump),
          total_s([this, &view](int32_t slot) { return estimate.predicted_total_s(view, slot); }),
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
    for (const auto& [slot, priority] :
         mlfs_preemptible_jobs(view, m.total_s, config_.mlf_h.rule)) {
      out.push_back({slot, priority, now.seconds(slot)});
    }
    return out;
  }

  // Returns the first jobs that rank after the job in the way's order, until they release the
  // GPUs it needs. Returns none if they never do.
  std::vector<Holder> victims_for(const View& view, const Memory& m, RemainingTimes::Evaluator& now,
                                  const Action& c, std::vector<Holder> holders) const {
    if (c.kind == kPreemptLongest) {
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

  std::vector<Piece> place_for(const View& view, const Action& c) const {
    return c.kind == kMinNodes ? best_fit(view, c.slot)
                               : mlfs_place_near_ideal_server(view, config_.mlf_h.rule, c.slot);
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
      if (m.skipped_slots[slot] != 0 || !view.within_tenant_limit(slot)) continue;
      all.push_back({priority_of(view, m, slot), now.seconds(slot), view.queue_rank(slot), slot});
    }
    std::vector<int32_t> out;
    if (first != kNone) out.push_back(first);
    const auto add_first = [&](size_t most) {
      std::vector<int32_t> classes;
      for (const Waiting& w : all) {
        if (out.size() == most) return;
        const int32_t k = view.request_class(w.slot);
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

  // Returns whether a job has room without preemption.
  bool list_actions(const View& view, Memory& m, ActionList& out) const {
    RemainingTimes::Evaluator now = attach(view, m);
    const std::vector<Holder> holders = holders_of(view, m, now);
    const MlfsNextStart step = mlfs_next_start(view, m.total_s, config_.mlf_h.rule,
                                               m.kept.preemptions_left, m.skipped_slots);
    bool has_room = false;
    for (const int32_t slot : shown(view, m, now, step.slot)) {
      const auto add = [&](int32_t way) {
        const bool expert_action =
            slot == step.slot &&
            way == (step.victims.empty() ? kNearestIdeal : kPreemptLowestPriority);
        if (expert_action) out.expert = out.size();
        out.actions.push_back({.slot = slot, .kind = way});
      };
      const std::vector<Piece> ideal = mlfs_place_near_ideal_server(view, config_.mlf_h.rule, slot);
      if (!ideal.empty()) {
        has_room = true;
        add(kNearestIdeal);
        if (best_fit(view, slot) != ideal) add(kMinNodes);
        continue;
      }
      for (const int32_t way : {kPreemptLowestPriority, kPreemptLongest}) {
        const Action preemption{.slot = slot, .kind = way};
        if (!victims_for(view, m, now, preemption, holders).empty()) add(way);
      }
    }
    return has_room;
  }

  void describe_job(const View& view, const Memory& m, RemainingTimes::Evaluator& now,
                    const Action& c, double highest, RowFeatures& f) const {
    const int32_t slot = c.slot;
    const double left_s = now.seconds(slot);
    const double ran_s = 1e-6 * static_cast<double>(view.attained_us(slot));
    f.size = log2_of(view.gpus_at_least_one(slot)) / 4;
    f.parts = static_cast<float>(mlfs_num_model_partitions(view, slot)) / 4;
    f.urgency = static_cast<float>(view.priority(slot)) / 10;
    f.priority = log2_of(std::max(priority_of(view, m, slot) / highest, 1e-6)) / 8;
    f.left = scaled_log2_seconds(left_s);
    f.ran = scaled_log2_seconds(ran_s);
    f.waited = scaled_log2_seconds(
        1e-6 * static_cast<double>(view.now_us() - view.submit_us(slot)) - ran_s);
    const double due_s = 1e-6 * static_cast<double>(view.first_deadline_us(slot) - view.now_us());
    if (view.first_deadline_us(slot) != kNone && due_s > 0) {
      f.due = 1;
      f.slack = std::copysign(log2_of(1 + std::abs(due_s - left_s) / 60) / 8,
                              static_cast<float>(due_s - left_s));
    }
    if (view.may_end_early(slot))
      f.accuracy = static_cast<float>(mlfs_progress_to_target(view, slot));
    f.way[c.kind] = 1;
  }

  static void describe_place(const View& view, const ThroughputModel& throughputs, int32_t slot,
                             const std::vector<Piece>& there, RowFeatures& f) {
    const TaskPlacer placer(view);
    const double best = throughputs.best_throughput(slot),
                 rate = throughputs.throughput(slot, there, {});
    if (best > 0 && rate > 0) f.rate = log2_of(std::clamp(rate / best, 1.0 / 16, 16.0));
    std::vector<int32_t> nodes;
    double fullest = 0;
    for (const Piece& p : there) {
      if (std::ranges::find(nodes, p.node) == nodes.end()) nodes.push_back(p.node);
      const double takes = placer.needed_shares(slot, p.group, p.node).cpus * std::max(p.tasks, 1);
      fullest = std::max(fullest, 1 - placer.free_shares(p.node).cpus + takes);
    }
    f.nodes = log2_of(static_cast<double>(nodes.size())) / 2;
    f.crowding = static_cast<float>(fullest);
  }

  void describe_victims(const View& view, const Memory& m, const Action& c,
                        const std::vector<Holder>& stops, RowFeatures& f) const {
    int32_t gpus = view.free_gpus(), stopped = 0;
    double left_s = 1e9, priority = 0;
    int64_t began_us = 0;
    for (const Holder& h : stops) {
      if (gpus >= view.gpus(c.slot)) break;
      gpus += view.gpus(h.slot);
      stopped += view.gpus(h.slot);
      left_s = std::min(left_s, h.left_s);
      priority = std::max(priority, h.priority);
      began_us = std::max(began_us, view.transition_end_us(h.slot));
    }
    f.victim_gpus =
        static_cast<float>(stopped) / static_cast<float>(view.gpus_at_least_one(c.slot)) / 4;
    if (stopped == 0) return;  // GPUs suffice, but not where its tasks fit
    f.victim_time_left = scaled_log2_seconds(left_s);
    f.victim_priority = log2_of(std::clamp(priority_of(view, m, c.slot) / priority, 1e-6, 1e6)) / 8;
    f.victim_run_time = scaled_log2_seconds(1e-6 * static_cast<double>(view.now_us() - began_us));
  }

  RemainingTimes remaining_times_;
};

const AgentRegistry::Add<Mlfs> kMlfs{
    "mlfs",
    {.about = "decides which jobs start, where, which are preempted and, with MLF-C, end early",
     .source = "Wang, Liu and Shen, MLFS, CoNEXT 2020",
     .fidelity = "goals and weights as published; MLF-H as prior, not imitated first; our network, "
                 "shapes, predictor; deadlines and losses reveal run times, as in the paper",
     .level = InformationLevel::kHistory,
     .preemptive = true,
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
