#include "tests/reference/default_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace yard::reference {
namespace {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();
constexpr int kNobody = -1;

enum class Is { kToCome, kWaiting, kStarting, kRunning, kSaving, kDone };

struct LiveJob {
  Is is = Is::kToCome;
  int64_t since_us = 0;     // when it came to be so
  int64_t until_us = 0;     // starting, saving: till when
  int64_t attained_us = 0;  // time run up to since_us
  double done = 0;          // work, likewise
  double speed = 0;
  int64_t queued = 0;  // rises with every entry into the queue
};

struct Gpu {
  int node = 0;
  int owner = kNobody;
  int64_t vacated_us = 0;  // when its last owner has really left
};

class Cluster {
 public:
  Cluster(const std::vector<MicrosJob>& jobs, const std::vector<PlainNode>& nodes,
          const PlainCosts& costs, const std::string& policy)
      : jobs_(jobs),
        nodes_(nodes),
        costs_(costs),
        policy_(policy),
        live_(jobs.size()),
        outcomes_(jobs.size()) {
    for (size_t m = 0; m < nodes.size(); ++m) {
      for (int g = 0; g < nodes[m].gpus; ++g) gpus_.push_back({static_cast<int>(m), kNobody, 0});
    }
  }

  std::vector<MicrosOutcome> run() {
    for (now_us_ = next_us(); now_us_ != kForever; now_us_ = next_us()) {
      while (true) {
        const int job = due();
        if (job == kNobody) break;
        end_phase(job);
      }
      for (int j = 0; j < size(); ++j) {
        if (at(j).is != Is::kToCome || jobs_[static_cast<size_t>(j)].submit_us > now_us_) continue;
        queue(j);
      }
      if (timer_us_ <= now_us_) timer_us_ = kForever;
      decide();
    }
    return outcomes_;
  }

 private:
  int size() const { return static_cast<int>(jobs_.size()); }
  LiveJob& at(int j) { return live_[static_cast<size_t>(j)]; }
  int asks(int j) const { return jobs_[static_cast<size_t>(j)].gpus; }
  double work(int j) const { return static_cast<double>(jobs_[static_cast<size_t>(j)].run_us); }

  // --- time

  int64_t phase_end_us(int j) {
    const LiveJob& job = at(j);
    if (job.is == Is::kStarting || job.is == Is::kSaving) return job.until_us;
    if (job.is != Is::kRunning) return kForever;
    const double wall = std::ceil((work(j) - job.done) / job.speed);
    return job.since_us + static_cast<int64_t>(std::max(wall, 0.0));
  }

  int64_t next_us() {
    int64_t next = timer_us_;
    bool open = false;
    for (int j = 0; j < size(); ++j) {
      open = open || at(j).is != Is::kDone;
      next = std::min(next, phase_end_us(j));
      if (at(j).is == Is::kToCome) next = std::min(next, jobs_[static_cast<size_t>(j)].submit_us);
    }
    return open ? next : kForever;
  }

  int due() {
    int first = kNobody;
    for (int j = 0; j < size(); ++j) {
      if (phase_end_us(j) > now_us_) continue;
      if (first == kNobody || phase_end_us(j) < phase_end_us(first)) first = j;
    }
    return first;
  }

  void end_phase(int j) {
    LiveJob& job = at(j);
    if (job.is == Is::kStarting) {
      job.is = Is::kRunning;
      job.since_us = now_us_;
    } else if (job.is == Is::kRunning) {
      job.is = Is::kDone;
      outcomes_[static_cast<size_t>(j)].end_us = now_us_;
      leave(j, now_us_);
    } else {
      queue(j);
    }
  }

  // --- jobs and GPUs

  void queue(int j) {
    at(j).is = Is::kWaiting;
    at(j).queued = ++entries_;
  }

  void leave(int j, int64_t vacated_us) {
    for (Gpu& gpu : gpus_) {
      if (gpu.owner != j) continue;
      gpu.owner = kNobody;
      gpu.vacated_us = std::max(gpu.vacated_us, vacated_us);
    }
  }

  int free_on(int node) const {
    int free = 0;
    for (const Gpu& gpu : gpus_) free += gpu.node == node && gpu.owner == kNobody;
    return free;
  }

  int free_gpus() const {
    int free = 0;
    for (const Gpu& gpu : gpus_) free += gpu.owner == kNobody;
    return free;
  }

  // The first node that holds the job whole, else free GPUs in node order.
  void start(int j) {
    std::vector<int> takes(nodes_.size(), 0);
    int left = asks(j);
    for (size_t m = 0; m < nodes_.size() && left > 0; ++m) {
      if (free_on(static_cast<int>(m)) < asks(j)) continue;
      takes[m] = asks(j);
      left = 0;
    }
    for (size_t m = 0; m < nodes_.size() && left > 0; ++m) {
      takes[m] = std::min(left, free_on(static_cast<int>(m)));
      left -= takes[m];
    }
    LiveJob& job = at(j);
    int64_t ready_us = now_us_;
    job.speed = std::numeric_limits<double>::infinity();
    for (size_t m = 0; m < nodes_.size(); ++m) {
      if (takes[m] > 0) job.speed = std::min(job.speed, nodes_[m].speed);
      for (int i = 0; i < takes[m]; ++i) {
        Gpu& gpu = soonest(static_cast<int>(m));
        gpu.owner = j;
        ready_us = std::max(ready_us, gpu.vacated_us);
      }
    }
    if (job.done > 0) {
      ready_us += asks(j) <= costs_.small_gpus ? costs_.restore_us : costs_.restore_large_us;
    }
    job.is = ready_us > now_us_ ? Is::kStarting : Is::kRunning;
    job.since_us = now_us_;
    job.until_us = ready_us;
    MicrosOutcome& outcome = outcomes_[static_cast<size_t>(j)];
    if (outcome.start_us < 0) outcome.start_us = now_us_;
    ++outcome.starts;
  }

  // Of a node's free GPUs the one that is vacated first; all that are vacated are alike.
  Gpu& soonest(int node) {
    Gpu* best = nullptr;
    for (Gpu& gpu : gpus_) {
      if (gpu.node != node || gpu.owner != kNobody) continue;
      const auto wait_us = [this](const Gpu& g) {
        return std::max<int64_t>(g.vacated_us - now_us_, 0);
      };
      if (best == nullptr || wait_us(gpu) < wait_us(*best)) best = &gpu;
    }
    return *best;
  }

  void preempt(int j) {
    LiveJob& job = at(j);
    ++outcomes_[static_cast<size_t>(j)].preemptions;
    if (job.is == Is::kStarting) {  // nothing to save
      leave(j, now_us_);
      queue(j);
      return;
    }
    job.attained_us += now_us_ - job.since_us;
    job.done += static_cast<double>(now_us_ - job.since_us) * job.speed;
    job.since_us = now_us_;
    job.until_us = now_us_ + costs_.save_us;
    leave(j, job.until_us);
    job.is = Is::kSaving;
    if (job.until_us == now_us_) queue(j);
  }

  // --- policies

  std::vector<int> those(bool (*wanted)(Is)) {
    std::vector<int> out;
    for (int j = 0; j < size(); ++j) {
      if (wanted(at(j).is)) out.push_back(j);
    }
    return out;
  }
  std::vector<int> waiting() {
    return those([](Is is) { return is == Is::kWaiting; });
  }
  std::vector<int> holding() {
    return those([](Is is) { return is == Is::kStarting || is == Is::kRunning; });
  }

  int64_t attained_us(int j) {
    const LiveJob& job = at(j);
    return job.attained_us + (job.is == Is::kRunning ? now_us_ - job.since_us : 0);
  }

  double left(int j) {
    const LiveJob& job = at(j);
    const double more =
        job.is == Is::kRunning ? static_cast<double>(now_us_ - job.since_us) * job.speed : 0;
    return work(j) - (job.done + more);
  }

  int las_queue(int j) {
    const double service = static_cast<double>(attained_us(j)) * asks(j);
    return service >= 7200e6 ? 2 : service >= 3250e6 ? 1 : 0;
  }

  double key(int j) {
    if (policy_ == "fifo" || policy_ == "backfill") return static_cast<double>(at(j).queued);
    if (policy_ == "las") return las_queue(j) - (at(j).is == Is::kWaiting ? 0.0 : 0.5);
    return left(j);
  }

  std::vector<int> in_order(std::vector<int> jobs) {
    std::stable_sort(jobs.begin(), jobs.end(), [this](int a, int b) { return key(a) < key(b); });
    return jobs;
  }

  void decide() {
    if (policy_ == "srtf" || policy_ == "las") {
      decide_anew();
    } else {
      for (const int j : in_order(waiting())) {
        if (asks(j) <= free_gpus()) {
          start(j);
        } else if (policy_ == "fifo") {
          break;
        }
      }
    }
    if (policy_ == "las") ask_for_timer();
  }

  // GPUs are given out by number in the order of all jobs; then who lost them goes, who won starts.
  void decide_anew() {
    std::vector<int> all = holding();
    for (const int j : waiting()) all.push_back(j);
    std::sort(all.begin(), all.end());
    int free = static_cast<int>(gpus_.size());
    std::vector<int> losers, winners;
    for (const int j : in_order(all)) {
      const bool fits = asks(j) <= free;
      if (fits) free -= asks(j);
      const bool waits = at(j).is == Is::kWaiting;
      if (fits && waits) winners.push_back(j);
      if (!fits && !waits) losers.push_back(j);
    }
    for (const int j : losers) preempt(j);
    for (const int j : winners) start(j);
  }

  // The first whole microsecond at which a holder sinks, if anybody waits for it.
  void ask_for_timer() {
    if (waiting().empty()) return;
    int64_t wake_us = kForever;
    for (const int j : holding()) {
      if (las_queue(j) == 2) continue;
      const int64_t limit_us = las_queue(j) == 0 ? 3'250'000'000 : 7'200'000'000;
      const int64_t sinks_at_us = (limit_us + asks(j) - 1) / asks(j);  // attained by then
      const int64_t from_us = at(j).is == Is::kStarting ? at(j).until_us : now_us_;
      wake_us = std::min(wake_us, from_us + sinks_at_us - attained_us(j));
    }
    if (wake_us != kForever) timer_us_ = wake_us;
  }

  const std::vector<MicrosJob>& jobs_;
  const std::vector<PlainNode>& nodes_;
  const PlainCosts costs_;
  const std::string policy_;
  std::vector<LiveJob> live_;
  std::vector<MicrosOutcome> outcomes_;
  std::vector<Gpu> gpus_;
  int64_t now_us_ = 0;
  int64_t timer_us_ = kForever;
  int64_t entries_ = 0;
};

}  // namespace

std::vector<MicrosOutcome> play_default(const std::vector<MicrosJob>& jobs,
                                        const std::vector<PlainNode>& nodes,
                                        const PlainCosts& costs, const std::string& policy) {
  return Cluster(jobs, nodes, costs, policy).run();
}

}  // namespace yard::reference
