// Formats numbers for tables and messages.
#pragma once

#include <cstdint>
#include <string>

namespace yard {

// Returns "812.5" with `decimals` decimals, "0.00" instead of "-0.00", and "" for NaN and infinity.
std::string fixed_text(double value, int decimals);

// Returns "1 job" or "20 jobs" for `one` = "job".
std::string pluralised_count_text(int64_t count, const std::string& one);

}  // namespace yard
