// Interfaces of trace readers and generators. Each format or generator is one file with a registry
// entry.
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
  std::string name;                       // as the caller gave it
  std::string_view text;                  // at most 64 KiB
  std::vector<std::string_view> columns;  // names in the first line; empty for JSON

  static FileHead of(std::string name, std::string_view text);

  using Names = std::initializer_list<std::string_view>;
  bool is_json() const;  // begins with '{'
  // Returns whether all of `wanted` are among the columns, in any order.
  bool has_columns(Names wanted) const;
  // Also requires that every column is in `wanted` or `optional`: two formats may share columns.
  bool has_only_columns(Names wanted, Names optional = {}) const;
  std::string_view line(int number) const;  // from 1; empty if there is none
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
  // Returns whether a file that begins like this has this format. No two formats may return true.
  virtual bool recognises(const FileHead& head) const = 0;
  virtual Layout layout() const { return {}; }  // default: commas, and names in the first line
  // Adds the job of every row, or counts the row as unusable.
  virtual void read(Rows& rows) const = 0;
  // Returns a small file of this format, for documentation and for tests of all readers.
  virtual std::string example() const = 0;
};

// A reader with the settings of `Config`, which `--set trace.key=value` sets. Fills those of these
// members that `Reader` has, which must not be private: `config_`, `zone_` (from config_.zone) and
// `settings_` (as given).
template <class Reader, class Config>
class ConfiguredReader final : public Reader {
 public:
  explicit ConfiguredReader(const Settings& settings) {
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
struct AddReader : Registry<TraceReader>::Add<ConfiguredReader<Reader, Config>> {
  AddReader(const std::string& name, std::string help)
      : Registry<TraceReader>::Add<ConfiguredReader<Reader, Config>>(
            name, {std::move(help), describe<Config>}) {}
};

struct GenerateOptions {
  uint64_t seed = 1;
  int jobs = 0;          // 0: the generator's default
  int cluster_gpus = 0;  // size of the cluster that the load refers to; 0: the generator's default
};

// Generates a workload without a file. Its constructor takes the settings that it declares.
class TraceGenerator {
 public:
  static constexpr const char* kKind = "synthetic trace";
  using Info = TraceReader::Info;

  virtual ~TraceGenerator() = default;
  // Returns jobs sorted by submission. Equal options and settings give equal jobs.
  virtual std::vector<Job> generate(const GenerateOptions& options) const = 0;
  // Returns a hash of everything except the options that determines the jobs.
  virtual std::string parameters_hash() const = 0;
};

// Why a job cannot be used.
struct Unusable {
  std::string reason;  // the same for all jobs of a kind
  std::string expected, got;
};

// Calls `why` for every job; it may change the job. Throws InputError about the first unusable job
// in the file and the number of its kind. With `skip_unusable`, removes such jobs and counts them
// in trace.skipped. Throws InputError if no job is left.
void check_usable(Trace& trace, const std::function<std::optional<Unusable>(Job&)>& why,
                  bool skip_unusable);

}  // namespace yard
