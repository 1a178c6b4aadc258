#include "tests/reference/tiresias_reference.h"

#include <algorithm>
#include <limits>

namespace yard::reference {
namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

struct LiveJob {
  int index = 0;  // in the trace
  int gpus = 0;
  int64_t duration_s = 0;
  bool running = false;
  int64_t executed_s = 0;  // in all
  int64_t attained_s = 0;  // since it last entered Q0
  int64_t starved_s = 0;   // wait with attained_s > 0, since then
  int queue = 0;
  std::vector<int> given;  // GPUs by node, under yarn

  int64_t remaining_s() const { return duration_s - executed_s; }
};

class Base {
 public:
  Base(const std::vector<SecondsJob>& jobs, const Nodes& nodes, const std::string& policy,
       const std::string& placement)
      : jobs_(jobs),
        nodes_(nodes),
        policy_(policy),
        yarn_(placement == "yarn"),
        outcomes_(jobs.size()) {
    empty_cluster();
  }

  std::vector<SecondsOutcome> outcomes() const { return outcomes_; }

 protected:
  void empty_cluster() {
    free_ = nodes_.count * nodes_.gpus_each;
    free_on_.assign(static_cast<size_t>(nodes_.count), nodes_.gpus_each);
  }

  bool place(LiveJob& job) {
    job.given.assign(static_cast<size_t>(nodes_.count), 0);
    if (!yarn_) {
      if (job.gpus > free_) return false;
    } else if (!place_yarn(job)) {
      return false;
    }
    free_ -= job.gpus;
    for (size_t m = 0; m < job.given.size(); ++m) free_on_[m] -= job.given[m];
    return true;
  }

  bool place_yarn(LiveJob& job) {
    for (int first = 0; first < nodes_.count; first += nodes_.per_switch) {
      const int last = std::min(first + nodes_.per_switch, nodes_.count);
      if (job.gpus <= nodes_.gpus_each) {
        for (int m = first; m < last; ++m) {
          if (free_on_[static_cast<size_t>(m)] >= job.gpus) {
            job.given[static_cast<size_t>(m)] = job.gpus;
            return true;
          }
        }
        continue;
      }
      std::vector<int> given(static_cast<size_t>(nodes_.count), 0);
      int whole = job.gpus / nodes_.gpus_each;
      for (int m = first; m < last && whole > 0; ++m) {
        if (free_on_[static_cast<size_t>(m)] < nodes_.gpus_each) continue;
        given[static_cast<size_t>(m)] = nodes_.gpus_each;
        --whole;
      }
      int rest = job.gpus % nodes_.gpus_each;
      for (int m = first; m < last && rest > 0; ++m) {
        if (given[static_cast<size_t>(m)] > 0 || free_on_[static_cast<size_t>(m)] < rest) continue;
        given[static_cast<size_t>(m)] = rest;
        rest = 0;
      }
      if (whole > 0 || rest > 0) continue;
      job.given = given;
      return true;
    }
    return false;
  }

  void take_back(const LiveJob& job) {
    free_ += job.gpus;
    for (size_t m = 0; m < job.given.size(); ++m) free_on_[m] += job.given[m];
  }

  int64_t next_arrival_s() const {
    return arrived_ < jobs_.size() ? jobs_[arrived_].submit_s : kForever;
  }

  std::vector<LiveJob> arrivals(int64_t now_s) {
    std::vector<LiveJob> out;
    for (; arrived_ < jobs_.size() && jobs_[arrived_].submit_s == now_s; ++arrived_) {
      LiveJob job;
      job.index = static_cast<int>(arrived_);
      job.gpus = jobs_[arrived_].gpus;
      job.duration_s = jobs_[arrived_].run_s;
      out.push_back(job);
    }
    return out;
  }

  SecondsOutcome& outcome(const LiveJob& job) { return outcomes_[static_cast<size_t>(job.index)]; }

  void started(LiveJob& job, int64_t now_s) {
    job.running = true;
    if (outcome(job).start_s < 0) outcome(job).start_s = now_s;
    ++outcome(job).starts;
  }

  void preempted(LiveJob& job) {
    job.running = false;
    ++outcome(job).preemptions;
  }

  const std::vector<SecondsJob>& jobs_;
  const Nodes nodes_;
  const std::string policy_;
  const bool yarn_;
  int free_ = 0;
  std::vector<int> free_on_;
  size_t arrived_ = 0;
  std::vector<SecondsOutcome> outcomes_;
};

// Rules 2 and 3: fifo, fjf.
class FifoScheduler : Base {
 public:
  using Base::Base;
  using Base::outcomes;

  void run() {
    std::vector<LiveJob> pending, running;
    while (true) {
      int64_t now_s = next_arrival_s();
      for (const LiveJob& job : running) {
        now_s = std::min(now_s, outcome(job).start_s + job.duration_s);
      }
      if (now_s == kForever) return;
      std::vector<LiveJob> go_on;
      for (const LiveJob& job : running) {
        if (outcome(job).start_s + job.duration_s == now_s) {
          outcome(job).end_s = now_s;
          take_back(job);
        } else {
          go_on.push_back(job);
        }
      }
      running = go_on;
      for (const LiveJob& job : arrivals(now_s)) pending.push_back(job);
      std::vector<LiveJob> still;
      bool stopped = false;
      for (LiveJob& job : pending) {
        if (!stopped && free_ > 0 && place(job)) {
          started(job, now_s);
          running.push_back(job);
          continue;
        }
        if (policy_ == "fifo") stopped = true;
        still.push_back(job);
      }
      pending = still;
    }
  }
};

// Rule 4: sjf, shortest, shortest-gpu.
class SortedScheduler : Base {
 public:
  using Base::Base;
  using Base::outcomes;

  void run() {
    std::vector<LiveJob> runnable;
    int64_t last_s = 0;
    while (true) {
      int64_t end_s = kForever;
      for (const LiveJob& job : runnable) {
        if (job.running) end_s = std::min(end_s, last_s + job.remaining_s());
      }
      const int64_t now_s = std::min(end_s, next_arrival_s());
      if (now_s == kForever) return;
      for (LiveJob& job : runnable) {
        if (job.running) job.executed_s += now_s - last_s;
      }
      last_s = now_s;
      std::vector<LiveJob> alive;
      for (const LiveJob& job : runnable) {
        if (job.running && job.remaining_s() == 0) {
          outcome(job).end_s = now_s;
        } else {
          alive.push_back(job);
        }
      }
      runnable = alive;
      for (const LiveJob& job : arrivals(now_s)) runnable.push_back(job);
      std::stable_sort(runnable.begin(), runnable.end(),
                       [this](const LiveJob& a, const LiveJob& b) { return key(a) < key(b); });
      empty_cluster();
      for (LiveJob& job : runnable) {
        const bool fits = place(job);
        if (fits && !job.running) started(job, now_s);
        if (!fits && job.running) preempted(job);
      }
    }
  }

 private:
  int64_t key(const LiveJob& job) const {
    if (policy_ == "sjf") return job.gpus;
    if (policy_ == "shortest") return job.remaining_s();
    return job.remaining_s() * job.gpus;
  }
};

// Rule 5: dlas, dlas-gpu, dlas-gpu-N.
class Dlas : Base {
 public:
  Dlas(const std::vector<SecondsJob>& jobs, const Nodes& nodes, const std::string& policy,
       bool punctual)
      : Base(jobs, nodes, policy, "count"), punctual_(punctual) {
    const std::string prefix = "dlas-gpu-";
    if (policy.rfind(prefix, 0) == 0) times_ = std::stod(policy.substr(prefix.size()));
    if (policy == "dlas-gpu-05") times_ = 0.5;
  }
  using Base::outcomes;

  void run() {
    std::vector<int> stale;  // ends given to the next arrival event
    std::vector<int> ends;
    int64_t end_s = kForever, jump_s = kForever, last_s = 0;
    while (true) {
      const int64_t arrival_s = next_arrival_s();
      if (arrival_s == kForever && end_s == kForever) return;
      if (arrival_s == end_s) stale = ends;
      int64_t now_s = std::min(arrival_s, end_s);
      std::vector<int> ending;
      bool arrives = false;
      if (now_s > jump_s) {
        now_s = jump_s;
      } else if (end_s < arrival_s) {
        ending = ends;
      } else {
        if (!punctual_) ending = stale;
        if (punctual_ && end_s == arrival_s) ending = ends;
        stale.clear();
        arrives = true;
      }
      for (const int index : ending) end(index, now_s);
      if (arrives) {
        for (const LiveJob& job : arrivals(now_s)) {
          runnable_.push_back(job);
          queues_[0].push_back(job.index);
        }
      }
      for (LiveJob& job : runnable_) update(job, now_s - last_s);
      last_s = now_s;
      allocate(now_s);
      end_s = jump_s = kForever;
      for (const LiveJob& job : runnable_) look_ahead(job, now_s, end_s, jump_s, ends);
    }
  }

 private:
  static constexpr int64_t kLimits[] = {3250, 7200};

  bool by_gpu() const { return policy_ != "dlas"; }

  void take_out(int index, int queue) {
    std::vector<int>& q = queues_[queue];
    q.erase(std::find(q.begin(), q.end(), index));
  }

  void end(int index, int64_t now_s) {
    for (size_t i = 0; i < runnable_.size(); ++i) {
      if (runnable_[i].index != index) continue;
      outcome(runnable_[i]).end_s = now_s;
      take_out(index, runnable_[i].queue);
      runnable_.erase(runnable_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  void move(LiveJob& job, int queue) {
    take_out(job.index, job.queue);
    queues_[queue].push_back(job.index);
    job.queue = queue;
  }

  void update(LiveJob& job, int64_t passed_s) {
    if (job.running) {
      job.executed_s += passed_s;
      job.attained_s += passed_s;
      const int64_t service = job.attained_s * (by_gpu() ? job.gpus : 1);
      if (job.queue < 2 && service >= kLimits[job.queue]) move(job, job.queue + 1);
      return;
    }
    // A job that has just arrived has neither waited nor attained service.
    if (job.attained_s > 0) job.starved_s += passed_s;
    if (times_ == 0 || job.queue == 0 || job.attained_s == 0) return;
    if (job.starved_s < patience(job)) return;
    job.attained_s = job.starved_s = 0;
    move(job, 0);
  }

  int64_t patience(const LiveJob& job) const {
    return static_cast<int64_t>(static_cast<double>(job.attained_s) * times_);
  }

  LiveJob& find(int index) {
    for (LiveJob& job : runnable_) {
      if (job.index == index) return job;
    }
    return runnable_.at(runnable_.size());  // throws: every queued job is runnable
  }

  void allocate(int64_t now_s) {
    empty_cluster();
    for (std::vector<int>& queue : queues_) {
      for (const int index : queue) {
        LiveJob& job = find(index);
        const bool fits = place(job);
        if (fits && !job.running) started(job, now_s);
        if (!fits && job.running) preempted(job);
      }
    }
    for (std::vector<int>& queue : queues_) {
      std::stable_partition(queue.begin(), queue.end(),
                            [this](int index) { return find(index).running; });
    }
  }

  void look_ahead(const LiveJob& job, int64_t now_s, int64_t& end_s, int64_t& jump_s,
                  std::vector<int>& ends) const {
    if (job.running) {
      const int64_t at_s = now_s + job.remaining_s();
      if (at_s < end_s) {
        end_s = at_s;
        ends.clear();
      }
      if (at_s == end_s) ends.push_back(job.index);
      if (job.queue == 2) return;
      if (punctual_) {
        const int64_t whole_s = (kLimits[job.queue] + job.gpus - 1) / job.gpus - job.attained_s;
        jump_s = std::min(jump_s, now_s + whole_s);
        return;
      }
      const int64_t left = kLimits[job.queue] - job.attained_s;
      jump_s = std::min(jump_s, now_s + (by_gpu() ? left / job.gpus : left));
    } else if (times_ > 0 && job.queue > 0 && job.attained_s > 0) {
      const double more =
          static_cast<double>(job.attained_s) * times_ - static_cast<double>(job.starved_s);
      const auto whole = static_cast<int64_t>(more);
      if (whole > 0) jump_s = std::min(jump_s, now_s + whole);
    }
  }

  bool punctual_;
  double times_ = 0;  // the N of dlas-gpu-N
  std::vector<LiveJob> runnable_;
  std::vector<int> queues_[3];  // indices
};

}  // namespace

std::vector<SecondsOutcome> tiresias(const std::vector<SecondsJob>& jobs, const Nodes& nodes,
                                     const std::string& policy, const std::string& placement,
                                     bool punctual) {
  if (policy == "fifo" || policy == "fjf") {
    FifoScheduler lines(jobs, nodes, policy, placement);
    lines.run();
    return lines.outcomes();
  }
  if (policy.rfind("dlas", 0) == 0) {
    Dlas dlas(jobs, nodes, policy, punctual);
    dlas.run();
    return dlas.outcomes();
  }
  SortedScheduler sorted(jobs, nodes, policy, placement);
  sorted.run();
  return sorted.outcomes();
}

}  // namespace yard::reference
