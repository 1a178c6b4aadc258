// The parts of a report, each as HTML; empty where a run has nothing for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/report/read.h"

namespace yard::report {

using Runs = std::vector<const RunRecord*>;

// How policies are called on a page, and which colour each keeps on all of its charts.
class Names {
 public:
  // "checkpoint:some/folder/best" is the run's agent; a tuned policy's file is called by its name.
  static std::string label(const RunRecord& run, const std::string& policy);
  // The same where no run is at hand.
  static std::string short_of(const std::string& policy);

  int colour(const std::string& label);

 private:
  std::map<std::string, int> colours_;
};

// What was found, in a sentence or a few: of comparisons, else of replays, else of the training.
std::string headline(const Runs& runs);
std::string headline_of_comparison(const Runs& runs);
std::string headline_of_replays(const Runs& runs);

std::string runs_table(const Runs& runs);      // of several
std::string settings_apart(const Runs& runs);  // the settings in which several differ
std::string provenance(const RunRecord& run);
std::string comparison(const Runs& runs);   // what evaluate found: a row a cell
std::string cells(const RunRecord& run);    // each cell with all its policies
std::string replays(const RunRecord& run);  // what simulate found
// Tables out of simulate: size classes, waits by reason, fairness, tenants, GPU time.
std::string details(const RunRecord& run);
std::string learning(const Runs& runs);
std::string completion_times(const RunRecord& run, Names& names);
std::string over_time(const RunRecord& run, Names& names);
std::string all_metrics(const RunRecord& run);
std::string settings(const RunRecord& run);

}  // namespace yard::report
