// The report: one HTML page that needs nothing but itself. Tables, learning curve, job completion
// times, cluster over time and provenance of one run, or of several side by side.
#pragma once

#include <string>
#include <vector>

#include "experiments/report/read.h"

namespace yard::report {

// Requires: at least one run.
std::string render_page(const std::vector<RunRecord>& runs);

// Throws InputError where no page can be written to `path`, or where a file lies there that is no
// earlier page; it says that `option` names another one.
void check_page(const std::string& path, const std::string& option);

}  // namespace yard::report
