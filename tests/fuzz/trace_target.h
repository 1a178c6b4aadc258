// What must hold of any text that is taken for a trace: jobs that make sense, or an InputError.
#pragma once

#include <string>
#include <string_view>

namespace yard::testing {

// Reads `text` as `format`, strictly and not, checks the jobs, writes them in both of our own forms
// and reads those back. Returns whether it was read; aborts, naming what does not hold.
bool try_trace(const std::string& format, std::string_view text);

}  // namespace yard::testing
