// The verdict on each candidate against the site's own policy, in words. It names every group which
// would wait over 10 % longer, even if the mean improves.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/compare.h"

namespace yard::whatif {

struct Verdict {
  size_t candidate = 0;           // index into Comparison::candidates
  std::vector<const Row*> sizes;  // size classes with at least 20 jobs, which wait over 10 % longer
  std::vector<const Row*> partitions;
  int64_t users = 0;        // users who wait over 10 % longer, with any number of jobs
  int64_t large_users = 0;  // users with at least 20 jobs and wait over 10 % longer
  const Row* user =
      nullptr;  // the user with at least 20 jobs and the largest total increase of waits
  int64_t small_classes =
      0;  // number of sizes and partitions with fewer than 20 jobs which wait over 10 % longer
  int64_t unfinished = 0;  // jobs which did not end under the candidate; if any, no verdict
  bool longest = false;    // whether the longest wait grows by over 10 %
  std::string headline;    // change of the mean, and which groups wait longer
  std::string mean;        // change of the mean wait
  std::vector<std::string>
      longer_groups;  // size classes, users and partitions whose mean wait is over 10 % longer
  std::string conditions_text;  // longest wait, and what a site needs

  std::string text() const;

  bool has_losses() const { return !sizes.empty() || !partitions.empty() || users > 0 || longest; }
};

// Returns a verdict for each candidate except the baseline. The verdicts point into `comparison`.
std::vector<Verdict> verdicts_of(const Comparison& comparison);

// How well the baseline reproduces the log: "fifo in place of ...: mean wait 0.40 times the ...".
std::string fit_to_log_text(const Comparison& comparison);

// The verdict for a page's headline: on the candidate with the least mean wait that needs neither
// preemption nor run times and under which all jobs ended. Returns null if there is no verdict to
// show.
const Verdict* headline_verdict(const Comparison& comparison, const std::vector<Verdict>& verdicts);

// "0.59", "1.102": enough digits to keep a ratio on its side of 1 and 1.1; "n/a" if not finite.
std::string ratio_text(double ratio);
// "0.970 to 1.103": both ends with equal decimals, `between` in the middle; "n/a" if not finite.
std::string interval_text(const Interval& of, const char* between);
std::string jobs_text(int64_t jobs);  // "1 job", "12,345 jobs"
// "12,345 s"; one decimal only below 10 s.
std::string seconds_text(double seconds);

}  // namespace yard::whatif
