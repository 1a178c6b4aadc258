// One play as text to read and to compare: what happened when, and what was decided then.
#pragma once

#include <string>

#include "tests/support/scene.h"

namespace yard::testing {

// A line an event, "TIME  what happened | what was decided", then a line a job.
std::string transcript(const Scene& scene, const Policy& policy);

}  // namespace yard::testing
