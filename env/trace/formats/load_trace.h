// Reads traces from files and generators, and lists all readable formats and generators.
//
//   Trace trace = load_trace("jobs.csv.gz", {});  // the format is recognised
//   Trace synthetic = load_trace("synthetic:habits", {.seed = 7});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/config/settings.h"
#include "env/trace/core/job.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

struct LoadOptions {
  std::string format = {};     // name of the file's format; empty: recognise it
  bool skip_unusable = false;  // count unusable rows instead of rejecting the file
  uint64_t seed = 1;           // random seed of a generator
  int jobs = 0;
  int cluster_gpus = 0;
  Settings settings = {};  // settings of the reader or generator
};

// Returns the trace in the file `source` (plain or gzip) or of the generator "synthetic:NAME".
// Throws InputError if there is no such file, no known format or no job, or about the first
// unusable row and the number of such rows.
Trace load_trace(const std::string& source, const LoadOptions& options);

// Returns whether `source` is a generator. synthetic_parameters_sha256() returns a hash of the
// generator, its settings and the options, and throws InputError if the generator or a setting does
// not exist.
bool is_synthetic(std::string_view source);
std::string synthetic_parameters_sha256(const std::string& source, const LoadOptions& options);

// Parses a trace like load_trace(), from a file's text. `source` is the file's name in messages.
Trace parse_trace(std::string_view text, const std::string& source, const LoadOptions& options);

// A readable format ("itp") or a generator ("synthetic:habits"), as list_trace_sources() gives it.
struct TraceSource {
  std::string name;
  std::string help;
  std::vector<Field> fields;
};
std::vector<TraceSource> list_trace_sources();

}  // namespace yard
