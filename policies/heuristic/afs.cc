// Apathetic future share (Hwang et al., NSDI 2021, section 4). GPUs are handed out one by one, by
// comparing two jobs: `a`, which would end first with what both have, and `b`. The next GPU goes to
// the longer one, `b`, if
//   (p_b' - p_b) / p_b' > (p_a' - p_a) / p_a
// where p is a job's throughput with what it has and p' with one more. The difference has the sign
// of what the sum of both completion times gains if `b` gets the GPU once `a` has ended and nothing
// else changes. Among jobs that have no GPU yet, the shortest goes first.
#include <algorithm>
#include <optional>
#include <span>

#include "env/sim/placement/sizes.h"
#include "env/sim/placement/throughput_model.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  double timer_s = 600;
  void fields(FieldList& f) {
    f("timer_s", timer_s, 10.0, 1e6, "interval at which running jobs may change size, in seconds");
  }
};

// Returns the user's limit less the work done. Without a limit, or beyond it, a job is taken to
// have as much work left as it has done.
double work_left_s(const View& view, int32_t slot) {
  const auto work_done_us = static_cast<double>(view.work_done_in_whole_us(slot));
  const int64_t limit_us = view.limit_us(slot);
  const double left_us = limit_us == kNone ? 0 : static_cast<double>(limit_us) - work_done_us;
  return 1e-6 * (left_us > 0 ? left_us : std::max(work_done_us, 1.0));
}

// The values of one job in a comparison of two.
struct JobGain {
  double left_s = 0;        // work left
  double speed = kMinRate;  // p
  double more = 0;          // p' with one task more in `group`
  int32_t group = kNone;    // role group whose growth raises the throughput most
  double time_s() const { return left_s / speed; }
};

// Returns whether the next task goes to `other` rather than to `leader`.
bool goes_ahead(const JobGain& other, const JobGain& leader) {
  const bool shorter = other.time_s() < leader.time_s();
  const JobGain& a = shorter ? other : leader;
  const JobGain& b = shorter ? leader : other;
  const bool to_b = (b.more - b.speed) / b.more > (a.more - a.speed) / a.speed;
  return to_b != shorter;
}

class Afs final : public ConfiguredPolicy<Config, InformationLevel::kEstimate> {
 public:
  using ConfiguredPolicy::ConfiguredPolicy;

  void decide(const View& view, Memory&, Draft& draft) const override {
    const ThroughputModel throughput_model(view);
    const auto speed = [&](const JobTaskCounts& size) {
      double best = 0;
      for (int32_t t = 0; t < throughput_model.num_types(); ++t) {
        best = std::max(best, throughput_model.throughput_at_size(size.slot, t, size.tasks));
      }
      return std::max(best, kMinRate);
    };
    const auto shortest_first = [&](const JobTaskCounts& least) {
      return work_left_s(view, least.slot) / (view.shaped(least.slot) ? speed(least) : 1);
    };
    const auto grow = [&](ElasticSizes& sizes) {
      while (const auto next = longest_gain(view, sizes, speed)) sizes.grow(*next);
    };
    const auto slot_us = static_cast<int64_t>(config_.timer_s * 1e6);
    ElasticSizes::size_and_place_jobs(view, slot_us, {.first = shortest_first}, grow, draft);
  }

 private:
  // Returns the winner of comparisons in order of submission, or nothing if no task adds speed.
  template <class Speed>
  static std::optional<ElasticSizes::Grant> longest_gain(const View& view,
                                                         const ElasticSizes& sizes,
                                                         const Speed& speed) {
    std::optional<ElasticSizes::Grant> out;
    JobGain leader;
    for (int32_t i = 0; i < static_cast<int32_t>(sizes.jobs_with_sizes().size()); ++i) {
      const JobTaskCounts& size = sizes.jobs_with_sizes()[static_cast<size_t>(i)];
      if (size.tasks.empty()) continue;
      JobGain own{work_left_s(view, size.slot), speed(size)};
      for (int32_t g = 0; g < static_cast<int32_t>(size.tasks.size()); ++g) {
        if (!sizes.may_grow(i, std::span(&g, 1))) continue;
        JobTaskCounts larger = size;
        ++larger.tasks[static_cast<size_t>(g)];
        const double more = speed(larger);
        if (more > own.speed && more > own.more) own.more = more, own.group = g;
      }
      if (own.group == kNone) continue;
      if (!out || goes_ahead(own, leader)) out = {i, own.group}, leader = own;
    }
    return out;
  }
};

const PolicyRegistry::Add<Afs> kAfs{
    "afs",
    {.about = "elastic jobs grow where it reduces the sum of completion times, by comparison of "
              "two jobs at a time",
     .source = "AFS, NSDI 2021",
     .fidelity = "its comparison; a job's length is the user's limit, and a task of any role "
                 "counts as one GPU; each job gets its minimum first; sizes change at intervals "
                 "and at a cost; the paper's framework changes them at once",
     .level = InformationLevel::kEstimate,
     .preemptive = true,
     .uses_limits = true,
     .resizes_jobs = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
