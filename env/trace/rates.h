// How fast jobs really progress under the rules of Pollux' simulator: goodput by job, placement and
// epoch, as that simulator's models of the applications give it. A CSV, plain or gzip, with the
// columns job, placement, epoch, goodput, next_progress, completion_epoch. A placement is the
// number of GPUs on each node in the order they were taken, "4+2".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

// What the file does not have is 0.
struct JobRates {
  using Goodput = std::vector<double>;  // by epoch; progress a second

  std::vector<double> next_progress;  // by epoch; where it ends, the last one ends the job
  std::map<std::string, Goodput, std::less<>> placements;

  size_t num_epochs() const { return next_progress.size(); }

  // Returns the seconds that the job takes alone: every epoch on the placement of the fewest nodes,
  // the fullest first, that the file has for it; a negative number where an epoch is on none.
  double seconds_alone() const;
};

class Rates {
 public:
  // Throws InputError, for rows with file and line.
  static Rates load(const std::string& path);

  const std::string& path() const { return path_; }
  // Null where the file has nothing of the job. A job that a window repeats ("a#1") goes by its
  // first name.
  const JobRates* find(std::string_view job_id) const;

 private:
  std::string path_;
  std::map<std::string, JobRates, std::less<>> jobs_;
};

}  // namespace yard
