// A verdict, in words, on each candidate policy against the site's own policy. A verdict names
// every group of jobs which would wait over 10 % longer, even if the mean wait improves.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/compare.h"

namespace yard::whatif {

struct Verdict {
  size_t candidate = 0;           // index into Comparison::candidates
  std::vector<const Row*> sizes;  // sizes of at least 20 jobs that wait over 10 % longer
  std::vector<const Row*> partitions;
  int64_t users = 0;          // number of users whose jobs wait over 10 % longer
  int64_t large_users = 0;    // number of such users with at least 20 jobs
  const Row* user = nullptr;  // user whose total wait grows most; null: `users` is 0
  int64_t small_classes = 0;  // sizes and partitions of under 20 jobs that wait over 10 % longer
  int64_t unfinished = 0;     // jobs not ended under the candidate; above 0: no verdict
  bool longest = false;       // whether the longest wait grows by over 10 %
  std::string headline;       // mean wait's change, and groups which wait longer
  std::string mean;           // text on the change of the mean wait
  std::vector<std::string>
      longer_groups;            // text on sizes, users and partitions which wait over 10 % longer
  std::string conditions_text;  // text on the longest wait and on what the policy needs of a site

  std::string text() const;

  bool has_longer_waits() const {
    return !sizes.empty() || !partitions.empty() || users > 0 || longest;
  }
};

// Returns a verdict for each candidate but the baseline. Verdicts point into `comparison`.
std::vector<Verdict> verdicts_of(const Comparison& comparison);

// Says how well the baseline reproduces the log: "fifo in place of ...: mean wait 0.40 times ...".
std::string baseline_fit_text(const Comparison& comparison);

// Returns the verdict for a page's headline, on the candidate with the least mean wait among those
// which need neither preemption nor run times and end all jobs. Null if there is no such candidate.
const Verdict* headline_verdict(const Comparison& comparison, const std::vector<Verdict>& verdicts);

// Returns a ratio, "0.59", with enough digits to show whether it is above 1 and 1.1; "n/a" if it
// is not finite.
std::string ratio_text(double ratio);
// Returns "0.970 to 1.103" for `between` " to "; "n/a" if an end of the interval is not finite.
std::string interval_text(const Interval& of, const char* between);
std::string jobs_text(int64_t jobs);  // returns "1 job" or "12,345 jobs"
// Returns "12,345 s", with one decimal below 10 s.
std::string seconds_text(double seconds);

}  // namespace yard::whatif
