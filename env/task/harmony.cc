// Agent `harmony` (Bao, Peng and Wu, "Deep learning-based job placement in distributed machine
// learning clusters", INFOCOM 2019): places workers and parameter servers, one task per step. An
// action is (job, role, server). Running jobs are neither moved nor preempted.
//
// From two sets of notes on the paper: the actions and the reward. Optional: its actor-critic
// (experiments/configs/harmony-paper.yaml). Adapted: learner `group`; decisions at every event, not
// every 20 minutes; a job starts only once all its tasks have a place; plain jobs are placed in
// order of arrival; at most four jobs and, per role, sixteen servers are shown, the emptiest and
// the fullest. A linear model, learned online (env/scheduling/colocation_model.h), predicts speeds.
#include <algorithm>
#include <optional>

#include "env/scheduling/colocation_model.h"
#include "env/sim/placement/task_placer.h"
#include "env/task/agent.h"
#include "env/task/partial_job.h"
#include "env/task/progress.h"

namespace yard {
namespace {

using partial_job::add, partial_job::num_requested_tasks_or_gpus,
    partial_job::can_complete_placement, partial_job::num_role_groups;
using partial_job::total_requested_tasks_or_gpus, partial_job::has_room_for_task,
    partial_job::unplaced_tasks;

constexpr int kJobs = 4, kRoles = 2, kServers = 16;
constexpr int kRows = kJobs * kRoles * kServers;
constexpr double kTogether = 2;  // exceeds the largest free share, which is 1
constexpr int kMaxTasks = 64;    // per job; larger jobs are placed by load balancing

struct RowFeatures {
  float worker, tasks, tasks_left, length, no_length, waited, order;
  float gpus_free, cpus_free, mem_free, gpus_taken, cpus_taken;
  float own, own_any, others, speed, interference_cost;
};
struct StateFeatures {
  float gpus, cpus, waiting, live, begun;
};

struct Config {
  double prior_gap = 1;
  std::string model = "learned";
  bool lengths = true;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the expert action");
    f("model", model, {"learned", "measured", "none"},
      "source of predicted speeds in the features: learned from running jobs, measured (results "
      "are a bound), or none");
    f("lengths", lengths, "include users' run-time estimates in the features");
  }
};

// A possible action: place a task of the job's group on the node.
struct ListedAction {
  int32_t slot, group, node;
};

// The job that is being placed, and its placed tasks.
struct PartialPlacement {
  int32_t slot, count;
  int16_t group[kMaxTasks];
  int32_t node[kMaxTasks];
};

class Harmony final : public ConfiguredAgent<Config> {
 public:
  using ConfiguredAgent::ConfiguredAgent;

  int32_t max_actions() const override { return kRows; }
  std::vector<Feature> action_features() const override {
    return {{"worker", "1: the task holds GPUs"},
            {"tasks", "log2 of the job's tasks, over 4"},
            {"tasks_left", "share of them without a placement"},
            {"length", "log2 s of the user's limit, minus 12, over 8; 0: none"},
            {"no_length", "1: no limit"},
            {"waited", "log2 s, minus 12, over 8"},
            {"order", "position in the queue, in eighths"},
            {"gpus_free", "share of the server's GPUs free before the task"},
            {"cpus_free", "share of its cores free"},
            {"mem_free", "share of its memory free"},
            {"gpus_taken", "share of its GPUs that the task takes"},
            {"cpus_taken", "share of its cores that the task takes"},
            {"own", "tasks of this job placed there, in eighths"},
            {"own_any", "1: some are"},
            {"others", "jobs that hold GPUs there, in quarters"},
            {"speed", "log2 of its speed with this task over its isolated speed; 0: no workers"},
            {"interference_cost", "interference cost in GPUs"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"gpus", "share of GPUs free"},
            {"cpus", "mean share of a server's cores free"},
            {"waiting", "log2 of 1 + waiting jobs, over 8"},
            {"live", "log2 of 1 + jobs in the system, over 8"},
            {"begun", "1: some tasks of a job are placed"}};
  }
  int feature_version() const override { return 3; }
  InformationLevel level() const override { return InformationLevel::kEstimate; }
  PolicyWithSettings expert() const override { return {"least-loaded", {}}; }

  size_t memory_bytes(const View& view) const override {
    return decision_bytes(view) + (learns() ? ColocationModel::Learned::bytes(view) : 0);
  }
  void on_events(const View& view, AgentMemory& memory) const override {
    if (!learns()) return;
    const ColocationModel::Learned learned = learned_by(view, memory.data());
    learned.begin(ColocationModel::initial_weights());
    learned.on_events(view);
  }
  void begin_decision(const View& view, AgentMemory& memory) const override {
    std::fill_n(memory.data(), decision_bytes(view), std::byte{0});
    partial(memory.data()).slot = kNone;
  }

  // Ordered by job, role (the kind) and server (the index).
  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    if (view.num_waiting() == 0) return;
    const std::vector<ListedAction> all = list_actions(view, memory.data());
    if (all.empty()) return;
    for (const ListedAction& c : all) {
      out.actions.push_back({.slot = c.slot, .kind = c.group, .index = c.node});
    }
    const std::vector<Piece> pieces = pieces_of(view, partial(memory.data()));
    out.noop_legal = false;
    const auto balanced = [&](const ListedAction& c) { return balance_score(view, c, pieces); };
    out.expert = best_server(all, balanced);
    out.set_priors_for_expert(config_.prior_gap);
    if (!out.needs_exploration) return;
    // Bin packing: the least free share that suffices.
    const auto packed = [&](const ListedAction& c) {
      return -free_shares(view, c, pieces).min_share();
    };
    for (const int32_t i : {out.expert, best_server(all, packed)}) {
      out.actions[static_cast<size_t>(i)].explore = true;
    }
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    const ThroughputModel throughputs(view);
    std::optional<ColocationModel::Learned> learned;
    std::optional<ColocationModel> colocation;
    if (learns()) {
      colocation.emplace(view, throughputs, learned.emplace(learned_by(view, memory.data())));
    }
    const std::vector<Piece> pieces = pieces_of(view, partial(memory.data()));
    int32_t order = 0, last = list.actions[0].slot;
    for (const Action& a : list.actions) {
      order += a.slot != last;
      last = a.slot;
      auto& f = append_feature_row<RowFeatures>(out);
      write_choice(view, throughputs, {a.slot, a.kind, a.index}, pieces, order, f);
      std::vector<Piece> with = pieces;
      add(view, a.slot, a.kind, a.index, with);
      if (colocation) write_learned(*colocation, a.slot, with, f);
      if (config_.model == "measured") write_measured(throughputs, a.slot, with, f);
    }
  }
  void describe_state(const View& view, AgentMemory& memory, const ActionList&,
                      float* out) const override {
    auto& f = append_feature_row<StateFeatures>(out);
    const SpecColumns& spec = view.spec();
    const TaskPlacer placer(view);
    double cpus = 0;
    for (int32_t node = 0; node < spec.num_nodes; ++node) cpus += placer.free_shares(node).cpus;
    f.gpus = static_cast<float>(view.free_gpus()) / static_cast<float>(view.total_gpus());
    f.cpus = static_cast<float>(cpus / std::max(1, spec.num_nodes));
    f.waiting = log2_of(1.0 + view.num_waiting()) / 8;
    f.live = log2_of(1.0 + view.num_live()) / 8;
    f.begun = partial(memory.data()).slot != kNone;
  }

  void apply(const View& view, AgentMemory& memory, const Action& action,
             Draft& draft) const override {
    PartialPlacement& b = partial(memory.data());
    b.slot = action.slot;
    b.group[b.count] = static_cast<int16_t>(action.kind);
    b.node[b.count++] = action.index;
    if (b.count < total_requested_tasks_or_gpus(view, b.slot)) return;
    const std::vector<Piece> pieces = pieces_of(view, b);
    if (!draft.start(b.slot, pieces.data(), static_cast<int32_t>(pieces.size())) &&
        !start_balanced(view, b.slot, draft)) {
      skipped_slots(memory.data(), b.slot) = 1;
    }
    b.slot = kNone;
    b.count = 0;
  }

  void commit(const View& view, AgentMemory& memory, Draft& draft) const override {
    start_inexpressible(view, draft);
    if (!learns()) return;
    const ThroughputModel throughputs(view);
    const ColocationModel::Learned learned = learned_by(view, memory.data());
    const ColocationModel colocation(view, throughputs, learned);
    learned.scan(view, [&](int32_t slot) { return colocation.terms(slot); });
  }

  double cumulative_reward(const View& view, const AgentMemory&, double) const override {
    return total_job_progress(view);
  }

 private:
  bool learns() const { return config_.model == "learned"; }

  // Bytes that are cleared when a decision begins: the job being placed and, by slot, whether a job
  // was given up. The learned model is behind them.
  static size_t decision_bytes(const View& view) {
    return BumpAllocator::bytes<PartialPlacement>(1) +
           BumpAllocator::bytes<uint8_t>(view.num_slots());
  }
  static PartialPlacement& partial(std::byte* memory) {
    return *reinterpret_cast<PartialPlacement*>(memory);
  }
  static uint8_t& skipped_slots(std::byte* memory, int32_t slot) {
    return reinterpret_cast<uint8_t*>(memory + BumpAllocator::bytes<PartialPlacement>(1))[slot];
  }
  static ColocationModel::Learned learned_by(const View& view, std::byte* memory) {
    BumpAllocator bump(memory + decision_bytes(view));
    return {view, bump};
  }

  // Starts jobs that the actions cannot express, so that they do not wait forever.
  static void start_inexpressible(const View& view, Draft& draft) {
    std::vector<int32_t> others, unplaceable;  // slots, classes
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      if (!is_expressible(view, slot)) others.push_back(slot);
    }
    for (const int32_t slot : others) {
      if (std::ranges::count(unplaceable, view.request_class(slot)) > 0) continue;
      if (!start_balanced(view, slot, draft)) unplaceable.push_back(view.request_class(slot));
    }
  }

  static bool is_expressible(const View& view, int32_t slot) {
    return total_requested_tasks_or_gpus(view, slot) <= kMaxTasks &&
           num_role_groups(view, slot) <= kRoles;
  }

  static bool start_balanced(const View& view, int32_t slot, Draft& draft) {
    const auto least_used = [](const TaskPlacer::CandidateNode& at) { return at.room.min_share(); };
    const int32_t n = TaskPlacer(view).place(slot, {}, least_used, draft.scratch());
    return n > 0 && draft.start(slot, draft.scratch(), n);
  }

  // Sorted by group, as a start requires.
  static std::vector<Piece> pieces_of(const View& view, const PartialPlacement& b) {
    std::vector<Piece> out;
    for (int32_t k = 0; k < b.count; ++k) add(view, b.slot, b.group[k], b.node[k], out);
    std::ranges::stable_sort(out, {}, &Piece::group);
    return out;
  }

  // Returns the job being placed; else the first jobs in the queue that fit, one per size class.
  // A plain job ends the list, because later jobs could fragment the space it needs.
  static std::vector<int32_t> candidates(const View& view, std::byte* memory) {
    if (partial(memory).slot != kNone) return {partial(memory).slot};
    std::vector<int32_t> out;
    std::vector<int32_t> unplaceable;  // classes
    for (int32_t slot = view.queue_head(); slot != kNone && out.size() < kJobs;
         slot = view.queue_next(slot)) {
      if (skipped_slots(memory, slot) != 0 || !is_expressible(view, slot) ||
          !view.within_tenant_limit(slot) ||
          std::ranges::count(unplaceable, view.request_class(slot)) > 0) {
        continue;
      }
      if (can_complete_placement(view, slot, {})) {
        out.push_back(slot);
        if (!view.shaped(slot)) break;
      } else {
        unplaceable.push_back(view.request_class(slot));
      }
    }
    return out;
  }

  // The free share; a plain job prefers nodes which it uses, then nodes which can hold all of it.
  static double balance_score(const View& view, const ListedAction& c,
                              std::span<const Piece> pieces) {
    const double room = free_shares(view, c, pieces).min_share();
    if (view.shaped(c.slot)) return room;
    const bool continues =
        std::ranges::any_of(pieces, [&](const Piece& p) { return p.node == c.node; });
    const bool whole = pieces.empty() && view.node_free_gpus(c.node) >= view.gpus(c.slot);
    return room + kTogether * continues + kTogether * whole;
  }

  static TaskPlacer::Shares free_shares(const View& view, const ListedAction& c,
                                        std::span<const Piece> pieces) {
    const TaskPlacer placer(view);
    TaskPlacer::Shares room = placer.free_shares(c.node);
    for (const Piece& p : pieces) {
      if (p.node != c.node) continue;
      const TaskPlacer::Shares one = placer.needed_shares(c.slot, p.group, c.node);
      const int32_t n = view.shaped(c.slot) ? p.tasks : p.gpus;
      room = {room.gpus - n * one.gpus, room.cpus - n * one.cpus, room.mem - n * one.mem};
    }
    return room;
  }

  static std::vector<ListedAction> list_actions(const View& view, std::byte* memory) {
    std::vector<ListedAction> out;
    for (const int32_t slot : candidates(view, memory)) {
      const bool continues = partial(memory).slot == slot;
      const std::vector<Piece> pieces =
          continues ? pieces_of(view, partial(memory)) : std::vector<Piece>();
      const std::vector<int32_t> left = unplaced_tasks(view, slot, pieces);
      for (int32_t g = 0; g < static_cast<int32_t>(left.size()); ++g) {
        if (left[static_cast<size_t>(g)] == 0) continue;
        const std::vector<ListedAction> here = servers(view, slot, g, pieces);
        out.insert(out.end(), here.begin(), here.end());
      }
    }
    return out;
  }

  // Returns the nodes that can hold the task so that the others still fit; for a plain job only
  // nodes that can hold all of it, if any. If too many: the best and the worst by load balancing.
  static std::vector<ListedAction> servers(const View& view, int32_t slot, int32_t group,
                                           const std::vector<Piece>& pieces) {
    std::vector<std::pair<double, ListedAction>> all;
    for (int32_t node = 0; node < view.spec().num_nodes; ++node) {
      const ListedAction c{slot, group, node};
      if (has_room_for_task(view, slot, pieces, group, node))
        all.emplace_back(balance_score(view, c, pieces), c);
    }
    std::ranges::stable_sort(all, std::greater(), [](const auto& one) { return one.first; });
    if (!view.shaped(slot) && !all.empty() && all.front().first >= kTogether) {
      std::erase_if(all, [](const auto& one) { return one.first < kTogether; });
    }
    std::vector<ListedAction> out;
    const auto can_complete_with = [&](const ListedAction& c) {
      std::vector<Piece> with = pieces;
      add(view, slot, group, c.node, with);
      return can_complete_placement(view, slot, with);
    };
    size_t from = 0, to = all.size();
    for (; from < to && out.size() < kServers / 2; ++from) {
      if (can_complete_with(all[from].second)) out.push_back(all[from].second);
    }
    for (; from < to && out.size() < kServers; --to) {
      if (can_complete_with(all[to - 1].second)) out.push_back(all[to - 1].second);
    }
    std::ranges::sort(out, {}, &ListedAction::node);
    return out;
  }

  // Considers the next task of the first job. Returns the row of the server with the highest score.
  template <class Score>
  static int32_t best_server(std::span<const ListedAction> all, const Score& score) {
    size_t best = 0;
    for (size_t row = 1; row < all.size(); ++row) {
      if (all[row].slot != all[0].slot || all[row].group != all[0].group) break;
      if (score(all[row]) > score(all[best])) best = row;
    }
    return static_cast<int32_t>(best);
  }

  void write_choice(const View& view, const ThroughputModel& throughputs, const ListedAction& c,
                    const std::vector<Piece>& pieces, int32_t order, RowFeatures& f) const {
    const TaskPlacer placer(view);
    const TaskPlacer::Shares room = free_shares(view, c, pieces);
    const TaskPlacer::Shares takes = placer.needed_shares(c.slot, c.group, c.node);
    const std::vector<int32_t> left = unplaced_tasks(view, c.slot, pieces);
    int32_t without = 0, own = 0;
    for (const int32_t n : left) without += n;
    for (const Piece& p : pieces) {
      if (p.node == c.node) own += view.shaped(c.slot) ? p.tasks : p.gpus;
    }
    const int64_t limit_us = config_.lengths ? view.limit_us(c.slot) : -1;
    const int32_t tasks = total_requested_tasks_or_gpus(view, c.slot);
    f.worker = takes.gpus > 0;
    f.tasks = log2_of(tasks) / 4;
    f.tasks_left = static_cast<float>(without) / static_cast<float>(tasks);
    if (limit_us > 0) f.length = scaled_log2_seconds(1e-6 * static_cast<double>(limit_us));
    f.no_length = limit_us <= 0;
    f.waited = scaled_log2_seconds(
        1e-6 * static_cast<double>(view.now_us() - view.phase_or_rate_since_us(c.slot)));
    f.order = static_cast<float>(order) / 8;
    f.gpus_free = static_cast<float>(room.gpus);
    f.cpus_free = static_cast<float>(room.cpus);
    f.mem_free = static_cast<float>(room.mem);
    f.gpus_taken = static_cast<float>(takes.gpus);
    f.cpus_taken = static_cast<float>(takes.cpus);
    f.own = static_cast<float>(own) / 8;
    f.own_any = own > 0;
    f.others = static_cast<float>(std::min<size_t>(throughputs.occupants(c.node).size(), 8)) / 4;
  }

  static void write_learned(const ColocationModel& colocation, int32_t slot,
                            std::span<const Piece> with, RowFeatures& f) {
    const bool works = std::ranges::any_of(with, [](const Piece& p) { return p.gpus > 0; });
    if (works)
      f.speed =
          -log2_of(std::clamp(colocation.predicted_time_per_work(slot, with), 1.0 / 16, 16.0));
    f.interference_cost =
        static_cast<float>(std::clamp(colocation.interference_cost(slot, with), -16.0, 16.0));
  }

  static void write_measured(const ThroughputModel& throughputs, int32_t slot,
                             std::span<const Piece> with, RowFeatures& f) {
    const double best = throughputs.best_throughput(slot),
                 there = throughputs.throughput(slot, with, {});
    if (best > 0 && there > 0) f.speed = log2_of(std::clamp(there / best, 1.0 / 16, 16.0));
    f.interference_cost =
        static_cast<float>(std::min(throughputs.interference_cost(slot, with, {}), 16.0));
  }
};

const AgentRegistry::Add<Harmony> kHarmony{
    "harmony",
    {.about = "places the workers and parameter servers of new jobs, task by task",
     .source = "Bao, Peng and Wu, Harmony, INFOCOM 2019",
     .fidelity = "actions and reward after notes on the paper; linear reward model; ships with "
                 "learner `group`, not the paper's actor-critic",
     .level = InformationLevel::kEstimate,
     .snapshot_fields = {"job.model"},
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
