// Says in one sentence for each candidate what it would change against the site's own policy, and
// names all that would wait over 10 % longer, however much the mean improves.
#pragma once

#include <string>
#include <vector>

#include "experiments/whatif/compare.h"

namespace yard::whatif {

struct Verdict {
  size_t candidate = 0;           // of Comparison::candidates
  std::vector<const Row*> sizes;  // that wait over 10 % longer, of at least 20 jobs
  std::vector<const Row*> partitions;
  int64_t users = 0;          // of all sizes that wait over 10 % longer
  int64_t large_users = 0;    // of these, those of at least 20 jobs
  const Row* user = nullptr;  // of these, the one that loses most: waits over the baseline's
  int64_t small_classes = 0;  // sizes and partitions of fewer than 20 jobs that wait 10 % longer
  int64_t unfinished = 0;     // jobs that did not end under it: then it gets no verdict
  bool longest = false;
  std::string headline;  // the change of the mean and what loses, without figures
  // The whole, in its parts: the mean; each size class, the users and the partitions that wait over
  // 10 % longer; the longest wait and what a site needs for it.
  std::string mean;
  std::vector<std::string> losers;
  std::string rest;

  std::string text() const;

  bool loses() const { return !sizes.empty() || !partitions.empty() || users > 0 || longest; }
};

// One for each candidate but the baseline. They point into `comparison`.
std::vector<Verdict> verdicts_of(const Comparison& comparison);

// How well the baseline meets the log: "fifo in place of ...: mean wait 0.40 times the logged one."
std::string logged_text(const Comparison& comparison);

// The verdict that a page begins with: of the candidate with the least mean wait that a site could
// run as it is: it neither stops jobs nor knows run times, and all jobs ended under it. Null if
// there is none.
const Verdict* leading(const Comparison& comparison, const std::vector<Verdict>& verdicts);

// "0.59", "1.102": as many digits as keep a ratio on its side of 1 and of 1.1; "n/a" of NaN.
std::string ratio_text(double ratio);
// "0.970 to 1.103": both ends with the same number of decimals.
std::string interval_text(const Interval& of, const char* between);
// "12,345 s"; parts of a second only below 10 s.
std::string seconds_text(double seconds);

}  // namespace yard::whatif
