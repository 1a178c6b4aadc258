// Goodput by job, placement and epoch, as computed by the application models of Pollux' simulator:
// how fast jobs progress under its rules. A CSV, plain or gzip, with the columns job, placement,
// epoch, goodput, next_progress, completion_epoch. A placement is the number of GPUs on each node
// in the order they were taken, "4+2".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// Values missing in the file are 0.
struct JobGoodputs {
  using Goodput = std::vector<double>;  // by epoch; progress per second

  std::vector<double> next_progress;  // at the end of each epoch; the last one ends the job
  std::map<std::string, Goodput, std::less<>> placements;

  size_t num_epochs() const { return next_progress.size(); }

  // Returns the seconds that the job takes alone. Each epoch runs on the file's placement with the
  // fewest nodes, fullest first. Returns a negative number if an epoch has no placement.
  double isolated_run_s() const;
};

class GoodputTable {
 public:
  // Loads a file. Throws InputError, for rows with file and line.
  static GoodputTable load(const std::string& path);

  const std::string& path() const { return path_; }
  // Returns null if the file lacks the job. A job repeated by a window ("a#1") has the rates of its
  // original.
  const JobGoodputs* find(std::string_view job_id) const;

 private:
  std::string path_;
  std::map<std::string, JobGoodputs, std::less<>> jobs_;
};

}  // namespace yard
