// Code shared by readers of the traces of Gavel and its descendant Shockwave: fields between tabs,
// no line of names, jobs without ids or run times. A job type is "ResNet-18 (batch size 32)" or,
// without a batch size, "A3C".
#pragma once

#include <string>
#include <string_view>

#include "env/trace/core/job.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard::gavel {

// Positions of fields in a layout, from 0.
struct Fields {
  int count;     // number of all fields
  int argument;  // command-line option for the steps, "--steps"; 0 or 1 comes next
  int steps;
  int gpus;
  int submit;
  int weight = -1;  // -1: none; otherwise the SLO comes next
};

// Returns a layout with any number of fields between tabs.
Layout layout();

// Returns whether a line looks like a row of this layout.
bool fits(std::string_view line, const Fields& fields);

// Reads the current row; jobs are numbered from 0 as in the original. If the row cannot be used,
// counts it as unusable and returns false.
bool read_job(Rows& rows, const Fields& fields, Job& job);

// Reads seconds of at least 0, with errors as in read_job().
bool read_seconds(Rows& rows, int field, const std::string& name, int64_t& out_us);

}  // namespace yard::gavel
