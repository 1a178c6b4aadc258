// Preemption which makes room for a job, whatever it requests: GPUs, cores and tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/view/plan.h"
#include "env/sim/view/view.h"

namespace yard {

// Returns the job's best-fit placement (placement_rules.h); empty if it has none.
std::vector<Piece> best_fit(const View& view, int32_t slot);
// Returns the largest number of pieces of a placement.
size_t max_pieces(const View& view);

// Preempts jobs of `victims`, in their order, until best-fit finds a placement, and starts the job.
// Jobs without a part on the placement's nodes are not preempted. Returns false if preempting all
// of `victims` does not make room; then the draft is unchanged.
bool preempt_to_start(const View& view, int32_t slot, std::span<const int32_t> victims,
                      Draft& draft);

}  // namespace yard
