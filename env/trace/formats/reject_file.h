// Rejects a file that is no trace with one sentence: what the file looks like and what to do.
#pragma once

#include "env/trace/core/column_names.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

// Throws InputError if no reader can read a file whatever its format: an archive, a compression
// other than gzip, a workbook, an HTML page, UTF-16, an empty file.
void reject_unreadable_file(const FileHead& head);

// Throws InputError about a text whose format no reader recognises.
[[noreturn]] void reject_unknown_format(const FileHead& head);

}  // namespace yard
