#include "experiments/whatif/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "env/base/core/check.h"
#include "env/base/core/nearest_rank.h"
#include "experiments/evaluate/score_policies.h"
#include "experiments/stats/intervals.h"
#include "experiments/stats/regression.h"

namespace yard::whatif {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUsPerS = 1e6;
constexpr int64_t kMaxBlocks = 24;
constexpr int32_t kSizeLimits[] = {0, 1, 4, 8, 16, 32, 64, 128, 256, 512, 1024};

using Members = std::vector<size_t>;  // indices of jobs, ascending

double seconds(double us) { return us / kUsPerS; }

WaitFigures figures_of(const std::vector<ComparedJob>& jobs, const Members& members,
                       const std::function<const JobTimes&(const ComparedJob&)>& times_of) {
  WaitFigures out;
  std::vector<int64_t> waits;
  double sum_wait_us = 0, sum_jct_us = 0;
  for (const size_t j : members) {
    const JobTimes& times = times_of(jobs[j]);
    if (!times.known()) {
      ++out.unfinished;
      continue;
    }
    waits.push_back(times.wait_us);
    sum_wait_us += static_cast<double>(times.wait_us);
    sum_jct_us += static_cast<double>(times.jct_us);
  }
  out.jobs = static_cast<int64_t>(waits.size());
  if (waits.empty()) return out;
  const auto n = static_cast<double>(waits.size());
  const auto rank = [&](double share) {
    return seconds(static_cast<double>(nearest_rank_quantile(waits, share)));
  };
  out.mean_wait_s = seconds(sum_wait_us / n);
  out.mean_jct_s = seconds(sum_jct_us / n);
  out.p50_wait_s = rank(0.5);
  out.p90_wait_s = rank(0.9);
  out.p99_wait_s = rank(0.99);
  out.max_wait_s = rank(1);
  return out;
}

// Each block's deviation from the overall ratio. Unlike the logarithm of the block's own ratio it
// is defined if nothing waits in the block.
std::vector<double> residuals(const BlockSums& sums) {
  const double ratio = sums.ratio();
  std::vector<double> out;
  for (size_t b = 0; b < sums.theirs.size(); ++b) {
    out.push_back(sums.ours[0][b] - ratio * sums.theirs[b]);
  }
  return out;
}

// Returns the sums without blocks in which no job waits.
BlockSums waiting_blocks(const BlockSums& sums) {
  BlockSums out;
  out.ours.resize(1);
  for (size_t b = 0; b < sums.theirs.size(); ++b) {
    if (sums.ours[0][b] == 0 && sums.theirs[b] == 0) continue;
    out.ours[0].push_back(sums.ours[0][b]);
    out.theirs.push_back(sums.theirs[b]);
  }
  return out;
}

void estimate(const BlockSums& all, Change& change) {
  BlockSums sums = waiting_blocks(all);
  while (sums.blocks() >= 4 && lag1_correlation(residuals(sums)) > kMaxCorrelation) {
    sums = merge_pairs(sums);
  }
  change.blocks = sums.blocks();
  change.interval = ratio_interval(sums);
  // An interval over more than two orders of magnitude is useless.
  constexpr double kWidest = 100;
  change.conclusive = change.blocks >= kMinBlocks && std::isfinite(change.interval.hi) &&
                      change.interval.hi <= kWidest * change.interval.lo;
}

Change change_of(const std::vector<ComparedJob>& jobs, const Members& members, size_t c) {
  Change out;
  const auto num_blocks_of_all =
      static_cast<size_t>(num_job_blocks(static_cast<int64_t>(jobs.size()), kMaxBlocks));
  BlockSums sums;
  sums.ours.assign(1, std::vector<double>(num_blocks_of_all));
  sums.theirs.resize(num_blocks_of_all);
  WideUs baseline_us = 0, ours_us = 0;
  int64_t baseline_longest_us = 0, longest_us = 0;
  for (const size_t j : members) {
    const JobTimes &baseline = jobs[j].by[0], &ours = jobs[j].by[c];
    out.unfinished += ours.known() ? 0 : 1;
    if (!baseline.known() || !ours.known()) {
      out.same = out.same && baseline.known() == ours.known();
      continue;
    }
    ++out.jobs;
    baseline_us += baseline.wait_us;
    ours_us += ours.wait_us;
    baseline_longest_us = std::max(baseline_longest_us, baseline.wait_us);
    longest_us = std::max(longest_us, ours.wait_us);
    out.same = out.same && baseline.wait_us == ours.wait_us;
    const size_t block = j * num_blocks_of_all / jobs.size();
    sums.theirs[block] += static_cast<double>(baseline.wait_us);
    sums.ours[0][block] += static_cast<double>(ours.wait_us);
  }
  if (out.jobs == 0) return out;
  const auto n = static_cast<double>(out.jobs);
  out.baseline_mean_s = seconds(static_cast<double>(baseline_us) / n);
  out.mean_s = seconds(static_cast<double>(ours_us) / n);
  out.baseline_longest_s = seconds(static_cast<double>(baseline_longest_us));
  out.longest_s = seconds(static_cast<double>(longest_us));
  if (out.unfinished > 0 && c > 0) return out;
  out.mean_grows = is_regression(baseline_us, ours_us);
  out.longest_wait_grows = is_regression(baseline_longest_us, longest_us);
  if (baseline_us == 0) return out;
  out.ratio = static_cast<double>(ours_us) / static_cast<double>(baseline_us);
  estimate(sums, out);
  return out;
}

class Comparer {
 public:
  Comparer(const std::vector<ComparedJob>& jobs, size_t candidates)
      : jobs_(jobs), candidates_(candidates) {}

  Row row(std::string name, const Members& members) const {
    Row out;
    out.name = std::move(name);
    out.jobs = static_cast<int64_t>(members.size());
    Members logged;
    for (const size_t j : members) {
      if (jobs_[j].logged.known()) logged.push_back(j);
    }
    out.logged = figures_of(jobs_, logged,
                            [](const ComparedJob& job) -> const JobTimes& { return job.logged; });
    for (size_t c = 0; c < candidates_; ++c) {
      out.by.push_back(figures_of(
          jobs_, members, [c](const ComparedJob& job) -> const JobTimes& { return job.by[c]; }));
      out.changes.push_back(change_of(jobs_, members, c));
    }
    return out;
  }

  // A row for each range of sizes. A range with several sizes is followed by a row for each size
  // with enough jobs, which the range's mean might hide.
  Table by_size() const {
    std::map<int32_t, Members> sizes;
    for (size_t j = 0; j < jobs_.size(); ++j) sizes[jobs_[j].gpus].push_back(j);
    Table out;
    for (auto at = sizes.begin(); at != sizes.end();) {
      const auto* most = std::ranges::lower_bound(kSizeLimits, at->first);
      const auto first = at;
      Members members;
      for (; at != sizes.end() && (most == std::end(kSizeLimits) || at->first <= *most); ++at) {
        members.insert(members.end(), at->second.begin(), at->second.end());
      }
      std::ranges::sort(members);
      const bool one_size = std::next(first) == at;
      out.rows.push_back(row(one_size ? std::to_string(first->first) : range_name(most), members));
      for (auto size = first; !one_size && size != at; ++size) {
        if (static_cast<int64_t>(size->second.size()) < kMinJobsPerGroup) continue;
        out.rows.push_back(row(std::to_string(size->first), size->second));
        out.rows.back().single_size = true;
      }
    }
    return out;
  }

  Table by_name(const std::string ComparedJob::*name) const {
    std::map<std::string, Members> groups;
    for (size_t j = 0; j < jobs_.size(); ++j) groups[jobs_[j].*name].push_back(j);
    Table out;
    if (groups.empty() || (groups.size() == 1 && groups.begin()->first.empty())) return out;
    for (const auto& [key, members] : groups) out.rows.push_back(row(key, members));
    std::ranges::stable_sort(out.rows, std::greater<>(), &Row::jobs);
    return out;
  }

 private:
  static std::string range_name(const int32_t* most) {
    if (most == std::end(kSizeLimits)) return "over " + std::to_string(*(most - 1));
    return std::to_string(*(most - 1) + 1) + "-" + std::to_string(*most);
  }

  const std::vector<ComparedJob>& jobs_;
  size_t candidates_;
};

}  // namespace

double Change::longest_wait_ratio() const {
  return baseline_longest_s > 0 ? longest_s / baseline_longest_s : kNan;
}

Comparison compare_with_baseline(const std::vector<ComparedJob>& jobs,
                                 std::vector<Candidate> candidates) {
  YARD_CHECK(!candidates.empty(), "a comparison needs a baseline");
  for (const ComparedJob& job : jobs) {
    YARD_CHECK(job.by.size() == candidates.size(), "times under every policy");
  }
  const Comparer comparer(jobs, candidates.size());
  Comparison out;
  Members everything(jobs.size());
  for (size_t j = 0; j < jobs.size(); ++j) everything[j] = j;
  out.all = comparer.row("all", everything);
  out.by_size = comparer.by_size();
  out.by_user = comparer.by_name(&ComparedJob::user);
  out.by_partition = comparer.by_name(&ComparedJob::partition);
  out.candidates = std::move(candidates);
  // Over jobs with both times.
  double logged_us = 0, ours_us = 0;
  for (const ComparedJob& job : jobs) {
    if (!job.logged.known() || !job.by[0].known()) continue;
    logged_us += static_cast<double>(job.logged.wait_us);
    ours_us += static_cast<double>(job.by[0].wait_us);
  }
  if (logged_us > 0) out.logged_ratio = ours_us / logged_us;
  return out;
}

}  // namespace yard::whatif
