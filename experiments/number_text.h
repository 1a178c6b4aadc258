// Numbers as tables and sentences for users print them.
#pragma once

#include <cstdint>
#include <string>

namespace yard {

// "812.5", and "0.00" instead of "-0.00"; empty for NaN and infinity.
std::string fixed_text(double value, int decimals);

// "1 job", "20 jobs".
std::string counted_text(int64_t count, const std::string& one);

}  // namespace yard
