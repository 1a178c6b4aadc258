// Goodput by job, placement and epoch: how fast jobs progress under Pollux' rules, as computed by
// the application models of Pollux' simulator. The file is a CSV, plain or gzip, with the columns
// job, placement, epoch, goodput, next_progress, completion_epoch. A placement, such as "4+2", is
// the number of GPUs on each node in the order in which nodes were taken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// The goodputs of one job; a value missing in the file is 0.
struct JobGoodputs {
  using Goodput = std::vector<double>;  // progress per second, by epoch

  std::vector<double> next_progress;  // progress at the end of each epoch, last the end of the job
  std::map<std::string, Goodput, std::less<>> placements;

  size_t num_epochs() const { return next_progress.size(); }

  // Returns the seconds that the job takes alone, if each epoch runs on the placement in the file
  // with the fewest nodes and, among these, the most GPUs on the first nodes. Returns a negative
  // number if an epoch has no placement.
  double isolated_run_s_on_fewest_nodes() const;
};

class GoodputTable {
 public:
  // Loads a file. Throws InputError, which names the file and the line of an invalid row.
  static GoodputTable load(const std::string& path);

  const std::string& path() const { return path_; }
  // Returns the goodputs of a job; null if the file lacks the job. A copy of a job that a window
  // made ("a#1") has the goodputs of its original.
  const JobGoodputs* find(std::string_view job_id) const;

 private:
  std::string path_;
  std::map<std::string, JobGoodputs, std::less<>> jobs_;
};

}  // namespace yard
