// The tiers of a cluster's network, from the inside out.
#pragma once

#include <cstdint>

namespace yard {

// Two GPUs meet in the lowest tier that holds both.
enum class Tier : uint8_t { kGpu, kIsland, kNode, kRack, kPod, kCore };
inline constexpr int kTiers = 6;
inline constexpr const char* kTierNames[kTiers] = {"gpu", "island", "node", "rack", "pod", "core"};

}  // namespace yard
