// Shortest remaining time first, preemptive: by the true run time (an oracle) or by the user's
// limit.

#include "policies/shortest_remaining.h"

namespace yard {
namespace {

const PolicyRegistry::Add<ShortestRemaining<TrueRemaining, false>> kSrtf{
    "srtf",
    {.about = "shortest remaining time first by true run time",
     .source = "Schrage and Miller 1966; Tiresias, NSDI 2019",
     .fidelity = "exact except for gangs (policies/order.h)",
     .level = Level::kOracle,
     .servable = false,
     .preemptive = true,
     .fields = describe<ShortestRemainingConfig>}};

const PolicyRegistry::Add<ShortestRemaining<LimitRemaining, false>> kSrtfEstimate{
    "srtf-estimate",
    {.about = "shortest remaining time first by the users' limits",
     .source = "Schrage and Miller 1966",
     .fidelity = "exact except for gangs (policies/order.h)",
     .level = Level::kEstimate,
     .preemptive = true,
     .fields = describe<ShortestRemainingConfig>}};

}  // namespace
}  // namespace yard
