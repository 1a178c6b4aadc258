// A job that starts in the place of others, whatever it asks for: cores and tasks as well as GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/sim/plan.h"
#include "env/sim/view.h"

namespace yard {

// Where the job would go by best-fit (choose.h) now; empty: nowhere.
std::vector<Piece> best_fit(const View& view, int32_t slot);
// How many pieces a place may have.
size_t pieces_of_a_place(const View& view);

// Stops the first of `stops` until best-fit finds a place, lets those go on that hold nothing of
// its nodes, and starts the job. Returns false, drafting nothing, where there is no place for it
// even so.
bool start_in_place_of(const View& view, int32_t slot, std::span<const int32_t> stops,
                       Draft& draft);

}  // namespace yard
