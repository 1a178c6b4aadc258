// The machine as far as figures depend on it; nothing that tells whose it is.
#pragma once

#include <string>

namespace yard {

struct Machine {
  std::string cpu;        // "unknown" where the system does not say
  int cores = 0;          // that this process may use
  double memory_gib = 0;  // of the whole machine
};

Machine this_machine();

// "2026-01-31T12:00:00Z"
std::string utc_now();

}  // namespace yard
