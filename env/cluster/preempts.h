// Whose jobs a tenant may preempt.
#pragma once

#include <cstdint>

namespace yard {

// To get the GPUs that it is guaranteed, a tenant may preempt no jobs; jobs of tenants above their
// own quota; of tenants of lower priority; of anyone.
enum class Preempts : uint8_t { kNobody, kBorrowers, kLower, kAnyone };
inline constexpr const char* kPreemptsNames[] = {"nobody", "borrowers", "lower", "anyone"};

}  // namespace yard
