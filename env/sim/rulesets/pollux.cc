// The Tiresias policy in the simulator of Pollux (Qiao et al., OSDI 2021): rounds of 60 seconds,
// goodputs measured by placement and epoch, 30 seconds of rescaling at every start.
//
// In a round, every job with GPUs runs until the round's end. It may complete earlier, but its GPUs
// are free at the end. Then two queues are served, first come, first served, the second for jobs
// that had 16 GPU hours: jobs run from the top as far as GPUs suffice by number, others stop. A
// running job keeps its GPUs. A starting job takes them from the node with most free GPUs (the
// first among equals), as many as it has, then from the next. Progress survives. An epoch that ends
// inside a round ends at a whole second, so that a little progress is lost or won.
//
// Left out: the original's two elastic policies, and its interference between jobs, which is off in
// its published results.

#include <cmath>

#include "env/base/core/error.h"
#include "env/sim/rulesets/job_sim.h"
#include "env/trace/profiles/goodputs.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;

struct Config {
  std::string rates;
  int64_t round_s = 60;
  int64_t rescale_s = 30;
  int64_t queue_gpu_s = 16 * 3600;

  void fields(auto& f) {
    f("rates", rates, "file of measured goodputs by job, placement and epoch");
    f("round_s", round_s, 1, 86'400, "length of a round in seconds");
    f("rescale_s", rescale_s, 0, 86'400, "seconds from a job's start until it makes progress");
    f("queue_gpu_s", queue_gpu_s, 1, 1'000'000'000'000,
      "attained service, in GPU-seconds, at which a job moves to the second queue");
  }
};

struct PolluxJob {
  const JobGoodputs* rates = nullptr;
  const JobGoodputs::Goodput* goodput = nullptr;  // on its placement; null: not in the file
  std::string placement;
  size_t epoch = 0;
  double progress = 0;
  int64_t rescale_s = 0;  // remaining
  int64_t executed_s = 0;
  int64_t completion_s = kNone;
  bool demoted = false;
  bool runs = false;
};

class Rounds {
 public:
  Rounds(const Replay& replay, const Config& config, const GoodputTable& rates)
      : config_(config),
        rates_(rates),
        spec_(replay.fixed.spec),
        sim_(replay, "pollux"),
        s_(sim_.state()),
        next_(replay.first_job),
        end_job_(replay.end_job),
        jobs_(static_cast<size_t>(replay.end_job)) {
    for (int32_t j = next_; j < end_job_; ++j) {
      job(j).rates = rates.find(sim_.job(j).id);
      if (job(j).rates != nullptr) continue;
      throw InputError(rates.path(), "rates of job '" + sim_.job(j).id + "'", "none");
    }
  }

  Outcome run() {
    while (!sim_.done()) {
      clock_s_ = live_.empty() ? first_round_of(next_) : clock_s_ + config_.round_s;
      bool changed = false;
      for (const int32_t j : live_) {
        if (!job(j).runs) continue;
        advance_jobs(j);
        changed = changed || job(j).completion_s != kNone;
      }
      sim_.advance_to(clock_s_ * kUsPerS);
      if (changed) remove_completed();
      changed = add_arrivals() || changed;
      changed = demote() || changed;
      // If nothing changed, all jobs keep what they have.
      if (changed) allocate();
      sim_.end_event();
      if (running_ == 0 && !live_.empty() && next_ == end_job_) sim_.throw_stuck();
    }
    return sim_.outcome_at_end();
  }

 private:
  PolluxJob& job(int32_t j) { return jobs_[static_cast<size_t>(j)]; }

  // Rounds end at multiples of their length; the first ends before any job is seen.
  int64_t first_round_of(int32_t j) const {
    const int64_t round_us = config_.round_s * kUsPerS;
    const int64_t rounds = (sim_.submit_us(j) + round_us - 1) / round_us;
    return std::max<int64_t>(1, rounds) * config_.round_s;
  }

  double goodput(int32_t j) {
    const PolluxJob& one = job(j);
    const double rate = one.goodput == nullptr ? 0 : (*one.goodput)[one.epoch];
    if (rate != 0) return rate;
    throw InputError(rates_.path(),
                     "the goodput of job '" + sim_.job(j).id + "' on placement " + one.placement +
                         " in epoch " + std::to_string(one.epoch),
                     "none");
  }

  // Runs a job with GPUs through the round that ends at the clock.
  void advance_jobs(int32_t j) {
    PolluxJob& one = job(j);
    const int64_t rescale_s = std::min(one.rescale_s, config_.round_s);
    one.rescale_s -= rescale_s;
    int64_t left_s = config_.round_s - rescale_s;
    while (left_s > 0 && one.completion_s == kNone) {
      const double rate = goodput(j);
      const double next = one.rates->next_progress[one.epoch];
      const double reached = one.progress + rate * static_cast<double>(left_s);
      if (reached < next) {
        one.progress = reached;
        return;
      }
      // Halves are rounded to even.
      left_s -= static_cast<int64_t>(std::nearbyint((next - one.progress) / rate));
      one.progress = next;
      if (++one.epoch == one.rates->num_epochs()) one.completion_s = clock_s_ - left_s;
    }
  }

  void remove_completed() {
    const auto completed = [&](int32_t j) { return job(j).completion_s != kNone; };
    for (std::vector<int32_t>& queue : queues_) std::erase_if(queue, completed);
    std::erase_if(live_, [&](int32_t j) {
      if (!completed(j)) return false;
      sim_.finish(j, job(j).completion_s * kUsPerS);
      --running_;
      return true;
    });
  }

  bool add_arrivals() {
    const int32_t before = next_;
    for (; next_ < end_job_ && sim_.submit_us(next_) <= clock_s_ * kUsPerS; ++next_) {
      sim_.arrive(next_);
      queues_[0].push_back(next_);
      live_.push_back(next_);
    }
    return next_ > before;
  }

  // Adds the round to the service of running jobs. They are demoted in order of submission.
  bool demote() {
    bool any = false;
    for (const int32_t j : live_) {
      PolluxJob& one = job(j);
      if (!one.runs) continue;
      one.executed_s += config_.round_s;
      if (one.demoted || one.executed_s * sim_.gpus(j) < config_.queue_gpu_s) continue;
      one.demoted = any = true;
      std::erase(queues_[0], j);
      queues_[1].push_back(j);
    }
    return any;
  }

  void allocate() {
    int32_t free = spec_.total_gpus;
    starts_.clear();
    for (const std::vector<int32_t>& queue : queues_) {
      for (const int32_t j : queue) {
        PolluxJob& one = job(j);
        const bool fits = sim_.gpus(j) <= free;
        if (fits) free -= sim_.gpus(j);
        if (fits && !one.runs) starts_.push_back(j);
        if (!fits && one.runs) sim_.preempt(j);
        running_ += fits - one.runs;
        one.runs = fits;
      }
    }
    for (const int32_t j : starts_) start(j);
  }

  void start(int32_t j) {
    PolluxJob& one = job(j);
    const FreeNodeIndex map(spec_);
    pieces_.clear();
    one.placement.clear();
    int32_t count = spec_.max_node_gpus, from = 0;
    for (int32_t left = sim_.gpus(j); left > 0;) {
      const int32_t node = map.first_node_with_exactly(s_, count, from);
      from = node == kNone ? 0 : node + 1;
      if (node == kNone) {
        --count;
        continue;
      }
      pieces_.push_back({node, std::min(count, left)});
      left -= pieces_.back().gpus;
      if (!one.placement.empty()) one.placement += '+';
      one.placement += std::to_string(pieces_.back().gpus);
    }
    sim_.start(j, pieces_);
    one.rescale_s = config_.rescale_s;
    const auto at = one.rates->placements.find(one.placement);
    one.goodput = at == one.rates->placements.end() ? nullptr : &at->second;
  }

  const Config& config_;
  const GoodputTable& rates_;
  const SpecColumns& spec_;
  RuleSetSimByJob sim_;
  const SimState& s_;
  int32_t next_, end_job_;       // jobs [next_, end_job_) are still to come
  std::vector<PolluxJob> jobs_;  // (N)
  std::vector<int32_t> live_;    // in order of submission
  std::vector<int32_t> queues_[2];
  std::vector<int32_t> starts_;
  std::vector<Piece> pieces_;
  int64_t clock_s_ = 0;
  int32_t running_ = 0;
};

class Pollux final : public RuleSet {
 public:
  explicit Pollux(const Settings& settings)
      : config_(parse<Config>(settings)), rates_(GoodputTable::load(config_.rates)) {}

  Outcome replay(const Replay& replay) const override {
    return Rounds(replay, config_, rates_).run();
  }

 private:
  Config config_;
  GoodputTable rates_;
};

const RuleSetRegistry::Add<Pollux> kPollux{
    "pollux",
    {.about = "the Tiresias policy of Pollux' simulator: rounds of 60 s, goodputs by placement",
     .source = "Pollux, OSDI 2021",
     .fidelity = "exact second for second, with the goodputs given by --rates",
     .policies = {"tiresias"},
     .placements = {"most-free"},
     .fields = describe<Config>,
     .needs = {"rates"},
     .round_s = 60,
     .start_s = 30}};

}  // namespace
}  // namespace yard
