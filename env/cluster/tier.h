// The tiers of a cluster's network, from the innermost to the outermost.
#pragma once

#include <cstdint>

namespace yard {

// The tier of two GPUs is the lowest tier that contains both GPUs.
enum class Tier : uint8_t { kGpu, kIsland, kNode, kRack, kPod, kCore };
inline constexpr int kTiers = 6;
inline constexpr const char* kTierNames[kTiers] = {"gpu", "island", "node", "rack", "pod", "core"};

}  // namespace yard
