// Rules of Muri's simulator (Zhao et al., SIGCOMM 2022), a fork of Tiresias' with seconds in
// floating point: at every event jobs are sorted by the time they still need (`shortest`), or by
// that time times GPUs (`shortest-gpu`), and GPUs are given out again by number.
//
//   a job's work    its iterations, of `iteration_ms` x 1.015 each
//   an event        a submission, or the next predicted end: the time of the last event plus what
//                   was left then, without any overhead
//   one moment      times that differ by less than a billionth of themselves: jobs submitted so, or
//                   predicted to end so, share the time of the first in the list
//   overhead        a running job loses the start-up time of its model and GPUs at EVERY event
//                   during its run, not only at its start; it ends as last predicted
//
// Arithmetic is in the original's order, so times are its doubles, rounded to microseconds where
// they are reported.
//
// Differences from the original: models and numbers of GPUs that its table lacks cost 10 s (the
// original has no value for such numbers). A trace without iterations counts as iterations of a
// second.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "env/sim/rulesets/service_list.h"
#include "env/sim/rulesets/slot_sim.h"

namespace yard {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr int64_t kUsPerS = RuleSetSimBySlot::kUsPerS;
constexpr double kOneMoment = 1e-9;  // of the time itself

bool one_moment(double a, double b) {
  return std::abs(a - b) <= kOneMoment * std::max(std::abs(a), std::abs(b));
}

// Measured start-up times, in seconds.
struct StartUp {
  std::string_view model;
  std::array<double, 6> by_gpus;  // 1, 2, 4, 8, 16, 32
};
constexpr StartUp kStartUp[] = {
    {"vgg16", {7, 7, 8, 9, 9, 10}},     {"vgg19", {7, 7, 8, 9, 10, 10}},
    {"resnet18", {4, 5, 5, 7, 7, 7}},   {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
    {"bert", {10, 10, 10, 10, 10, 10}}, {"gpt2", {10, 10, 10, 10, 10, 10}},
    {"a2c", {38, 39, 39, 46, 46, 46}},  {"dqn", {5, 5, 6, 6, 8, 8}},
};

struct Config {
  double slowdown = 1.015;
  double other_start_up_s = 10;
  void fields(auto& f) {
    f("slowdown", slowdown, 0.001, 1000.0, "factor on iteration times of all jobs in the trace");
    f("other_start_up_s", other_start_up_s, 0.0, 1e6,
      "start-up seconds per event for jobs whose model and GPU count are not in the table");
  }
};

double start_up_s(const Job& job, const Config& config) {
  for (const StartUp& known : kStartUp) {
    if (known.model != job.model) continue;
    for (size_t i = 0; i < known.by_gpus.size(); ++i) {
      if (job.gpus == 1 << i) return known.by_gpus[i];
    }
  }
  return config.other_start_up_s;
}

class Muri {
 public:
  Muri(const Replay& replay, const Config& config)
      : jobs_(replay.trace->jobs),
        total_gpus_(replay.fixed.spec.total_gpus),
        config_(config),
        by_gpus_(replay.policy == "shortest-gpu"),
        sim_(replay, "muri") {}

  Outcome run() {
    while (!sim_.done()) {
      const double arrival_s = next_arrival_s();
      const double now_s = std::min(end_s_, arrival_s);
      if (now_s == kForever) sim_.throw_stuck();
      sim_.begin_event_us(std::llround(now_s * kUsPerS));
      advance_jobs(now_s);
      last_s_ = now_s;
      if (now_s == arrival_s) {
        while (sim_.next_arrival_us() != kNever && one_moment(next_arrival_s(), now_s)) {
          add(sim_.arrive());
        }
      }
      allocate_in_order();
      sim_.end_event();
    }
    return sim_.outcome_at_end();
  }

 private:
  struct Entry {
    double key = 0;
    double left = 0;  // iterations
    double iteration_s = 0;
    double start_up_s = 0;
    int32_t slot = kNone;
    int32_t gpus = 0;
    bool runs = false;
    bool ends = false;  // in the next event, if that is an end
  };

  struct Predicted {
    double end_s;
    Entry* entry;
  };

  double next_arrival_s() const {
    const int64_t at_us = sim_.next_arrival_us();
    return at_us == kNever ? kForever : static_cast<double>(at_us) / kUsPerS;
  }

  double key_of(const Entry& entry) const {
    const double left_s = entry.left * entry.iteration_s;
    return by_gpus_ ? left_s * entry.gpus : left_s;
  }

  void add(int32_t slot) {
    const Job& job = jobs_[static_cast<size_t>(sim_.state().job[slot])];
    const bool said = job.iterations > 0 && job.iteration_ms > 0;
    const double iterations =
        said ? job.iterations : static_cast<double>(sim_.trace_run_us(slot)) / kUsPerS;
    const double iteration_ms = said ? job.iteration_ms : 1000;
    Entry entry{.left = iterations,
                .iteration_s = iteration_ms * config_.slowdown / 1000,
                .start_up_s = start_up_s(job, config_),
                .slot = slot,
                .gpus = job.gpus};
    entry.key = key_of(entry);
    list_.add(entry);
  }

  void advance_jobs(double now_s) {
    list_.update([&](Entry& entry) {
      if (!entry.runs) return true;
      if (entry.ends && now_s == end_s_) {
        sim_.finish(entry.slot);
        return false;
      }
      const double worked_s = std::max(now_s - last_s_ - entry.start_up_s, 0.0);
      entry.left = std::max(entry.left - worked_s / entry.iteration_s, 0.0);
      entry.key = key_of(entry);
      return true;
    });
  }

  void allocate_in_order() {
    running_.clear();
    starts_.clear();
    const auto gets = [&](Entry& entry) {
      running_.push_back({last_s_ + entry.left * entry.iteration_s, &entry});
      if (!entry.runs) starts_.push_back(entry.slot);
      entry.runs = true;
      entry.ends = false;
    };
    const auto loses = [&](Entry& entry) {
      sim_.preempt(entry.slot);
      entry.runs = false;
    };
    list_.allocate_in_order(total_gpus_, sim_.state().head->held, gets, loses);
    for (const int32_t slot : starts_) sim_.start_anywhere(slot);
    predict();
  }

  // Predicts the next end and its jobs. Ends in one moment take the time of the first in the list.
  // Only ends near the earliest can share its moment, directly or through others.
  void predict() {
    end_s_ = kForever;
    for (const Predicted& one : running_) end_s_ = std::min(end_s_, one.end_s);
    const double near_s = end_s_ * (1 + 100 * kOneMoment);
    std::erase_if(running_, [&](const Predicted& one) { return one.end_s > near_s; });
    moments_.clear();
    end_s_ = kForever;
    for (Predicted& one : running_) {
      const auto same =
          std::ranges::find_if(moments_, [&](double at_s) { return one_moment(at_s, one.end_s); });
      if (same != moments_.end()) {
        one.end_s = *same;
      } else {
        moments_.push_back(one.end_s);
      }
      end_s_ = std::min(end_s_, one.end_s);
    }
    for (const Predicted& one : running_) one.entry->ends = one.end_s == end_s_;
  }

  const std::vector<Job>& jobs_;
  const int32_t total_gpus_;
  const Config config_;
  const bool by_gpus_;
  RuleSetSimBySlot sim_;
  JobServiceOrder<Entry> list_;
  double end_s_ = kForever;  // the next predicted end
  double last_s_ = 0;        // the last event
  std::vector<int32_t> starts_;
  std::vector<Predicted> running_;
  std::vector<double> moments_;
};

Outcome replay_muri(const Replay& replay, const Config& config) {
  YARD_CHECK(replay.trace != nullptr, "rule set muri needs the trace for models and iterations");
  return Muri(replay, config).run();
}

const RuleSetRegistry::Add<FunctionRuleSet<Config, replay_muri>> kMuri{
    "muri",
    {.about =
         "events in floating-point seconds; a running job loses its start-up time at every event",
     .source = "Muri, SIGCOMM 2022",
     .fidelity = "exact job for job, in the original's double arithmetic; models and GPU counts "
                 "missing from its table cost 10 s",
     .policies = {"shortest", "shortest-gpu"},
     .placements = {"count"},
     .oracles = {"shortest", "shortest-gpu"},
     .waiver = "iterations take 1.5 % longer than in the trace",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
