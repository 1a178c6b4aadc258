// Progress of long work on stderr: at most a line every five seconds, so that a log stays readable.
#pragma once

#include <functional>
#include <string>

namespace yard {

// Returns a reporter that may be called from any thread. The first call is shown only after
// that time, so that short work stays silent.
std::function<void(const std::string& line)> progress_log();

}  // namespace yard
