#include "tests/reference/lucid_reference.h"

#include <algorithm>

namespace yard::reference {
namespace {

class Lucid {
 public:
  Lucid(const std::vector<SecondsJob>& jobs, const std::vector<int>& nodes, const LucidRules& rules)
      : rules_(rules), free_(nodes), out_(jobs.size()) {
    for (const int gpus : nodes) total_ += gpus;
    for (const SecondsJob& job : jobs) {
      jobs_.push_back({job.submit_s, job.run_s, job.run_s, 0, 0, job.gpus, false, {}});
    }
  }

  std::vector<SecondsOutcome> play() {
    const bool line = rules_.policy == "fifo" || rules_.policy == "sjf";
    for (time_ = 0; ended_ < jobs_.size(); ++time_) {
      line ? queue_tick() : preemptive_tick();
    }
    return out_;
  }

 private:
  using List = std::vector<size_t>;  // of jobs

  struct LiveJob {
    int64_t submit, duration, remain, end, priority;
    int gpus;
    bool running;
    std::vector<int> nodes;  // GPUs taken by node
  };

  void arrivals() {
    for (size_t j = 0; j < jobs_.size(); ++j) {
      if (jobs_[j].submit == time_) waiting_.push_back(j);
    }
  }

  static void remove(List& list, size_t j) { list.erase(std::find(list.begin(), list.end(), j)); }

  void release(size_t j) {
    for (size_t m = 0; m < free_.size(); ++m) free_[m] += jobs_[j].nodes[m];
    jobs_[j].running = false;
  }

  void end(size_t j) {
    release(j);
    remove(running_, j);
    out_[j].end_s = time_;
    ++ended_;
  }

  bool place(size_t j) {
    int free = 0;
    for (const int gpus : free_) free += gpus;
    if (free < jobs_[j].gpus) return false;
    std::vector<int> take(free_.size(), 0);
    const bool found =
        rules_.placement == "random" ? spread(jobs_[j].gpus, take) : pack(jobs_[j].gpus, take);
    if (!found) return false;
    for (size_t m = 0; m < free_.size(); ++m) free_[m] -= take[m];
    jobs_[j].nodes = take;
    jobs_[j].running = true;
    if (out_[j].start_s < 0) out_[j].start_s = time_;
    ++out_[j].starts;
    remove(waiting_, j);
    running_.push_back(j);
    return true;
  }

  bool spread(int need, std::vector<int>& take) const {
    for (size_t m = 0; m < free_.size(); ++m) {
      take[m] = std::min(need, free_[m]);
      need -= take[m];
    }
    return need == 0;
  }

  bool pack(int need, std::vector<int>& take) const {
    List nodes;
    for (size_t m = 0; m < free_.size(); ++m) {
      if (free_[m] > 0) nodes.push_back(m);
    }
    if (need <= 8) {
      std::stable_sort(nodes.begin(), nodes.end(),
                       [this](size_t a, size_t b) { return free_[a] < free_[b]; });
      for (const size_t m : nodes) {
        if (free_[m] < need) continue;
        take[m] = need;
        return true;
      }
      return false;
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [this](size_t a, size_t b) { return free_[a] > free_[b]; });
    for (const size_t m : nodes) {
      if (need == 0) break;
      take[m] = std::min(need, 8);
      if (free_[m] < take[m]) return false;
      need -= take[m];
    }
    return need == 0;
  }

  // fifo and sjf. A run takes at least one second.
  void queue_tick() {
    for (const size_t j : List(running_)) {
      if (jobs_[j].end == time_) end(j);
    }
    arrivals();
    std::stable_sort(waiting_.begin(), waiting_.end(), [this](size_t a, size_t b) {
      if (rules_.policy == "sjf") return jobs_[a].duration < jobs_[b].duration;
      return jobs_[a].submit < jobs_[b].submit;
    });
    for (const size_t j : List(waiting_)) {
      if (!place(j)) break;
      jobs_[j].end = time_ + std::max<int64_t>(jobs_[j].duration, 1);
    }
  }

  void preemptive_tick() {
    const bool srtf = rules_.policy == "srtf";
    for (const size_t j : List(running_)) {
      if (jobs_[j].remain == 0) {
        end(j);
      } else {
        --jobs_[j].remain;
        jobs_[j].priority += jobs_[j].gpus;
      }
    }
    arrivals();
    if (!srtf && time_ % rules_.round_s != 0) return;
    int quota = total_;
    List preempted, chosen;
    for (const size_t j : srtf ? by_remain() : by_level()) {
      if (jobs_[j].gpus <= quota) {
        quota -= jobs_[j].gpus;
        if (!jobs_[j].running) chosen.push_back(j);
      } else if (jobs_[j].running) {
        preempted.push_back(j);
      }
    }
    for (const size_t j : preempted) {
      ++out_[j].preemptions;
      jobs_[j].remain += jobs_[j].gpus <= 8 ? rules_.preempt_s : rules_.preempt_large_s;
      release(j);
      waiting_.push_back(j);
      remove(running_, j);
    }
    for (const size_t j : chosen) place(j);
  }

  List by_remain() const {
    List all = waiting_;
    all.insert(all.end(), running_.begin(), running_.end());
    std::stable_sort(all.begin(), all.end(),
                     [this](size_t a, size_t b) { return jobs_[a].remain < jobs_[b].remain; });
    return all;
  }

  List by_level() const {
    List high, low;
    const auto add = [&](const List& list) {
      for (const size_t j : list) {
        (jobs_[j].priority > rules_.limit_gpu_s ? low : high).push_back(j);
      }
    };
    add(running_);
    add(waiting_);
    const auto earlier = [this](size_t a, size_t b) { return jobs_[a].submit < jobs_[b].submit; };
    std::stable_sort(low.begin(), low.end(), earlier);
    std::stable_sort(high.begin(), high.end(), earlier);
    high.insert(high.end(), low.begin(), low.end());
    return high;
  }

  const LucidRules rules_;
  std::vector<LiveJob> jobs_;
  std::vector<int> free_;
  int total_ = 0;
  int64_t time_ = 0;
  List waiting_, running_;
  size_t ended_ = 0;
  std::vector<SecondsOutcome> out_;
};

}  // namespace

std::vector<SecondsOutcome> lucid(const std::vector<SecondsJob>& jobs,
                                  const std::vector<int>& nodes, const LucidRules& rules) {
  return Lucid(jobs, nodes, rules).play();
}

}  // namespace yard::reference
