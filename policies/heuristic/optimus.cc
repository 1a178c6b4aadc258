// Optimus (Peng et al., EuroSys 2018): each job gets its minimum, then the next task goes where it
// saves most time per dominant share that it takes (section 4.1),
//   gain = (Q / f(p, w) - Q / f(p', w')) / dominant share of the task,
// where Q is the work left and f the throughput with p parameter servers and w workers. f is fitted
// (env/sim/speed/optimus.h) to throughputs at a few sizes near the smallest, like its sample runs,
// and at the present size. Q is fitted (optimus_loss.h) to the losses measured so far, if the user
// names a target. Jobs get as few nodes as hold them, the smallest placed first (section 4.2).
#include "env/sim/speed/optimus.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "env/sim/placement/sizes.h"
#include "env/sim/placement/throughput_model.h"
#include "policies/optimus_loss.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  double timer_s = 600;
  void fields(FieldList& f) {
    f("timer_s", timer_s, 10.0, 1e6, "interval at which running jobs may change size, in seconds");
  }
};

// The expected work and throughput of a job at one decision.
class Expectation {
 public:
  Expectation(const View& view, const ThroughputModel& throughput_model, int32_t slot)
      : view_(view),
        throughput_model_(throughput_model),
        slot_(slot),
        left_s_(work_left_us() * 1e-6) {
    std::vector<MeasuredOptimusSpeed> samples;
    for (const std::vector<int32_t>& tasks : sampled_sizes()) {
      MeasuredOptimusSpeed sample = count(tasks);
      sample.steps_per_s = speed(tasks);
      if (sample.workers > 0 && sample.steps_per_s > 0) samples.push_back(sample);
    }
    if (!samples.empty()) fit_ = fit_optimus_sync(samples, 1);
  }

  double seconds(const std::vector<int32_t>& tasks) const {
    const MeasuredOptimusSpeed size = count(tasks);
    const double speed =
        fit_ && size.workers > 0 ? fit_->steps_per_s(size.servers, size.workers) : 0;
    return left_s_ / std::max(speed, kMinRate);
  }

 private:
  MeasuredOptimusSpeed count(const std::vector<int32_t>& tasks) const {
    MeasuredOptimusSpeed out{0, 0, 0};
    for (size_t g = 0; g < tasks.size(); ++g) {
      const TaskNeed need = view_.task_need(slot_, static_cast<int32_t>(g));
      (need.gpus + need.gpu_milli > 0 ? out.workers : out.servers) += tasks[g];
    }
    return out;
  }

  // Returns the throughput on the best of its GPU types.
  double speed(const std::vector<int32_t>& tasks) const {
    double best = 0;
    for (int32_t t = 0; t < throughput_model_.num_types(); ++t) {
      best = std::max(best, throughput_model_.throughput_at_size(slot_, t, tasks));
    }
    return best;
  }

  // Lists the smallest size, one task more per group, 2 and 4 times the smallest, and the present.
  std::vector<std::vector<int32_t>> sampled_sizes() const {
    std::vector<int32_t> least, held;
    const int32_t groups = view_.num_groups(slot_);
    for (int32_t g = 0; g < groups; ++g) {
      least.push_back(std::max(view_.min_tasks(slot_, g), 1));
      held.push_back(view_.held_tasks(slot_, g));
    }
    std::vector<std::vector<int32_t>> out = {least};
    for (int32_t g = 0; g < groups; ++g) {
      out.push_back(least);
      ++out.back()[static_cast<size_t>(g)];
    }
    for (const int32_t times : {2, 4}) {
      out.push_back(least);
      for (int32_t& tasks : out.back()) tasks *= times;
    }
    std::erase_if(out, [&](const std::vector<int32_t>& tasks) {
      for (int32_t g = 0; g < groups; ++g) {
        if (tasks[static_cast<size_t>(g)] > std::max(view_.max_tasks(slot_, g), 1)) return true;
      }
      return false;
    });
    if (view_.holds_gpus(slot_)) out.push_back(held);
    return out;
  }

  // Returns the work left by the fitted loss, at most up to the user's limit. Without either, a job
  // has as much left as it has done.
  double work_left_us() const {
    const auto done = static_cast<double>(view_.work_done_in_whole_us(slot_));
    const int64_t limit_us = view_.limit_us(slot_);
    const double by_limit = limit_us == kNone ? 0 : static_cast<double>(limit_us) - done;
    const double by_loss = left_by_loss_us(done);
    if (by_loss > 0) return by_limit > 0 ? std::min(by_loss, by_limit) : by_loss;
    return by_limit > 0 ? by_limit : std::max(done, 1.0);
  }

  // Returns 0 if no loss is measured yet, the fit misses the target, or there is none.
  double left_by_loss_us(double done) const {
    constexpr int kPoints = 12;
    if (done <= 0 || !view_.has_training_metric(slot_)) return 0;
    const double target = view_.target_metric(slot_);
    if (target == TrainingCurveColumns::kNoTarget) return 0;
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i <= kPoints; ++i) {
      const auto work_us = static_cast<int64_t>(done * i / kPoints);
      points.emplace_back(static_cast<double>(work_us),
                          view_.past_training_metric_at(slot_, work_us));
    }
    const std::optional<LossFit> fit = fit_loss(points);
    return fit ? fit->work_until_loss(target).value_or(done) - done : 0;
  }

  const View& view_;
  const ThroughputModel& throughput_model_;
  int32_t slot_;
  double left_s_;
  std::optional<OptimusSync> fit_;
};

class Optimus final : public ConfiguredPolicy<Config, InformationLevel::kEstimate> {
 public:
  using ConfiguredPolicy::ConfiguredPolicy;

  void decide(const View& view, Memory&, Draft& draft) const override {
    const ThroughputModel throughput_model(view);
    const ClusterShares shares(view);
    std::map<int32_t, Expectation> expected;
    const auto gain = [&](const JobTaskCounts& size, int32_t group) {
      const Expectation& of =
          expected.try_emplace(size.slot, view, throughput_model, size.slot).first->second;
      std::vector<int32_t> more = size.tasks;
      ++more[static_cast<size_t>(group)];
      const double share = ClusterShares::dominant_share(shares.shares_of_task(size.slot, group));
      return (of.seconds(size.tasks) - of.seconds(more)) / std::max(share, 1e-9);
    };
    const auto slot_us = static_cast<int64_t>(config_.timer_s * 1e6);
    ElasticSizes::size_and_place_jobs(view, slot_us, {}, ElasticSizes::by(gain), draft,
                                      ElasticSizes::Places::kSmallestFirst);
  }
};

const PolicyRegistry::Add<Optimus> kOptimus{
    "optimus",
    {.about = "elastic jobs grow where a task saves most time per share of resources",
     .source = "Optimus, EuroSys 2018",
     .fidelity = "its marginal gain, its fits of loss and speed, the smallest job placed first; "
                 "the user's limit replaces the work left if no target is given or no loss is "
                 "measured; tasks on few nodes, not evenly spread",
     .level = InformationLevel::kEstimate,
     .preemptive = true,
     .uses_limits = true,
     .resizes_jobs = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
