// The speed model of a run: measured profiles, and from them a class for every job of a trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/speed/table.h"
#include "env/sim/tables.h"
#include "env/trace/job.h"
#include "env/trace/profile.h"

namespace yard {

class Speeds {
 public:
  // Loads files or folders of measurements, joined by commas, and after them what the cluster says
  // of models: a file comes first. Throws InputError.
  // Requires: `trace` and `cluster` are those that are played, or copies.
  Speeds(const std::string& paths, const Trace& trace, const ClusterSpec& cluster);
  Speeds(const Speeds&) = delete;

  // (N) the class of every job; 0 where nothing is known of its model.
  std::vector<int32_t> classes(const Trace& trace);
  SpeedColumns columns() { return table_->columns(); }

  // Which jobs with shares of GPUs were measured not to fit on one together: a rate of 0. Throws
  // InputError where that is said of more kinds of jobs than rules can tell apart.
  PairBars bars(const Trace& trace);

  const Profiles& profiles() const { return profiles_; }

  // Keeps jobs off GPU types on which their model does not fit as asked for.
  void restrict_types(Trace& trace, const ClusterSpec& cluster);

 private:
  Profiles profiles_;
  std::unique_ptr<SpeedTable> table_;
  int32_t node_gpus_ = 1;
  bool choose_exchange_ = false;
};

}  // namespace yard
