// How the tasks of a job talk to each other while it runs.
#pragma once

#include <cstdint>

namespace yard {

enum class Pattern : uint8_t { kNone, kRing, kTree, kHierarchical, kParameterServer, kPipeline };

}  // namespace yard
