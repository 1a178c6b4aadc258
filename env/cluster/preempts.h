// The jobs that a tenant may preempt.
#pragma once

#include <cstdint>

namespace yard {

// Jobs which a tenant may preempt to get its guaranteed GPUs: none; jobs of tenants above their own
// quota; jobs of tenants of lower priority; any.
enum class Preempts : uint8_t { kNoJobs, kBorrowers, kLower, kAnyJob };
inline constexpr const char* kPreemptsNames[] = {"nobody", "borrowers", "lower", "anyone"};

}  // namespace yard
