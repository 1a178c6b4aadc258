// Helios' quasi-shortest-service-first (Hu et al., SC 2021): jobs in the order of the service, time
// times GPUs, that its rolling estimate lets expect (env/predict/rolling_estimate.h). `qssf` lets
// run what runs, as Helios does; its sisters order by time alone, or preempt.

#include "env/predict/rolling_estimate.h"
#include "policies/index_order.h"

namespace yard {
namespace {

template <bool kPreempts, int kGpuExponent>
struct ByEstimate {
  struct Config : IndexConfig {
    Config() {
      preempt = kPreempts;
      gpu_exponent = kGpuExponent;
    }
  };
  static constexpr Level kLevel = Level::kHistory;

  explicit ByEstimate(const Config&) {}
  static size_t bytes(const View& view) { return RollingEstimate::bytes(view); }

  struct Now {
    Now(const ByEstimate&, const View& view, Carver& carver) : view(view), estimate(view, carver) {
      estimate.follow(view);
    }
    double seconds(int32_t slot) const {
      return estimate.total_s(view, slot) - static_cast<double>(view.attained_us(slot)) * 1e-6;
    }
    const View& view;
    RollingEstimate estimate;
  };
};

template <bool kPreempts, int kGpuExponent>
struct AddQssf {
  AddQssf(const char* name, const char* about)
      : add{name,
            {.about = about,
             .source = "Helios QSSF, SC 2021",
             .fidelity = "its rolling estimate, names alike but for digits; no boosted trees; one "
                         "queue for all virtual clusters, skipping what does not fit",
             .level = Level::kHistory,
             .preemptive = kPreempts,
             .fields = describe<typename ByEstimate<kPreempts, kGpuExponent>::Config>}} {}
  PolicyRegistry::Add<IndexPolicy<ByEstimate<kPreempts, kGpuExponent>>> add;
};

const AddQssf<false, 1> kQssf{"qssf", "shortest service first by the rolling estimate"};
const AddQssf<false, 0> kSjf{"sjf-qssf", "shortest job first by the rolling estimate"};
const AddQssf<true, 0> kSrtf{"srtf-qssf", "shortest time left first by the rolling estimate"};
const AddQssf<true, 1> kSrsf{"srsf-qssf", "shortest service left first by the rolling estimate"};

}  // namespace
}  // namespace yard
