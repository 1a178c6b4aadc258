// Two-dimensional least attained service without queues (Tiresias, NSDI 2019, before it discretises
// the service): the job with the least GPU time goes first. Margin, cost and timer keep two jobs of
// similar service from preempting each other in turn.
#include "policies/index_order.h"

namespace yard {
namespace {

using AttainedIndex =
    ViewPriorityIndex<PriorityIndexConfig, InformationLevel::kBlind, &View::attained_us>;

const AddPolicy<PriorityIndexPolicy<AttainedIndex>> kLas2d{
    "2d-las", "least attained service (time x GPUs), without queues", "Tiresias, NSDI 2019",
    "its order; margin and timer are ours"};

}  // namespace
}  // namespace yard
