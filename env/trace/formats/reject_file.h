// Rejects files that are not traces with one sentence: what the file looks like, and what to do.
#pragma once

#include "env/trace/core/column_names.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

// Throws InputError about a file that no reader can read, whatever its format: an archive, another
// compression, a workbook, an HTML page, UTF-16, an empty file.
void reject_unreadable(const FileHead& head);

// Throws InputError about a text which no format recognises.
[[noreturn]] void reject_unknown(const FileHead& head);

}  // namespace yard
