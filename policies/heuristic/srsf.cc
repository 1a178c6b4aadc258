// Shortest remaining service (time left x GPUs) first, preemptive: by the true run time (an oracle)
// or by the user's limit.

#include "policies/shortest_remaining.h"

namespace yard {
namespace {

const PolicyRegistry::Add<ShortestRemaining<TrueRemaining, true>> kSrsf{
    "srsf",
    {.about = "shortest remaining service first by true run time",
     .source = "Schrage and Miller 1966; Tiresias, NSDI 2019",
     .fidelity = "exact except for gangs (policies/order.h)",
     .level = Level::kOracle,
     .servable = false,
     .preemptive = true,
     .fields = describe<ShortestRemainingConfig>}};

const PolicyRegistry::Add<ShortestRemaining<LimitRemaining, true>> kSrsfEstimate{
    "srsf-estimate",
    {.about = "shortest remaining service first by the users' limits",
     .source = "Schrage and Miller 1966; Tiresias, NSDI 2019",
     .fidelity = "exact except for gangs (policies/order.h)",
     .level = Level::kEstimate,
     .preemptive = true,
     .fields = describe<ShortestRemainingConfig>}};

}  // namespace
}  // namespace yard
