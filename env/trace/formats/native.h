// Writes Yardmaster's own CSV and JSONL formats, which hold all fields of a Job, so that converted
// and generated traces lose nothing. docs/reference/native-formats.md describes both formats.
#pragma once

#include <string>

#include "env/trace/core/job.h"

namespace yard {

// Returns a trace in the format "yardmaster", a CSV of RFC 4180 with only the columns that some job
// needs. The CSV does not record which jobs are scored.
std::string to_native_csv(const Trace& trace);

// Returns a trace in the format "yardmaster-jsonl": one object per line, without keys at their
// defaults. Throws InputError about a text that is not UTF-8, which JSON requires.
std::string to_native_jsonl(const Trace& trace);

// Returns a trace as JSONL if `path` ends in .jsonl, or as CSV if it ends in .csv or has no ending.
// Throws InputError if `path` has an ending other than .jsonl and .csv.
std::string to_native_text(const Trace& trace, const std::string& path);

}  // namespace yard
