// A run as text: the time and kind of each event, and the decision taken at it.
#pragma once

#include <string>

#include "tests/support/scene.h"

namespace yard::testing {

// Returns one line per event, "TIME  what happened | what was decided", then one per job.
std::string transcript(const Scene& scene, const Policy& policy);

}  // namespace yard::testing
