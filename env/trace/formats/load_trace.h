// Reads traces from files and generators, and lists both.
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
  std::string format = {};     // empty: recognise it
  bool skip_unusable = false;  // count unusable rows instead of rejecting the file
  uint64_t seed = 1;           // for generators, as are `jobs` and `cluster_gpus`
  int jobs = 0;
  int cluster_gpus = 0;
  Settings settings = {};  // of the reader or generator
};

// Returns the trace in the file `source` (plain or gzip) or of the generator "synthetic:NAME".
// Throws InputError: no such file, unknown format, no jobs, or the first unusable row and their
// number.
Trace load_trace(const std::string& source, const LoadOptions& options);

// Whether `source` is a generator; and a hash of the generator, its settings and the options.
// Throws InputError: no such generator, or settings that it does not take.
bool is_synthetic(std::string_view source);
std::string synthetic_sha256(const std::string& source, const LoadOptions& options);

// Parses the text of a file like load_trace(). `source` names it in messages.
Trace parse_trace(std::string_view text, const std::string& source, const LoadOptions& options);

// A readable format ("itp") or a generator ("synthetic:habits").
struct TraceSource {
  std::string name;
  std::string help;
  std::vector<Field> fields;
};
std::vector<TraceSource> list_trace_sources();

}  // namespace yard
