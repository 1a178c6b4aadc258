// Writes the run folder (--out DIR) and report page (--report F.html) of `simulate` and `whatif`.
//
//   DIR/report.html  config.yaml  run.json  log.txt
//   DIR/evaluations/ simulate.json or whatif.json  jobs.csv  series.json
//   DIR/tables/      waits.csv  wait_reasons.csv  size_classes.csv  fairness.csv  tenants.csv
//                    gpu_hours.csv
// Tables without data are left out. If the command fails or is interrupted, its run folder is
// removed.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiments/cli/common_options.h"
#include "experiments/cli/recording.h"
#include "experiments/run/run_folder.h"

namespace yard::sim {

class ReplayFolder {
 public:
  // `out`, `page`: values of --out and --report; empty if not given. Throws InputError if a path
  // cannot be written or `out` already exists.
  ReplayFolder(std::string out, std::string page);
  ~ReplayFolder();
  ReplayFolder(const ReplayFolder&) = delete;
  ReplayFolder& operator=(const ReplayFolder&) = delete;

  bool enabled() const { return !out_.empty() || !page_.empty(); }

  // Creates the run folder. Call begin() before the first run. `app`: the options of the command
  // named `command`, which become config.yaml.
  void begin(const CLI::App& app, const Scenario& scenario, const std::string& command,
             uint64_t seed);
  // Writes all files of `simulate`. Requires: begin() was called; `recording` has for_report.
  void finish(const nlohmann::ordered_json& document, const SimulationRecorder& recording);
  // Writes all files of `whatif`: `rows` is jobs.csv, `page` is HTML. Requires: begin() was called.
  void finish(const nlohmann::ordered_json& document, const std::string& rows,
              const std::string& page);
  // Prints the paths of the report pages written, on stderr.
  void print_page_paths() const;

 private:
  void write_pages(const std::string& html);

  std::string out_, page_;
  bool done_ = false;
  std::optional<RunFolder> run_;
};

}  // namespace yard::sim
