// simulate's run folder and page: --out DIR and --report F.html.
//
//   DIR/report.html  config.yaml  run.json  log.txt
//   DIR/evaluations/ simulate.json  jobs.csv  series.json
//   DIR/tables/      waits.csv  wait_reasons.csv  size_classes.csv  fairness.csv  tenants.csv
//                    gpu_hours.csv
// What the rules or the trace have nothing for is left out.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "experiments/programs/sim/options.h"
#include "experiments/programs/sim/recording.h"
#include "experiments/run/run_folder.h"

namespace yard::sim {

class ReplayFolder {
 public:
  // `out`, `page`: of --out and --report; empty: none. Throws InputError where one cannot be
  // written, or `out` is there already.
  ReplayFolder(std::string out, std::string page);

  bool wanted() const { return !out_.empty() || !page_.empty(); }

  // Makes the folder, before anything is played. `app`: the command; its options are the
  // configuration.
  void begin(const CLI::App& app, const Scenario& scenario, uint64_t seed);
  // Writes everything. Requires: begin(), and that `recording` kept what pictures need.
  void finish(const nlohmann::ordered_json& document, const Recording& recording);

 private:
  std::string out_, page_;
  std::optional<RunFolder> run_;
};

}  // namespace yard::sim
