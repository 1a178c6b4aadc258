// Agent `sched2`, after SCHED2 (Luan et al., "SCHED2: Scheduling Deep Learning Training via Deep
// Reinforcement Learning", GLOBECOM 2019): the next job, its degree of locality, preemption.
//
// Only the abstract is public: jobs differ in their sensitivity to locality; this and the cluster's
// fragmentation are features of the jobs, the cluster and the network; a Q-network is trained. The
// rest is this project's reading: features, degrees, preemption, reward and what is shown.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "env/base/core/log2.h"
#include "env/predict/survival_index.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/throughput_model.h"
#include "env/sim/view/work_view.h"
#include "env/task/row_task.h"

namespace yard {
namespace {

constexpr int kShown = 12;  // jobs
// Degrees of locality, as placements: on as few nodes as can hold the job, or it waits; on as few
// as have room at present; on the first GPUs that are free.
constexpr std::array kDegrees = {PlacementRule::kConsolidate, PlacementRule::kBestFit,
                                 PlacementRule::kFirstFit};
constexpr int kHolders = 12;  // jobs that may be preempted, in the rows after the waiting jobs
constexpr int kRows = kShown * static_cast<int>(kDegrees.size()) + kHolders;

enum RowFeature {
  kSize,         // log2 of its GPUs
  kLength,       // log2 s predicted left
  kWaited,       // log2 s waited, or since its last start
  kHead,         // 1: first in the queue
  kSensitivity,  // log2 of its throughput on the fewest nodes over one GPU per node
  kRate,         // log2 of its throughput here over its best
  kNodes,        // log2 of its nodes here
  kBeyond,       // log2 of these over the fewest possible
  kLeftOver,     // GPUs left free on them, in nodes
  kStrict,
  kCompact,
  kLoose,  // 1: the degree of this row
  kHolds,  // 1: it runs, and the action preempts it
  kRowFeatures
};
// Followed by the share of nodes with at least a quarter, half, three quarters and all GPUs free.
enum ClusterFeature {
  kFree,        // share of GPUs
  kLargest,     // most GPUs free on one node, in nodes
  kFragmented,  // share of free GPUs on partly used nodes
  kQueue,       // GPUs waited for over all GPUs, at most 4
  kWaiting,     // log2 of 1 + jobs
  kLive,        // log2 of 1 + jobs
  kLocalJobs,   // share of shown jobs that lose at least a tenth of their speed when spread
  kNodesFree,   // the four shares
  kClusterFeatures = kNodesFree + 4
};

struct Config {
  double prior_gap = 1;
  bool locality = true;
  bool preempt = false;
  double quantum_s = 60;
  double stop_gap = 3;

  void fields(FieldList& f) {
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the suggested one");
    f("locality", locality,
      "choose a degree of locality; false: no features of sensitivity or fragmentation, and each "
      "job starts on as few nodes as are free now");
    f("preempt", preempt, "allow preemption");
    f("stop_gap", stop_gap, 0.0, 100.0, "additional logit penalty of preemptions");
    f("quantum_s", quantum_s, 0.0, 1e6, "minimum run time before preemption, in seconds");
  }
};

struct PreemptSetting {
  bool preempt = false;
  void fields(FieldList&) {}
};
using RemainingTimes = SurvivalIndex<Level::kHistory, PreemptSetting, WorkView>;

RemainingTimes::Config remaining_times_config(const Config& config) {
  RemainingTimes::Config out;
  out.preempt = config.preempt;
  return out;
}

class Sched2 final : public RowTask {
 public:
  explicit Sched2(const Settings& settings)
      : config_(parse<Config>(settings)), remaining_times_(remaining_times_config(config_)) {}

  TaskShape shape() const override { return {kRows, kRowFeatures, kClusterFeatures}; }
  std::string feature_schema() const override {
    return "sched2 2, 12 jobs x 3 degrees, 12 holders: size length waited head sensitivity rate "
           "nodes beyond left_over strict compact loose holds; cluster: free largest fragmented "
           "queue waiting live local_jobs nodes_free(4)";
  }
  Level level() const override { return Level::kHistory; }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return record(config_);
  }
  Heuristic heuristic() const override {
    Heuristic out{"fifo", {}};
    out.settings.set("placement", config_.locality ? "consolidate" : "best-fit", "training");
    return out;
  }

  size_t memory_bytes(const View& view) const override {
    return sizeof(int64_t) + remaining_times_.bytes(view);
  }
  void on_events(const View& view, std::byte* memory) const override {
    BumpAllocator bump(memory + sizeof(int64_t));
    const RemainingTimes::Evaluator now(remaining_times_, view, bump);
  }
  void begin_round(const View&, std::byte* memory) const override { round_done(memory) = 0; }

  bool needs_action(const View& view, std::byte* memory) const override {
    if (round_done(memory) != 0 || view.num_waiting() == 0) return false;
    BumpAllocator bump(memory + sizeof(int64_t));
    RemainingTimes::Evaluator now(RemainingTimes::Evaluator::kAttach, remaining_times_, view, bump);
    const std::vector<Candidate> waiting = shown(view, now);
    if (!holders(view, now, waiting).empty()) return true;
    if (view.free_gpus() < view.min_gpus_waited_for()) return false;
    std::vector<Piece> room = room_for(view);
    for (const auto& [seconds, rank, slot] : waiting) {
      for (size_t d = 0; d < kDegrees.size(); ++d) {
        if (offered(d) && place(view, kDegrees[d], slot, room.data()) > 0) return true;
      }
    }
    return false;
  }

  void observe(const View& view, std::byte* memory, Observation& o) const override {
    const ThroughputModel throughput_model(view);
    BumpAllocator bump(memory + sizeof(int64_t));
    RemainingTimes::Evaluator now(RemainingTimes::Evaluator::kAttach, remaining_times_, view, bump);
    const std::vector<Candidate> jobs = shown(view, now);
    std::vector<Piece> room = room_for(view);
    std::fill_n(o.mask, kRows + 1, uint8_t{0});
    o.choices = 0;
    o.expert_action = kRows;
    int32_t first = kNone, local = 0;
    for (size_t j = 0; j < jobs.size(); ++j) {
      const int32_t slot = jobs[j].slot;
      const float sensitivity = config_.locality ? sensitivity_of(view, throughput_model, slot) : 0;
      local += sensitivity > kLocal;
      int32_t fewer = 0;  // nodes of the stricter degree
      for (size_t d = 0; d < kDegrees.size(); ++d) {
        const auto row = static_cast<int32_t>(j * kDegrees.size() + d);
        float* f = describe_job(view, jobs[j], sensitivity, row, o);
        f[kHead] = slot == view.queue_head();
        f[kStrict + d] = 1;
        if (!offered(d)) continue;
        const int32_t n = place(view, kDegrees[d], slot, room.data());
        if (n == 0 || n == fewer) continue;  // a stricter degree gives the same
        const std::span<const Piece> there(room.data(), static_cast<size_t>(n));
        describe_place(view, throughput_model, slot, there, f);
        fewer = n;
        o.mask[row] = 1;
        ++o.choices;
        if (first == kNone) first = row;
        const bool strictest = d == 0 || !offered(0);
        if (strictest && slot == view.queue_head()) o.expert_action = row;
      }
    }
    const std::vector<Candidate> held = holders(view, now, jobs);
    auto rows = static_cast<int32_t>(jobs.size() * kDegrees.size());
    for (const Candidate& holder : held) {
      const float sensitivity =
          config_.locality ? sensitivity_of(view, throughput_model, holder.slot) : 0;
      float* f = describe_job(view, holder, sensitivity, rows, o);
      f[kHolds] = 1;
      describe_place(view, throughput_model, holder.slot, pieces_of(view, holder.slot), f);
      o.mask[rows++] = 1;
      ++o.choices;
    }
    // If nothing runs, waiting for a placement is useless.
    o.mask[kRows] = view.num_held() > 0;
    // The heuristic never preempts. If it can start no job, it waits.
    if (o.mask[o.expert_action] == 0) o.expert_action = first;
    if (o.expert_action == kNone) o.expert_action = kRows;
    if (o.prior != nullptr) {
      for (int32_t a = 0; a <= kRows; ++a) {
        const bool stops = a >= rows - static_cast<int32_t>(held.size()) && a < rows;
        const double gap =
            (a == o.expert_action ? 0 : config_.prior_gap) + stops * config_.stop_gap;
        o.prior[a] = o.mask[a] == 0 ? kMaskedLogit : -static_cast<float>(gap);
      }
    }
    clear_rest(o, rows);
    describe_cluster(view, static_cast<float>(local) / static_cast<float>(jobs.size()), o.cluster);
  }

  void apply(const View& view, std::byte* memory, int32_t action, Draft& draft) const override {
    if (action == kRows) {
      round_done(memory) = 1;
      return;
    }
    BumpAllocator bump(memory + sizeof(int64_t));
    RemainingTimes::Evaluator now(RemainingTimes::Evaluator::kAttach, remaining_times_, view, bump);
    const std::vector<Candidate> waiting = shown(view, now);
    const size_t j = static_cast<size_t>(action) / kDegrees.size(),
                 d = static_cast<size_t>(action) % kDegrees.size();
    if (j >= waiting.size()) {
      const size_t first = waiting.size() * kDegrees.size();
      draft.preempt(holders(view, now, waiting)[static_cast<size_t>(action) - first].slot);
      return;
    }
    const int32_t slot = waiting[j].slot;
    const int32_t n = place(view, kDegrees[d], slot, draft.scratch());
    draft.start(slot, draft.scratch(), n);
  }

 private:
  static constexpr float kLocal = 0.152F;  // log2 of the speedup that undoes a loss of a tenth

  // 1: the decision took "nothing more".
  static int64_t& round_done(std::byte* memory) { return *reinterpret_cast<int64_t*>(memory); }

  static std::vector<Piece> room_for(const View& view) {
    return std::vector<Piece>(static_cast<size_t>(view.spec().num_nodes) *
                              static_cast<size_t>(std::max(1, view.max_groups())));
  }

  bool offered(size_t degree) const {
    return config_.locality || kDegrees[degree] == PlacementRule::kBestFit;
  }

  struct Candidate {
    double seconds;  // predicted time left
    int64_t rank;    // breaks ties
    int32_t slot;
  };

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
    double shortest = waiting[0].seconds;
    for (const Candidate& c : waiting) shortest = std::min(shortest, c.seconds);
    for (int32_t i = 0; i < view.num_held(); ++i) {
      const int32_t slot = view.held(i);
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
    return view.holds(slot) ? view.until_us(slot) : view.since_us(slot);
  }

  static std::vector<Piece> pieces_of(const View& view, int32_t slot) {
    std::vector<Piece> out;
    for (int32_t part = view.first_part(slot); part != kNone; part = view.next_part(part)) {
      const int32_t gpus = count_bits(view.part_mask(part));
      out.push_back({view.part_node(part), gpus, view.shaped(slot) ? view.part_group(part) : 0});
    }
    return out;
  }

  static float* describe_job(const View& view, const Candidate& job, float sensitivity, int32_t row,
                             Observation& o) {
    float* f = o.jobs + int64_t{row} * kRowFeatures;
    std::fill_n(f, int{kRowFeatures}, 0.0F);
    o.slots[row] = job.slot;
    f[kSize] = log2_of(view.weight_gpus(job.slot)) / 4;
    f[kLength] = log2_of_s(job.seconds);
    f[kWaited] =
        log2_of_s(1e-6 * static_cast<double>(view.now_us() - phase_start_us(view, job.slot)));
    f[kSensitivity] = sensitivity;
    return f;
  }

  // Spread over one node per GPU, or over all nodes if there are fewer; other jobs are ignored.
  static float sensitivity_of(const View& view, const ThroughputModel& throughput_model,
                              int32_t slot) {
    if (view.shaped(slot) || view.gpus(slot) < 2 || !throughput_model.depends_on_placement())
      return 0;
    double most = 0;
    for (int32_t type = 0; type < throughput_model.num_types(); ++type) {
      const double together = throughput_model.consolidated_throughput(slot, type);
      const std::span<const int32_t> nodes = throughput_model.nodes_of(type);
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
                      std::span<const Piece> pieces, float* f) const {
    if (!config_.locality) return;  // its throughput there would reveal both
    const auto n = static_cast<int32_t>(pieces.size());
    int32_t left_over = 0;
    for (const Piece& piece : pieces) {
      // A running job's GPUs are already excluded from the node's free GPUs.
      left_over += view.node_free(piece.node) - (view.holds(slot) ? 0 : piece.gpus);
    }
    const double best = throughput_model.best_throughput(slot);
    const double rate = throughput_model.throughput(slot, pieces, {});
    f[kRate] = best > 0 ? log2_of(std::max(rate / best, 1.0 / 16)) : 0;
    const auto nodes = log2_of(n);
    const int32_t fewest =
        (view.gpus(slot) + view.spec().max_node_gpus - 1) / view.spec().max_node_gpus;
    f[kNodes] = nodes / 4;
    f[kBeyond] = nodes - log2_of(std::max(fewest, 1));
    f[kLeftOver] = static_cast<float>(left_over) / static_cast<float>(view.spec().max_node_gpus);
  }

  void describe_cluster(const View& view, float local, float* f) const {
    const SpecColumns& spec = view.spec();
    std::fill_n(f, int{kClusterFeatures}, 0.0F);
    int32_t largest = 0, broken = 0;
    std::array<int32_t, 4> with{};
    for (int32_t node = 0; node < spec.num_nodes; ++node) {
      const int32_t free = view.node_free(node), all = spec.node_gpus[node];
      largest = std::max(largest, free);
      if (free < all) broken += free;
      for (int32_t quarter = 1; quarter <= 4; ++quarter) {
        with[static_cast<size_t>(quarter - 1)] += free > 0 && 4 * free >= quarter * all;
      }
    }
    const auto total = static_cast<float>(view.total_gpus());
    const auto free = static_cast<float>(view.free_gpus());
    f[kFree] = free / total;
    f[kQueue] = std::min(4.0F, static_cast<float>(view.waiting_gpus()) / total);
    f[kWaiting] = log2_of(1.0 + view.num_waiting()) / 8;
    f[kLive] = log2_of(1.0 + view.num_live()) / 8;
    if (!config_.locality) return;
    f[kLargest] = static_cast<float>(largest) / static_cast<float>(spec.max_node_gpus);
    f[kFragmented] = free > 0 ? static_cast<float>(broken) / free : 0;
    f[kLocalJobs] = local;
    for (size_t i = 0; i < with.size(); ++i) {
      f[kNodesFree + i] =
          static_cast<float>(with[i]) / static_cast<float>(std::max(1, spec.num_nodes));
    }
  }

  Config config_;
  RemainingTimes remaining_times_;
};

const RowTasks::Add<Sched2> kSched2{
    "sched2",
    {.about = "decides which job starts next, how much locality it waits for, and which jobs are "
              "preempted for it",
     .source = "Luan et al., SCHED2, GLOBECOM 2019",
     .fidelity = "based on the abstract: only the idea is the paper's",
     .level = Level::kHistory,
     .preemptive = true,
     .settings = describe<Config>}};

}  // namespace
}  // namespace yard
