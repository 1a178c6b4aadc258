// Yardmaster's own CSV: all that a Job holds, so that a converted or generated trace loses nothing.
#pragma once

#include <string>

#include "env/trace/job.h"

namespace yard {

// Returns the text of a file in the format "yardmaster". Which jobs are scored is no part of it.
// Throws InputError about an id, user or name with a comma or line break, which the format cannot
// hold.
std::string to_own_csv(const Trace& trace);

}  // namespace yard
