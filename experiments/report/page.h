// Renders a report: one self-contained HTML page about one or more runs, with tables, learning
// curves, job completion times, the cluster over time and provenance.
#pragma once

#include "experiments/report/run_record.h"

namespace yard::report {

// Returns the HTML page of the report. Requires: at least one run.
std::string render_page(const std::vector<RunRecord>& runs);

// Throws InputError, naming `option`, if `path` is not writable or is an existing file other than a
// report page of Yardmaster.
void require_writable_page_path(const std::string& path, const std::string& option);

}  // namespace yard::report
