// Two-dimensional least attained service without queues (Tiresias, NSDI 2019, before it discretises
// the service): the job with the least GPU time goes first. Margin, cost and timer keep two jobs of
// similar service from preempting each other in turn.

#include "policies/index_order.h"

namespace yard {
namespace {

struct AttainedIndex {
  using Config = IndexConfig;
  static constexpr Level kLevel = Level::kBlind;
  explicit AttainedIndex(const Config&) {}
  static size_t bytes(const View&) { return 0; }
  struct Evaluator {
    Evaluator(const AttainedIndex&, const View& view, BumpAllocator&) : view(view) {}
    double seconds(int32_t slot) const {
      return static_cast<double>(view.attained_us(slot)) * 1e-6;
    }
    const View& view;
  };
};

const PolicyRegistry::Add<IndexPolicy<AttainedIndex>> kLas2d{
    "2d-las",
    {.about = "least attained service (time x GPUs), without queues",
     .source = "Tiresias, NSDI 2019",
     .fidelity = "its order; margin and timer are ours",
     .level = Level::kBlind,
     .preemptive = true,
     .fields = describe<IndexConfig>}};

}  // namespace
}  // namespace yard
