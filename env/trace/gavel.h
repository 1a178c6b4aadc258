// What the traces of Gavel and of its descendant Shockwave share: lines of fields between tabs, no
// line with names, jobs without ids or run times. A job type is "ResNet-18 (batch size 32)" or,
// without batch size, "A3C".
#pragma once

#include <string>
#include <string_view>

#include "env/trace/job.h"
#include "env/trace/reader.h"
#include "env/trace/rows.h"

namespace yard::gavel {

// Where a layout has its fields, from 0.
struct Fields {
  int count;     // of them all
  int argument;  // by which the command is told the steps, "--steps"; 0 or 1 comes next
  int steps;
  int gpus;
  int submit;
  int weight = -1;  // where there is one; then comes the SLO
};

// Rows of any number of fields between tabs.
Layout layout();

// Whether a line looks like a row of this layout.
bool fits(std::string_view line, const Fields& fields);

// Reads what the present row says; jobs are numbered from 0 as the original does. Where it cannot
// be used it is counted as such and false returned.
bool read_job(Rows& rows, const Fields& fields, Job& job);

// At least 0.
bool read_seconds(Rows& rows, int field, const std::string& name, int64_t& out_us);

}  // namespace yard::gavel
