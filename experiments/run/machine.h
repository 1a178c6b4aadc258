// Describes the machine's properties which affect timings, without identifying the machine.
#pragma once

#include <string>

namespace yard {

struct Machine {
  std::string cpu;        // CPU model; "unknown" if not found
  int cores = 0;          // cores available to this process
  double memory_gib = 0;  // memory of the whole machine
};

Machine this_machine();

// Returns the present time in UTC: "2026-01-31T12:00:00Z".
std::string utc_now();

}  // namespace yard
