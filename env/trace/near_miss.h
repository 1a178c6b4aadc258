// What a file looks like that is no trace as it is, and what to do about it, in one sentence.
#pragma once

#include "env/trace/header.h"
#include "env/trace/reader.h"

namespace yard {

// Throws InputError about what no reader can take whatever its format: an archive, another
// compression, a workbook, a page of HTML, UTF-16, an empty file.
void refuse_unreadable(const FileHead& head);

// Throws InputError about a text that no format recognises.
[[noreturn]] void refuse_unknown(const FileHead& head);

}  // namespace yard
