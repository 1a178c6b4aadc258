// Tiresias' policies (Gu et al., NSDI 2019) on its queues (policies/service_queues.h).
//   las               discretised 2D least attained service alone, as its simulator's `dlas-gpu`
//   tiresias          with promotion and its placement rule
//   tiresias-gittins  within a queue by the discretised 2D Gittins index first
// Placement rule: a job that spreading slows down (the paper's measure is the skew of its
// model's tensor sizes) waits for as few nodes as can hold it. Others take any GPUs.
#include "env/sim/placement/throughput_model.h"
#include "policies/order.h"
#include "policies/service_queues.h"

namespace yard {
namespace {

struct LasConfig : PlacementConfig {
  double limit_1_gpu_s = 3250;  // the limits of Tiresias' simulator
  double limit_2_gpu_s = 7200;
  double gpu_exponent = 1;
  double cost_weight = 0;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("limit_1_gpu_s", limit_1_gpu_s, 1.0, 1e9,
      "attained service, in GPU-seconds, at which a job leaves the first queue");
    f("limit_2_gpu_s", limit_2_gpu_s, 1.0, 1e9,
      "attained service, in GPU-seconds, at which a job leaves the second queue");
    f("gpu_exponent", gpu_exponent, 0.0, 2.0,
      "exponent of GPUs in service, time x GPUs^gpu_exponent");
    f("cost_weight", cost_weight, 0.0, 100.0,
      "multiple of the preemption cost to subtract from the attained time of a running job");
  }
};

struct TiresiasConfig : LasConfig {
  double promote_knob = 1000;
  double spread_loss = 0.1;
  TiresiasConfig() { placement = "best-fit"; }
  void fields(FieldList& f) {
    LasConfig::fields(f);
    f("promote_knob", promote_knob, 0.0, 1e9,
      "ratio of wait to run time at which a job returns to the first queue; 0: never");
    f("spread_loss", spread_loss, 0.0, 1.0,
      "share of throughput that a job may lose on twice as many nodes and still be spread");
  }
};

enum class Variant { kLas, kTiresias, kGittins };

template <Variant kVariant>
using ServiceQueuePolicy =
    PlacementRulePolicy<std::conditional_t<kVariant == Variant::kLas, LasConfig, TiresiasConfig>,
                        kVariant == Variant::kGittins ? InformationLevel::kHistory
                                                      : InformationLevel::kBlind>;

template <Variant kVariant>
class ByServiceQueues final : public ServiceQueuePolicy<kVariant> {
  using ServiceQueuePolicy<kVariant>::placement_;
  static constexpr bool kPlacementRule = kVariant != Variant::kLas;

 public:
  explicit ByServiceQueues(const Settings& settings) : ServiceQueuePolicy<kVariant>(settings) {
    const auto& config = this->config_;
    queues_ = {.limits_us = {config.limit_1_gpu_s * 1e6, config.limit_2_gpu_s * 1e6},
               .gpu_exponent = config.gpu_exponent,
               .cost_weight = config.cost_weight,
               .gittins = kVariant == Variant::kGittins};
    if constexpr (kPlacementRule) queues_.promote_knob = config.promote_knob;
    if (config.limit_2_gpu_s < config.limit_1_gpu_s) {
      throw InputError(std::string(kName) + ".limit_2_gpu_s",
                       "at least limit_1_gpu_s (" + shortest_text(config.limit_1_gpu_s) + ")",
                       shortest_text(config.limit_2_gpu_s));
    }
  }

  static constexpr const char* kName = kVariant == Variant::kLas        ? "las"
                                       : kVariant == Variant::kTiresias ? "tiresias"
                                                                        : "tiresias-gittins";
  static bool preempts() { return true; }

  size_t memory_bytes(const View& view) const override {
    return kept_memory_bytes(view) + RankedQueue::bytes(view, kLanes) +
           LinearKeyTreap::bytes(view.num_slots()) + VictimIndex::bytes(view, indexed());
  }
  size_t kept_memory_bytes(const View& view) const override {
    return ServiceQueues::bytes(view, queues_) +
           (kPlacementRule ? BumpAllocator::bytes<uint8_t>(view.num_slots()) : 0);
  }

  void rebuild_memory(const View& view, Memory& memory) const override {
    BumpAllocator bump(memory.data());
    ServiceQueues(view, queues_, bump).rebuild();
  }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    ServiceQueues queues(view, queues_, bump);
    PreemptionRule rule{placement_};
    if constexpr (kPlacementRule) {
      uint8_t* spreads = bump.allocate<uint8_t>(view.num_slots());
      classify_jobs(view, spreads);
      rule.placement_lane_of = [spreads](int32_t slot) { return spreads[slot] == kNo ? 1 : 0; };
      rule.placement_of = [spreads, this](int32_t slot) {
        return spreads[slot] == kNo ? PlacementRule::kConsolidate : placement_;
      };
    }
    RankedQueue ranked(view, bump, kLanes);
    LinearKeyTreap held(view.num_slots(), bump);
    VictimIndex victim_index(view, indexed(), held, bump);
    const auto update = [&](int32_t slot) {
      held.remove(slot);
      if (view.holds_gpus(slot) && view.preemptible(slot)) {
        const Key key = queues.key(slot);
        held.put(slot, {key.value, 0}, key.serial);
      }
      victim_index.update(slot);
    };
    const auto rank = [&](int32_t slot) {
      ranked.push(class_in_ranked_queue(view, ranked, rule, slot), slot, queues.key(slot));
    };
    const auto rank_all = [&] {
      ranked.clear();
      for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
        rank(slot);
      }
    };
    const bool all_moved = queues.begin() || ranked.was_just_created();
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed_slot(i);
      if (!all_moved && view.phase(slot) == Phase::kWaiting) rank(slot);
      update(slot);
    }
    for (const int32_t slot : queues.moved_holders()) update(slot);
    if (ranked.was_just_created()) {
      for (const int32_t slot : view.holder_slots()) update(slot);
    }
    if (all_moved) rank_all();
    TreapGpuHolderIterator holders(held, victim_index, view.now_us());
    serve_in_key_order(
        view, ranked, holders, rule,
        [&](int32_t slot) { return queues.key_after_preemption(slot); }, draft);
    if (queues.update_after_plan(draft.plan())) rank_all();
    for (const Edit& edit : draft.plan().edits) update(edit.job.slot);
    for (const int32_t slot : queues.moved_holders()) update(slot);
    victim_index.refresh();
    // No event occurs when a running job passes a limit, so a timer is set.
    const int64_t next_us = queues.next_us();
    if (view.num_waiting() > 0 && next_us != kNever) draft.wake_at(next_us);
  }

 private:
  static constexpr int32_t kLanes = kPlacementRule ? 2 : 1;

  // The index requires one placement rule for all jobs; first-fit turns it off.
  PlacementRule indexed() const { return kPlacementRule ? PlacementRule::kFirstFit : placement_; }

  // Whether a job may be spread.
  enum MaySpread : uint8_t { kUnknown, kYes, kNo };

  // Determines it for jobs that are not yet classified.
  void classify_jobs(const View& view, uint8_t* spreads) const {
    std::optional<ThroughputModel> throughput_model;
    for (int32_t i = 0; i < view.num_changed(); ++i) {
      const int32_t slot = view.changed_slot(i);
      if (view.finished(slot)) {
        spreads[slot] = kUnknown;
      } else if (spreads[slot] == kUnknown && (view.shaped(slot) || view.gpus(slot) < 2)) {
        spreads[slot] = kYes;
      } else if (spreads[slot] == kUnknown) {
        if (!throughput_model) throughput_model.emplace(view);
        spreads[slot] = spreading_slows(view, *throughput_model, slot) ? kNo : kYes;
      }
    }
  }

  // Compares the throughput on the fewest nodes of a type with that on twice as many.
  bool spreading_slows(const View& view, const ThroughputModel& throughput_model,
                       int32_t slot) const {
    const int32_t gpus = view.gpus(slot);
    if (!throughput_model.depends_on_placement() || !throughput_model.has_speed_in_tables(slot))
      return false;
    for (int32_t t = 0; t < throughput_model.num_types(); ++t) {
      const auto nodes = throughput_model.nodes_of_type(t);
      const double together = throughput_model.consolidated_throughput(slot, t);
      if (nodes.empty() || together <= 0) continue;
      const int32_t most = view.spec().node_gpus[nodes.front()];
      const int32_t fewest = (gpus + most - 1) / most, spread = std::min(2 * fewest, gpus);
      if (static_cast<size_t>(spread) > nodes.size()) continue;
      std::vector<Piece> pieces;
      for (int32_t i = 0; i < spread; ++i) {
        pieces.push_back({nodes[static_cast<size_t>(i)], (gpus + i) / spread});
      }
      if (throughput_model.isolated_throughput(slot, pieces, Pattern::kNone).speed <
          (1 - this->config_.spread_loss) * together) {
        return true;
      }
    }
    return false;
  }

  ServiceQueueRule queues_;
};

constexpr const char* kSource = "Tiresias, NSDI 2019";

const AddPolicy<ByServiceQueues<Variant::kLas>> kLas{
    ByServiceQueues<Variant::kLas>::kName,
    "discretised 2D least attained service: jobs at a limit move to the end of the next queue",
    kSource,
    "as dlas-gpu of its simulator, but large jobs that reach a limit are demoted without delay; "
    "without its promotion and placement rule"};
const AddPolicy<ByServiceQueues<Variant::kTiresias>> kTiresias{
    ByServiceQueues<Variant::kTiresias>::kName,
    "least attained service in queues; starved jobs are promoted, slow spreading is avoided",
    kSource,
    "its queues, promotion and placement; consolidation depends on measured speeds, not on tensor "
    "sizes; promote_knob=1000, the mildest value in its simulator's scripts, promotes few jobs; 8 "
    "doubles the mean JCT of Muri's testbed trace"};
const AddPolicy<ByServiceQueues<Variant::kGittins>> kGittins{
    ByServiceQueues<Variant::kGittins>::kName,
    "as tiresias, but within a queue the highest discretised 2D Gittins index goes first", kSource,
    "its index of attained service over a queue's quantum, fitted to the services of finished jobs "
    "instead of a trace of past jobs, and refitted when their number has grown by an eighth; "
    "promotion and placement as in `tiresias`"};

}  // namespace
}  // namespace yard
