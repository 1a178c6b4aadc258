// Describes the machine as far as timings depend on it, without identifying it.
#pragma once

#include <string>

namespace yard {

struct Machine {
  std::string cpu;        // "unknown" if the system does not say
  int cores = 0;          // number of CPU cores available to this process
  double memory_gib = 0;  // memory of the whole machine in GiB
};

Machine this_machine();

// Returns the time in UTC: "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace yard
