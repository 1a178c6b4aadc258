// Yardmaster's own CSV and JSONL: all that a Job holds, so that a converted or generated trace
// loses nothing. docs/traces.md has every column and key.
#pragma once

#include <string>

#include "env/trace/job.h"

namespace yard {

// Returns the text of a file in the format "yardmaster": RFC 4180, with the columns that some job
// needs. Which jobs are scored is no part of it.
std::string to_own_csv(const Trace& trace);

// The same in the format "yardmaster-jsonl": one object a line, without keys that say nothing.
// Throws InputError about a text that is not UTF-8, which JSON cannot hold.
std::string to_own_jsonl(const Trace& trace);

// The one that the ending of `path` names: .jsonl, or .csv, which is also meant by none. Throws
// InputError for any other, which would not be what it says.
std::string to_own_text(const Trace& trace, const std::string& path);

}  // namespace yard
