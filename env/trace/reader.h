// Traces from files and generators: one file a format, one registry each.
//
//   Trace trace = load_trace("jobs.csv.gz", {});  // the format is recognised
//   Trace synthetic = load_trace("synthetic:habits", {.seed = 7});
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/settings.h"
#include "env/trace/job.h"

namespace yard {

class Rows;
struct Layout;

// The beginning of a file, by which formats are told apart.
struct FileHead {
  std::string name;                       // as the caller gave it
  std::string_view text;                  // at most 64 KiB
  std::vector<std::string_view> columns;  // the first line, split at commas; JSON has none

  static FileHead of(std::string name, std::string_view text);

  using Names = std::initializer_list<std::string_view>;
  bool is_json() const;  // begins with an object, whatever stands in its strings
  // Returns whether every one of `wanted` is among the columns, in any order.
  bool has_columns(Names wanted) const;
  // The same, and no column is none of `wanted` and `optional`: two formats may share columns.
  bool has_only_columns(Names wanted, Names optional = {}) const;
  std::string_view line(int number) const;  // from 1; empty where there is none
};

// How one file format says its jobs. What its constructor declares is set by
// `--set trace.key=value`.
class TraceReader {
 public:
  static constexpr const char* kKind = "trace format";
  struct Info {
    std::string help;
    std::vector<Field> (*fields)() = describe<NoConfig>;  // what can be set
  };

  virtual ~TraceReader() = default;
  // Returns whether a file that begins like this is of this format; no two formats may say so.
  virtual bool recognises(const FileHead& head) const = 0;
  virtual Layout layout() const;  // commas, and a first line with names
  // Adds the job of every row, or counts the row as unusable.
  virtual void read(Rows& rows) const = 0;
  // Returns a small file of this format, for documentation and for the tests over all readers.
  virtual std::string example() const = 0;
};

struct GenerateOptions {
  uint64_t seed = 1;
  int jobs = 0;          // 0: the generator's own number
  int cluster_gpus = 0;  // the cluster that arrivals are scaled to; 0: the generator's own
};

// A source of workloads that needs no file. Its constructor takes the Settings it declares.
class TraceGenerator {
 public:
  static constexpr const char* kKind = "synthetic trace";
  using Info = TraceReader::Info;

  virtual ~TraceGenerator() = default;
  // Returns jobs sorted by submission, the same for the same options and settings.
  virtual std::vector<Job> generate(const GenerateOptions& options) const = 0;
  // Returns a hash of everything besides the options that decides what is generated.
  virtual std::string parameters_hash() const = 0;
};

struct LoadOptions {
  std::string format = {};     // empty: recognise it
  bool skip_unusable = false;  // count unusable rows instead of refusing the file
  uint64_t seed = 1;           // this and what follows: for generators
  int jobs = 0;
  int cluster_gpus = 0;
  Settings settings = {};  // of the reader or generator
};

// Returns the trace in the file `source` (plain or gzip), or that which "synthetic:NAME" generates.
// Throws InputError: no such file, unknown format, no jobs, or the first unusable row and how many.
Trace load_trace(const std::string& source, const LoadOptions& options);

// Whether a generator makes it; and a hash of all but the cluster that decides what it makes.
// Throws InputError: no such generator, or settings that it does not take.
bool is_synthetic(std::string_view source);
std::string synthetic_sha256(const std::string& source, const LoadOptions& options);

// The same for the text of a file; `source` names it in messages.
Trace parse_trace(std::string_view text, const std::string& source, const LoadOptions& options);

// Why a job cannot be used.
struct Unusable {
  std::string reason;  // the same for all jobs of a kind
  std::string expected, got;
};

// Asks `why` about every job, which may change it. Throws InputError about the first in the file
// that cannot be used, and how many there are of its kind; or takes them out, counted in
// trace.skipped. No job left is an InputError, too.
void check_usable(Trace& trace, const std::function<std::optional<Unusable>(Job&)>& why,
                  bool skip_unusable);

// Returns what can be read ("itp") and generated ("synthetic:habits"), by name.
struct TraceSource {
  std::string name;
  std::string help;
  std::vector<Field> fields;
};
std::vector<TraceSource> list_trace_sources();

}  // namespace yard
