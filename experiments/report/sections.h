// The sections of a report as HTML. A section is empty if a run has no data for it.
#pragma once

#include <string>
#include <vector>

#include "experiments/report/run_record.h"

namespace yard::report {

using Runs = std::vector<const RunRecord*>;

// The labels of policies on a page, and the colour of each, which is the same on all charts.
class PolicyLabels {
 public:
  // The run's agent for "checkpoint:some/folder/best", the file's stem for a tuned policy.
  static std::string label(const RunRecord& run, const std::string& policy);
  // A label without a run: the last part of a path.
  static std::string short_label(const std::string& policy);

  int colour_index(const std::string& label);

 private:
  std::map<std::string, int> colours_;
};

// The number of a key with `decimals` digits after the point.
std::string cell(const Json& row, const char* key, int decimals);

// The main result in a few sentences: of comparisons, else of replays, else of training.
std::string headline(const Runs& runs);
std::string headline_of_comparison(const Runs& runs);
std::string headline_of_replays(const Runs& runs);

std::string runs_table(const Runs& runs);     // a row per run
std::string settings_diff(const Runs& runs);  // the settings in which runs differ
std::string provenance_section(const RunRecord& run);
std::string comparison_section(const Runs& runs);   // results of evaluate: a row per cell
std::string cells_section(const RunRecord& run);    // table of each cell with all its policies
std::string replays_section(const RunRecord& run);  // results of simulate
// Results of whatif beyond the replays: verdicts, limitations, waits by size, partition and user.
std::string whatif_section(const RunRecord& run);
// More tables of simulate: size classes, waits by reason, fairness, tenants, GPU time.
std::string replay_tables_section(const RunRecord& run);
std::string learning_section(const Runs& runs);
std::string completion_times_section(const RunRecord& run, PolicyLabels& names);
std::string cluster_over_time_section(const RunRecord& run, PolicyLabels& names);
std::string all_metrics(const RunRecord& run);
std::string settings(const RunRecord& run);

}  // namespace yard::report
