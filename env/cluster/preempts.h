// Which jobs a tenant may preempt.
#pragma once

#include <cstdint>

namespace yard {

// The jobs that a tenant may preempt to get its guaranteed GPUs: none, jobs of tenants which use
// more than their quota, jobs of tenants of lower priority, or any job.
enum class Preempts : uint8_t { kNoJobs, kBorrowers, kLower, kAnyJob };
inline constexpr const char* kPreemptsNames[] = {"nobody", "borrowers", "lower", "anyone"};

}  // namespace yard
