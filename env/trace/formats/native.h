// Writes Yardmaster's own CSV and JSONL. They hold all fields of a Job, so that converted and
// generated traces lose nothing. docs/reference/native-formats.md describes every column and key.
#pragma once

#include <string>

#include "env/trace/core/job.h"

namespace yard {

// Returns the text in the format "yardmaster": RFC 4180, with the columns that some job needs. It
// does not record which jobs are scored.
std::string to_native_csv(const Trace& trace);

// Returns the text in the format "yardmaster-jsonl": one object per line, without keys at their
// defaults. Throws InputError about a text that is not UTF-8, which JSON requires.
std::string to_native_jsonl(const Trace& trace);

// Chooses the format by the ending of `path`: .jsonl, or .csv, which is also the default. Throws
// InputError for any other ending.
std::string to_native_text(const Trace& trace, const std::string& path);

}  // namespace yard
