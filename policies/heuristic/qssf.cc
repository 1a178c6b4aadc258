// Helios' quasi-shortest-service-first (Hu et al., SC 2021). Each tenant (virtual cluster) has a
// queue in the order of expected service, time x GPUs, by the rolling estimate
// (env/predict/rolling_estimate.h). If the first job of a queue cannot start, the whole queue
// waits. Running jobs are not preempted. Our variants go by time alone, skip jobs that do not fit,
// or preempt.
#include <algorithm>
#include <tuple>

#include "env/predict/rolling_estimate.h"
#include "policies/index_order.h"

namespace yard {
namespace {

struct QssfConfig : PlacementConfig {
  bool strict = true;
  bool per_tenant = true;
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("strict", strict, "let a job that does not fit block the jobs behind it");
    f("per_tenant", per_tenant, "give each tenant of the cluster a separate queue");
  }
};

class Qssf final : public PlacementRulePolicy<QssfConfig, InformationLevel::kHistory> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  size_t memory_bytes(const View& view) const override { return RollingEstimate::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    RollingEstimate estimate(view, bump);
    estimate.on_events(view);
    if (view.num_waiting() == 0) return;
    std::vector<std::tuple<double, int32_t, int32_t>> order;  // service, serial, slot
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      const double service_s =
          double{estimate.predicted_total_s(view, slot)} * view.gpus_at_least_one(slot);
      order.emplace_back(service_s, view.serial(slot), slot);
    }
    std::sort(order.begin(), order.end());
    const int32_t tenants = config_.per_tenant ? view.num_tenants() : 0;
    std::vector<uint8_t> held_up(static_cast<size_t>(tenants) + 1, 0);  // last: no tenant
    std::vector<int32_t> unplaceable;                                   // size classes
    for (const auto& [service_s, serial, slot] : order) {
      const int32_t t = tenants == 0 || view.tenant(slot) == kNone ? tenants : view.tenant(slot);
      if (held_up[static_cast<size_t>(t)] != 0) continue;
      const int32_t k = view.request_class(slot);
      const bool tried = std::find(unplaceable.begin(), unplaceable.end(), k) != unplaceable.end();
      const int32_t n = tried ? 0 : place(view, placement_, slot, draft.scratch());
      if (n > 0) {
        draft.start(slot, draft.scratch(), n);
        continue;
      }
      if (config_.strict) held_up[static_cast<size_t>(t)] = 1;
      // A tenant at its limit does not block the class for other tenants.
      if (!tried && view.within_tenant_limit(slot)) unplaceable.push_back(k);
    }
  }
};

const AddPolicy<Qssf> kQssf{
    "qssf", "shortest service first by the rolling estimate, strictly, in one queue per tenant",
    "Helios QSSF, SC 2021",
    "its priority and strict order; job names match if they differ only in digits; no "
    "boosted trees; tenants share the nodes without an owner"};

template <bool kPreempts, int kGpuExponent>
struct ByEstimate {
  struct Config : PriorityIndexConfig {
    Config() {
      preempt = kPreempts;
      gpu_exponent = kGpuExponent;
    }
  };
  static constexpr InformationLevel kLevel = InformationLevel::kHistory;

  explicit ByEstimate(const Config&) {}
  static size_t bytes(const View& view) { return RollingEstimate::bytes(view); }

  struct Evaluator {
    Evaluator(const ByEstimate&, const View& view, BumpAllocator& bump)
        : view(view), estimate(view, bump) {
      estimate.on_events(view);
    }
    double seconds(int32_t slot) const {
      return estimate.predicted_total_s(view, slot) -
             static_cast<double>(view.attained_us(slot)) * 1e-6;
    }
    const View& view;
    RollingEstimate estimate;
  };
};

template <bool kPreempts, int kGpuExponent>
using AddQssf = AddPolicy<PriorityIndexPolicy<ByEstimate<kPreempts, kGpuExponent>>>;
constexpr const char* kSource = "our own, after Helios QSSF, SC 2021";
constexpr const char* kFidelity =
    "its rolling estimate; job names match if they differ only in digits; no boosted trees; one "
    "queue for all, skipping jobs that do not fit";

const AddQssf<false, 0> kSjf{"sjf-qssf", "shortest job first by the rolling estimate", kSource,
                             kFidelity};
const AddQssf<true, 0> kSrtf{"srtf-qssf", "shortest remaining time first by the rolling estimate",
                             kSource, kFidelity};
const AddQssf<true, 1> kSrsf{
    "srsf-qssf", "shortest remaining service first by the rolling estimate", kSource, kFidelity};

}  // namespace
}  // namespace yard
