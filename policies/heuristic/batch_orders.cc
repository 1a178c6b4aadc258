// Orders of batch systems. They combine a job's expected run time r, number of GPUs n, submission
// time s and wait w. The lowest score starts first; nothing is preempted:
//   saf     r n                           smallest area first
//   f1      log10(r) n + 870 log10(s)     Carastan-Santos and de Camargo, SC 2017
//   wfp3    -(w / r)^3 n                  Tang et al., CLUSTER 2009
//   unicef  -w / (log2(n) r)              Tang et al.; jobs of one GPU (logarithm 0) go first
// r is the user's limit or, without one, Helios' rolling estimate. Times are in seconds.
#include <cmath>

#include "policies/expected_time.h"
#include "policies/order.h"

namespace yard {
namespace {

struct Asked {
  double run_s, gpus, submit_s, waited_s;
};

double saf(const Asked& a) { return a.run_s * a.gpus; }
double f1(const Asked& a) {
  return std::log10(a.run_s) * a.gpus + 870 * std::log10(std::max(a.submit_s, 1.0));
}
double wfp3(const Asked& a) {
  const double x = a.waited_s / a.run_s;
  return -x * x * x * a.gpus;
}
// Jobs of one GPU go before all others, in order of w / r.
double unicef(const Asked& a) {
  constexpr double kBeforeAll = 1e9;  // no job waits this multiple of its run time
  const double x = a.waited_s / a.run_s;
  return a.gpus <= 1 ? -kBeforeAll - x : -x / std::log2(a.gpus);
}

template <double (*kScore)(const Asked&)>
class BatchOrder final : public PlacementRulePolicy<PlacementConfig, InformationLevel::kEstimate> {
 public:
  using PlacementRulePolicy::PlacementRulePolicy;

  InformationLevel min_information_level() const override { return InformationLevel::kHistory; }

  size_t memory_bytes(const View& view) const override {
    return RollingEstimate::bytes(view) + RankedQueue::bytes(view);
  }
  size_t kept_memory_bytes(const View& view) const override { return RollingEstimate::bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    BumpAllocator bump(memory.data());
    const ExpectedRunTime expected(view, bump);
    RankedQueue ranked(view, bump);
    rank_all_waiting(view, ranked, [&](int32_t slot) {
      const double submit_s = static_cast<double>(view.submit_us(slot)) * 1e-6;
      const double now_s = static_cast<double>(view.now_us()) * 1e-6;
      return kScore({std::max(expected.total_s(slot), 1.0),
                     static_cast<double>(view.gpus_at_least_one(slot)), submit_s,
                     now_s - submit_s});
    });
    start_in_order(view, ranked, placement_, draft);
  }
};

constexpr const char* kFidelity = "exact where users set limits; skips jobs that do not fit";

const AddPolicy<BatchOrder<saf>> kSaf{
    "saf", "smallest area (time x GPUs) first, by the user's limit, else a rolling estimate",
    "Carastan-Santos et al., CCGrid 2019", kFidelity};
// The score depends on when the trace began, which a live cluster cannot determine.
const AddPolicy<BatchOrder<f1>> kF1{"f1",
                                    "small and early jobs first, weighted by a fitted formula",
                                    "Carastan-Santos and de Camargo, SC 2017", kFidelity, false};
const AddPolicy<BatchOrder<wfp3>> kWfp3{
    "wfp3", "longest wait relative to run time first, large jobs before small ones",
    "Tang et al., CLUSTER 2009", kFidelity};
const AddPolicy<BatchOrder<unicef>> kUnicef{
    "unicef",
    "longest wait relative to run time first, small jobs before large ones; jobs of one GPU "
    "before all others",
    "Tang et al., CLUSTER 2009", kFidelity};

}  // namespace
}  // namespace yard
