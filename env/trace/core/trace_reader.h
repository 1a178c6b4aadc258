// Interfaces of trace readers and generators. Each format, and each generator, is one source file,
// which adds itself to a registry.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/config/registry.h"
#include "env/base/config/settings.h"
#include "env/trace/core/job.h"
#include "env/trace/core/rows.h"

namespace yard {

// The beginning of a file, from which its format is recognised.
struct FileHead {
  std::string name;                       // file name as the caller gave it
  std::string_view text;                  // beginning of the text, at most 64 KiB
  std::vector<std::string_view> columns;  // column names in the first line; empty for JSON

  static FileHead of(std::string name, std::string_view text);

  using Names = std::initializer_list<std::string_view>;
  bool is_json() const;  // begins with '{'
  // Returns whether the columns include all of `wanted`, in any order.
  bool has_columns(Names wanted) const;
  // Returns whether the columns include all of `wanted`, and no others except `optional` ones.
  bool has_only_columns(Names wanted, Names optional = {}) const;
  std::string_view line(int number) const;  // line by number, from 1; empty if missing
};

// Reads one file format. AddReader registers it.
class TraceReader {
 public:
  static constexpr const char* kKind = "trace format";
  struct Info {
    std::string help;
    std::vector<Field> (*fields)() = describe<NoConfig>;  // settings
  };

  virtual ~TraceReader() = default;
  // Returns whether a file that begins with `head` has this format. Formats must not overlap.
  virtual bool recognises(const FileHead& head) const = 0;
  virtual Layout layout() const { return {}; }  // default: a CSV with column names in line 1
  // Adds the job of every row to `rows`, or counts the row as unusable.
  virtual void read(Rows& rows) const = 0;
  // Returns a small file of this format, for documentation and for tests of all readers.
  virtual std::string example() const = 0;
};

// A reader with the settings of `Config`, given as `--set trace.key=value`. Sets the members
// `config_`, `zone_` (from config_.zone) and `settings_` (as given) if `Reader` has them and they
// are not private.
template <class Reader, class Config>
class ReaderWithSettings final : public Reader {
 public:
  explicit ReaderWithSettings(const Settings& settings) {
    static_assert(
        std::is_same_v<Config, NoConfig> || requires { this->config_; },
        "a reader with settings needs a member config_ that is not private");
    const auto config = parse<Config>(settings);
    if constexpr (requires { config.zone; }) {
      const Zone zone(config.zone, "trace.zone");
      if constexpr (requires { this->zone_; }) this->zone_ = zone;
    }
    if constexpr (requires { this->config_; }) this->config_ = config;
    if constexpr (requires { this->settings_; }) this->settings_ = settings;
  }
};

// Registers a reader: const AddReader<ItpReader> kAdd{"itp", "CSV of ..."};
template <class Reader, class Config = NoConfig>
struct AddReader : Registry<TraceReader>::Add<ReaderWithSettings<Reader, Config>> {
  AddReader(const std::string& name, std::string help)
      : Registry<TraceReader>::Add<ReaderWithSettings<Reader, Config>>(
            name, {std::move(help), describe<Config>}) {}
};

struct GenerateOptions {
  uint64_t seed = 1;
  int jobs = 0;          // number of jobs; 0: the generator's default
  int cluster_gpus = 0;  // GPUs of the cluster that the load refers to; 0: the generator's default
};

// Generates a workload without a file. The constructor of a generator takes its settings.
class TraceGenerator {
 public:
  static constexpr const char* kKind = "synthetic trace";
  using Info = TraceReader::Info;

  virtual ~TraceGenerator() = default;
  // Returns jobs sorted by submission. Equal options and settings generate equal jobs.
  virtual std::vector<Job> generate(const GenerateOptions& options) const = 0;
  // Returns a hash of everything that determines the generated jobs, except GenerateOptions.
  virtual std::string parameters_hash() const = 0;
};

// The reason why a job cannot be used.
struct UnusableReason {
  std::string reason;  // the same text for all jobs with the same problem
  std::string expected, got;
};

// Calls `why`, which may change the job, for every job. Throws InputError about the first unusable
// job in the file and the number of jobs with the same problem. With `skip_unusable`, removes
// unusable jobs, counts them in trace.skipped, and throws InputError only if no job is left.
void check_usable(Trace& trace, const std::function<std::optional<UnusableReason>(Job&)>& why,
                  bool skip_unusable);

}  // namespace yard
