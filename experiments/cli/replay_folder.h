// Run folder and report page of `simulate` and `whatif`: --out DIR and --report F.html.
//
//   DIR/report.html  config.yaml  run.json  log.txt
//   DIR/evaluations/ simulate.json or whatif.json  jobs.csv  series.json
//   DIR/tables/      waits.csv  wait_reasons.csv  size_classes.csv  fairness.csv  tenants.csv
//                    gpu_hours.csv
// Tables without data are left out. The folder of a command that fails or is interrupted is
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
  // `out`, `page`: values of --out and --report; empty: none. Throws InputError if a path cannot be
  // written or the folder `out` already exists.
  ReplayFolder(std::string out, std::string page);
  ~ReplayFolder();
  ReplayFolder(const ReplayFolder&) = delete;
  ReplayFolder& operator=(const ReplayFolder&) = delete;

  bool enabled() const { return !out_.empty() || !page_.empty(); }

  // Creates the folder; call it before the first run. `app`: the command `command`, whose options
  // become config.yaml.
  void begin(const CLI::App& app, const Scenario& scenario, const std::string& command,
             uint64_t seed);
  // Writes all files of simulate. Requires: begin(), and a recording with for_pictures.
  void finish(const nlohmann::ordered_json& document, const Recording& recording);
  // Writes all files of whatif. `rows`: jobs.csv; `page`: HTML. Requires: begin().
  void finish(const nlohmann::ordered_json& document, const std::string& rows,
              const std::string& page);
  // Prints the paths of the report pages that were written, on stderr.
  void print_pages() const;

 private:
  void write_pages(const std::string& page);

  std::string out_, page_;
  bool done_ = false;
  std::optional<RunFolder> run_;
};

}  // namespace yard::sim
