// Agent `sched2`, after SCHED2 (Luan et al., "SCHED2: Scheduling Deep Learning Training via Deep
// Reinforcement Learning", GLOBECOM 2019): the next job, its degree of locality, preemption. Only
// the abstract is public: sensitivity to locality and fragmentation are features, and a Q-network
// is trained. The rest is this project's reading.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <tuple>

#include "env/base/core/log2.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/throughput_model.h"
#include "env/task/agent.h"
#include "env/task/remaining_times.h"

namespace yard {
namespace {

constexpr int kShown = 12;  // jobs
// Degrees of locality, as placements: on as few nodes as can hold the job, or it waits; on as few
// as have room at present; on the first GPUs that are free.
constexpr std::array kDegrees = {PlacementRule::kConsolidate, PlacementRule::kBestFit,
                                 PlacementRule::kFirstFit};
constexpr int32_t kPreemption = static_cast<int32_t>(kDegrees.size());  // kind of action
constexpr int kHolders = 12;  // jobs that may be preempted, in the rows after the waiting jobs
constexpr int kRows = kShown * static_cast<int>(kDegrees.size()) + kHolders;

struct RowFeatures {
  float size, length, waited, head, sensitivity, rate, nodes, beyond, left_over;
  float degree[kDegrees.size()], holds;
};
struct StateFeatures {
  float free, largest, fragmented, queue, waiting, live, local_jobs, nodes_free[4];
};

struct Config {
  double prior_gap = 1;
  bool locality = true;
  bool preempt = false;
  double quantum_s = 60;
  double stop_gap = 3;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the expert action");
    f("locality", locality,
      "choose a degree of locality; false: no features of sensitivity or fragmentation, and each "
      "job starts on as few nodes as are free now");
    f("preempt", preempt, "allow preemption");
    f("stop_gap", stop_gap, 0.0, 100.0, "additional logit penalty of preemptions");
    f("quantum_s", quantum_s, 0.0, 1e6, "minimum run time before preemption, in seconds");
  }
};

RemainingTimes::Config remaining_times_config(const Config& config) {
  RemainingTimes::Config out;
  out.preempt = config.preempt;
  return out;
}

class Sched2 final : public ConfiguredAgent<Config> {
 public:
  explicit Sched2(const Settings& settings)
      : ConfiguredAgent(settings), remaining_times_(remaining_times_config(config_)) {}

  int32_t max_actions() const override { return kRows; }
  std::vector<Feature> action_features() const override {
    return {{"size", "log2 of its GPUs, over 4"},
            {"length", "log2 s predicted left, minus 12, over 8"},
            {"waited", "log2 s waited, or since its last start, minus 12, over 8"},
            {"head", "1: first in the queue"},
            {"sensitivity", "log2 of its throughput on the fewest nodes over one GPU per node"},
            {"rate", "log2 of its throughput here over its best"},
            {"nodes", "log2 of its nodes here, over 4"},
            {"beyond", "log2 of these over the fewest possible"},
            {"left_over", "GPUs left free on them, in nodes"},
            {"strict", "1: on as few nodes as can hold the job, or it waits"},
            {"compact", "1: on as few nodes as have room at present"},
            {"loose", "1: on the first GPUs that are free"},
            {"holds", "1: it runs, and the action preempts it"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"free", "share of GPUs free"},
            {"largest", "most GPUs free on one node, in nodes"},
            {"fragmented", "share of free GPUs on partly used nodes"},
            {"queue", "GPUs waited for over all GPUs, at most 4"},
            {"waiting", "log2 of 1 + waiting jobs, over 8"},
            {"live", "log2 of 1 + jobs in the system, over 8"},
            {"local_jobs", "share of listed jobs that lose a tenth of their speed when spread"},
            {"nodes_free_1", "share of nodes with at least a quarter of their GPUs free"},
            {"nodes_free_2", "share of nodes with half of them free"},
            {"nodes_free_3", "share of nodes with three quarters of them free"},
            {"nodes_free_4", "share of nodes with all of them free"}};
  }
  int feature_version() const override { return 2; }
  InformationLevel level() const override { return InformationLevel::kHistory; }
  PolicyWithSettings expert() const override {
    return {"fifo", {{"placement", config_.locality ? "consolidate" : "best-fit"}}};
  }
  bool preempts() const override { return config_.preempt; }

  size_t memory_bytes(const View& view) const override {
    return sizeof(int64_t) + remaining_times_.bytes(view);
  }
  void on_events(const View& view, AgentMemory& memory) const override {
    BumpAllocator bump(memory.data() + sizeof(int64_t));
    const RemainingTimes::Evaluator now(remaining_times_, view, bump);
  }
  void begin_decision(const View&, AgentMemory& memory) const override {
    round_done(memory.data()) = 0;
  }

  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    if (round_done(memory.data()) != 0 || view.num_waiting() == 0) return;
    BumpAllocator bump(memory.data() + sizeof(int64_t));
    RemainingTimes::Evaluator now(RemainingTimes::Evaluator::kAttach, remaining_times_, view, bump);
    const auto listed = std::make_shared<Listed>();
    listed->jobs = shown(view, now);
    listed->held = holders(view, now, listed->jobs);
    if (listed->held.empty() && view.free_gpus() < view.min_gpus_to_start()) return;
    std::vector<Piece> room(view.max_pieces());
    int32_t first = kNone;
    for (size_t j = 0; j < listed->jobs.size(); ++j) {
      const int32_t slot = listed->jobs[j].slot;
      std::vector<Piece> stricter;
      for (size_t d = 0; d < kDegrees.size(); ++d) {
        const int32_t n = offered(d) ? place(view, kDegrees[d], slot, room.data()) : 0;
        std::vector<Piece> there(room.begin(), room.begin() + n);
        // A stricter degree may give the same.
        const bool legal = n > 0 && there.size() != stricter.size();
        if (legal && first == kNone) first = out.size();
        const bool strictest = d == 0 || !offered(0);
        if (legal && strictest && slot == view.queue_head()) out.expert = out.size();
        out.actions.push_back({.slot = slot,
                               .kind = static_cast<int32_t>(d),
                               .index = static_cast<int32_t>(j),
                               .legal = legal});
        if (legal) stricter = there;
        listed->places.push_back(legal ? std::move(there) : std::vector<Piece>());
      }
    }
    for (size_t h = 0; h < listed->held.size(); ++h) {
      out.actions.push_back(
          {.slot = listed->held[h].slot, .kind = kPreemption, .index = static_cast<int32_t>(h)});
      listed->places.push_back(held_pieces(view, listed->held[h].slot));
    }
    if (first == kNone && listed->held.empty()) return out.clear();
    // If nothing runs, waiting for a placement is useless.
    out.noop_legal = view.num_holders() > 0;
    // The expert never preempts. If it can start no job, it waits.
    if (out.expert == kNone && !out.noop_legal) out.expert = first;
    for (int32_t i = 0; i < out.size(); ++i) {
      Action& a = out.actions[static_cast<size_t>(i)];
      const double gap = (i == out.expert ? 0 : config_.prior_gap) +
                         (a.kind == kPreemption ? config_.stop_gap : 0);
      a.prior = -static_cast<float>(gap);
    }
    out.noop_prior = out.expert == kNone ? 0 : -static_cast<float>(config_.prior_gap);
    memory.cache = listed;
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    const ThroughputModel throughput_model(view);
    Listed& listed = listed_of(memory);
    listed.local_jobs = 0;
    float sensitivity = 0;
    for (size_t i = 0; i < list.actions.size(); ++i) {
      auto& f = append_feature_row<RowFeatures>(out);
      const Action& a = list.actions[i];
      const bool holds = a.kind == kPreemption;
      const Candidate& job = (holds ? listed.held : listed.jobs)[static_cast<size_t>(a.index)];
      if (holds || a.kind == 0) {
        sensitivity = config_.locality ? sensitivity_of(view, throughput_model, a.slot) : 0;
        listed.local_jobs += !holds && sensitivity > kLocal;
      }
      describe_job(view, job, sensitivity, f);
      f.holds = holds;
      if (!holds) {
        f.head = a.slot == view.queue_head();
        f.degree[a.kind] = 1;
      }
      if (a.legal) describe_place(view, throughput_model, a.slot, listed.places[i], f);
    }
  }

  void describe_state(const View& view, AgentMemory& memory, const ActionList&,
                      float* out) const override {
    const Listed& listed = listed_of(memory);
    auto& f = append_feature_row<StateFeatures>(out);
    const SpecColumns& spec = view.spec();
    int32_t largest = 0, broken = 0;
    std::array<int32_t, 4> with{};
    for (int32_t node = 0; node < spec.num_nodes; ++node) {
      const int32_t free = view.node_free_gpus(node), all = spec.node_gpus[node];
      largest = std::max(largest, free);
      if (free < all) broken += free;
      for (int32_t quarter = 1; quarter <= 4; ++quarter) {
        with[static_cast<size_t>(quarter - 1)] += free > 0 && 4 * free >= quarter * all;
      }
    }
    const auto total = static_cast<float>(view.total_gpus());
    const auto free = static_cast<float>(view.free_gpus());
    f.free = free / total;
    f.queue = std::min(4.0F, static_cast<float>(view.gpus_requested_by_waiting()) / total);
    f.waiting = log2_of(1.0 + view.num_waiting()) / 8;
    f.live = log2_of(1.0 + view.num_live()) / 8;
    if (!config_.locality) return;
    f.largest = static_cast<float>(largest) / static_cast<float>(spec.max_node_gpus);
    f.fragmented = free > 0 ? static_cast<float>(broken) / free : 0;
    f.local_jobs = static_cast<float>(listed.local_jobs) / static_cast<float>(listed.jobs.size());
    for (size_t i = 0; i < with.size(); ++i) {
      f.nodes_free[i] =
          static_cast<float>(with[i]) / static_cast<float>(std::max(1, spec.num_nodes));
    }
  }

  void apply(const View& view, AgentMemory& memory, const Action& action,
             Draft& draft) const override {
    if (action.is_noop()) {
      round_done(memory.data()) = 1;
    } else if (action.kind == kPreemption) {
      draft.preempt(action.slot);
    } else {
      const PlacementRule degree = kDegrees[static_cast<size_t>(action.kind)];
      const int32_t n = place(view, degree, action.slot, draft.scratch());
      draft.start(action.slot, draft.scratch(), n);
    }
  }

 private:
  static constexpr float kLocal = 0.152F;  // log2 of the speedup that undoes a loss of a tenth

  // 1: the decision took "nothing more".
  static int64_t& round_done(std::byte* memory) { return *reinterpret_cast<int64_t*>(memory); }

  bool offered(size_t degree) const {
    return config_.locality || kDegrees[degree] == PlacementRule::kBestFit;
  }

  struct Candidate {
    double seconds;  // predicted time left
    int64_t rank;    // breaks ties
    int32_t slot;
  };

  // What the list of actions was made from.
  struct Listed {
    std::vector<Candidate> jobs, held;
    std::vector<std::vector<Piece>> places;  // by action
    int32_t local_jobs = 0;                  // that lose a tenth of their speed when spread
  };
  static Listed& listed_of(AgentMemory& memory) {
    return *static_cast<Listed*>(memory.cache.get());
  }

  // Returns the head of the queue, then the jobs with the shortest predicted time left.
  static std::vector<Candidate> shown(const View& view, RemainingTimes::Evaluator& now) {
    std::vector<Candidate> all;
    const int32_t head = view.queue_head();
    for (int32_t slot = head; slot != kNone; slot = view.queue_next(slot)) {
      all.push_back({now.seconds(slot), view.queue_rank(slot), slot});
    }
    keep_best(all, kShown,
              [head](const Candidate& c) { return std::tuple(c.slot != head, c.seconds, c.rank); });
    return all;
  }

  // Returns the preemptible jobs with the longest predicted time left, provided that some shown job
  // would hold GPUs for less time.
  std::vector<Candidate> holders(const View& view, RemainingTimes::Evaluator& now,
                                 const std::vector<Candidate>& waiting) const {
    std::vector<Candidate> all;
    if (!config_.preempt || !view.may_preempt()) return all;
    const double shortest = std::ranges::min(waiting, {}, &Candidate::seconds).seconds;
    for (int32_t i = 0; i < view.num_holders(); ++i) {
      const int32_t slot = view.holder_slot(i);
      const int64_t runs_us = view.now_us() - phase_start_us(view, slot);
      if (view.phase(slot) != Phase::kRunning || !view.preemptible(slot) || runs_us <= 0 ||
          1e-6 * static_cast<double>(runs_us) < config_.quantum_s) {
        continue;
      }
      const double seconds = now.seconds(slot);
      if (seconds > shortest) all.push_back({seconds, view.serial(slot), slot});
    }
    keep_best(all, kHolders, [](const Candidate& c) { return std::tuple(-c.seconds, c.rank); });
    return all;
  }

  template <class Key>
  static void keep_best(std::vector<Candidate>& all, int most, const Key& key) {
    const size_t n = std::min(all.size(), static_cast<size_t>(most));
    std::partial_sort(all.begin(), all.begin() + static_cast<int64_t>(n), all.end(),
                      [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
    all.resize(n);
  }

  // Start of waiting or running. While a job runs, since_us() changes with its rate.
  static int64_t phase_start_us(const View& view, int32_t slot) {
    return view.holds_gpus(slot) ? view.transition_end_us(slot) : view.phase_or_rate_since_us(slot);
  }

  static void describe_job(const View& view, const Candidate& job, float sensitivity,
                           RowFeatures& f) {
    f.size = log2_of(view.gpus_at_least_one(job.slot)) / 4;
    f.length = scaled_log2_seconds(job.seconds);
    f.waited = scaled_log2_seconds(
        1e-6 * static_cast<double>(view.now_us() - phase_start_us(view, job.slot)));
    f.sensitivity = sensitivity;
  }

  // Spread over one node per GPU, or over all nodes if there are fewer; other jobs are ignored.
  static float sensitivity_of(const View& view, const ThroughputModel& throughput_model,
                              int32_t slot) {
    if (view.shaped(slot) || view.gpus(slot) < 2 || !throughput_model.depends_on_placement())
      return 0;
    double most = 0;
    for (int32_t type = 0; type < throughput_model.num_types(); ++type) {
      const double together = throughput_model.consolidated_throughput(slot, type);
      const std::span<const int32_t> nodes = throughput_model.nodes_of_type(type);
      if (together <= 0 || nodes.size() < 2) continue;
      std::vector<Piece> apart;
      const auto over = std::min<int32_t>(view.gpus(slot), static_cast<int32_t>(nodes.size()));
      for (int32_t i = 0; i < over; ++i) {
        apart.push_back(
            {nodes[static_cast<size_t>(i)], view.gpus(slot) / over + (i < view.gpus(slot) % over)});
      }
      const double spread = throughput_model.throughput(slot, apart, {});
      if (spread > 0) most = std::max<double>(most, log2_coarse(together / spread));
    }
    return static_cast<float>(std::clamp(most, 0.0, 4.0));
  }

  void describe_place(const View& view, const ThroughputModel& throughput_model, int32_t slot,
                      std::span<const Piece> pieces, RowFeatures& f) const {
    if (!config_.locality) return;  // its throughput there would reveal both
    const auto n = static_cast<int32_t>(pieces.size());
    int32_t left_over = 0;
    for (const Piece& piece : pieces) {
      // A running job's GPUs are already excluded from the node's free GPUs.
      left_over += view.node_free_gpus(piece.node) - (view.holds_gpus(slot) ? 0 : piece.gpus);
    }
    const double best = throughput_model.best_throughput(slot);
    const double rate = throughput_model.throughput(slot, pieces, {});
    f.rate = best > 0 ? log2_of(std::max(rate / best, 1.0 / 16)) : 0;
    const auto nodes = log2_of(n);
    const int32_t fewest =
        (view.gpus(slot) + view.spec().max_node_gpus - 1) / view.spec().max_node_gpus;
    f.nodes = nodes / 4;
    f.beyond = nodes - log2_of(std::max(fewest, 1));
    f.left_over = static_cast<float>(left_over) / static_cast<float>(view.spec().max_node_gpus);
  }

  RemainingTimes remaining_times_;
};

const AgentRegistry::Add<Sched2> kSched2{
    "sched2",
    {.about = "decides which job starts next, how much locality it waits for, and which jobs are "
              "preempted for it",
     .source = "Luan et al., SCHED2, GLOBECOM 2019",
     .fidelity = "based on the abstract: only the idea is the paper's",
     .level = InformationLevel::kHistory,
     .preemptive = true,
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
