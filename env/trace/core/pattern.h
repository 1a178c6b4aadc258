// Communication pattern of the tasks of a running job.
#pragma once

#include <cstdint>

namespace yard {

enum class Pattern : uint8_t { kNone, kRing, kTree, kHierarchical, kParameterServer, kPipeline };

}  // namespace yard
