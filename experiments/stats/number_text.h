// Formats numbers for tables and messages.
#pragma once

#include <cstdint>
#include <string>

namespace yard {

// Returns "812.5", and "0.00" instead of "-0.00"; empty for NaN and infinity.
std::string fixed_text(double value, int decimals);

// Returns "1 job", "20 jobs".
std::string pluralised_count_text(int64_t count, const std::string& one);

}  // namespace yard
