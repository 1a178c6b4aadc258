#include "tests/reference/rlscheduler_reference.h"

#include <algorithm>
#include <utility>

namespace yard::reference {
namespace {

class Simulation {
 public:
  Simulation(const std::vector<RlJob>& jobs, int procs, const std::string& policy)
      : jobs_(jobs), policy_(policy), free_(procs), start_s_(jobs.size(), -1) {}

  std::vector<int64_t> run(bool backfill) {
    clock_s_ = jobs_[0].submit_s;
    queue_.push_back(0);
    next_ = 1;
    for (;;) {
      std::stable_sort(queue_.begin(), queue_.end(),
                       [&](size_t a, size_t b) { return key(a) < key(b); });
      const size_t job = queue_[0];
      if (!fits(job)) backfill ? wait_backfilling(job) : wait(job);
      start(job);
      if (queue_.empty() && next_ == jobs_.size()) return start_s_;
      while (queue_.empty()) advance_event();
    }
  }

 private:
  std::pair<int64_t, int64_t> key(size_t j) const {
    if (policy_ == "sjf") return {jobs_[j].requested_s, jobs_[j].submit_s};
    if (policy_ == "smallest") return {jobs_[j].procs, jobs_[j].submit_s};
    return {jobs_[j].submit_s, 0};
  }
  bool fits(size_t j) const { return jobs_[j].procs <= free_; }
  int64_t end_s(size_t j) const { return start_s_[j] + jobs_[j].run_s; }
  int64_t requested_end_s(size_t j) const { return start_s_[j] + jobs_[j].requested_s; }

  void start(size_t j) {
    start_s_[j] = clock_s_;
    free_ -= jobs_[j].procs;
    running_.push_back(j);
    queue_.erase(std::find(queue_.begin(), queue_.end(), j));
  }

  // Advances to the next arrival or end.
  void advance_event() {
    std::stable_sort(running_.begin(), running_.end(),
                     [&](size_t a, size_t b) { return end_s(a) < end_s(b); });
    const bool more = next_ < jobs_.size();
    if (more && (running_.empty() || jobs_[next_].submit_s <= end_s(running_[0]))) {
      clock_s_ = std::max(clock_s_, jobs_[next_].submit_s);
      queue_.push_back(next_++);
    } else {
      clock_s_ = std::max(clock_s_, end_s(running_[0]));
      free_ += jobs_[running_[0]].procs;
      running_.erase(running_.begin());
    }
  }

  void wait(size_t job) {
    while (!fits(job)) advance_event();
  }

  void wait_backfilling(size_t job) {
    std::stable_sort(running_.begin(), running_.end(),
                     [&](size_t a, size_t b) { return requested_end_s(a) < requested_end_s(b); });
    int64_t reserved_s = clock_s_;
    int free = free_;
    for (const size_t j : running_) {
      free += jobs_[j].procs;
      reserved_s = requested_end_s(j);
      if (free >= jobs_[job].procs) break;
    }
    while (!fits(job)) {
      std::stable_sort(queue_.begin(), queue_.end(),
                       [&](size_t a, size_t b) { return jobs_[a].submit_s < jobs_[b].submit_s; });
      const std::vector<size_t> scanned = queue_;
      for (const size_t j : scanned) {
        if (clock_s_ + jobs_[j].requested_s < reserved_s && fits(j)) start(j);
      }
      advance_event();
    }
  }

  const std::vector<RlJob>& jobs_;
  const std::string& policy_;
  int free_;
  int64_t clock_s_ = 0;
  size_t next_ = 0;
  std::vector<size_t> queue_, running_;
  std::vector<int64_t> start_s_;
};

}  // namespace

std::vector<int64_t> rlscheduler(const std::vector<RlJob>& jobs, int procs,
                                 const std::string& policy, bool backfill) {
  return Simulation(jobs, procs, policy).run(backfill);
}

double rlscheduler_score(const std::vector<RlJob>& jobs, const std::vector<int64_t>& start_s) {
  double sum = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const int64_t in_system_s = start_s[j] - jobs[j].submit_s + jobs[j].run_s;
    const int64_t bounded_run_s = std::max<int64_t>(jobs[j].run_s, 10);
    sum += std::max(1.0, static_cast<double>(in_system_s) / static_cast<double>(bounded_run_s));
  }
  return sum / static_cast<double>(jobs.size());
}

}  // namespace yard::reference
