#include "env/task/joint_task.h"

#include <algorithm>
#include <numeric>

#include "env/base/core/check.h"
#include "env/base/core/log2.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr float kTimeUnit = 1.0F / 8;

float bounded(double value, double most) {
  return static_cast<float>(std::clamp(value, -most, most));
}

float log2_of_s(double seconds) {
  return (static_cast<float>(log2_coarse(std::max(seconds, 1.0))) - 12) * kTimeUnit;
}

void describe_option(const View& view, const Joint& joint, size_t i, double best_score, float* f) {
  using T = JointTask;
  const Option& option = joint.options()[i];
  const int32_t slot = joint.current_job();
  const Joint::JobStats& job = joint.job_stats(slot);
  const double gpus = view.weight_gpus(slot), rate = std::max(option.rate, kMinRate);
  std::fill_n(f, T::kJobFeatures, 0.0F);
  f[T::kRate] = bounded(log2_coarse(rate / job.best), 8);
  f[T::kSeconds] = log2_of_s(job.left_s * job.best / rate);
  f[T::kTypeLog2] = option.type == kNone ? 0 : bounded(joint.type_rate_log2(option.type), 8);
  f[T::kInterferenceCost] = bounded(option.interference_cost / gpus, 4);
  f[T::kLeftOver] =
      static_cast<float>(option.left_over) / static_cast<float>(view.spec().max_node_gpus);
  f[T::kSpread] = option.kind == OptionKind::kSpread;
  f[T::kPreempt] = option.kind == OptionKind::kPreempt;
  f[T::kMoveOthers] = option.kind == OptionKind::kMoveOthers;
  f[T::kGpusMoved] = bounded(option.gpus_moved / gpus, 4);
  f[T::kScore] = bounded(joint.score(i) - best_score, 4);
  f[T::kScoreOverWait] = bounded(joint.score(i) - joint.wait_score(), 4);
  f[T::kExpertAction] = joint.expert_action() == static_cast<int32_t>(i);
}

void describe_moment(const View& view, const JointConfig& config, const Joint& joint,
                     double best_score, float* f) {
  using T = JointTask;
  const int32_t slot = joint.current_job();
  const Joint::JobStats& job = joint.job_stats(slot);
  const auto total = static_cast<float>(view.total_gpus());
  f[T::kLength] = bounded(job.length, 4);
  f[T::kLeft] = log2_of_s(job.left_s);
  f[T::kSize] = bounded(joint.size(slot), 4);
  f[T::kGain] = bounded(job.gain, 4);
  f[T::kWaited] = log2_of_s(static_cast<double>(view.now_us() - view.since_us(slot)) * 1e-6);
  f[T::kAttained] = log2_of_s(static_cast<double>(view.attained_us(slot)) * 1e-6);
  f[T::kPreempted] = log2_coarse(1.0 + view.preempted(slot)) * 0.5F;
  f[T::kRuns] = joint.visits_running();
  f[T::kBestScoreOverWait] = bounded(best_score - joint.wait_score(), 4);
  f[T::kExpertStays] = joint.expert_action() == Joint::kStay;
  f[T::kQueue] = static_cast<float>(joint.queue());
  f[T::kFree] = static_cast<float>(view.free_gpus()) / total;
  f[T::kWaiting] = log2_coarse(1.0 + view.num_waiting()) * kTimeUnit;
  f[T::kLive] = static_cast<float>(view.num_live()) / 64;
  f[T::kMayPreempt] = config.preempt && view.may_preempt();
  f[T::kMayMove] = config.move && view.may_move();
  f[T::kMayHold] = config.hold;
  f[T::kMayChooseType] = config.choose_type;
}

}  // namespace

std::string JointTaskConfig::text() const {
  std::string out;
  for (const auto& [key, value] : record(joint)) out += key + "=" + value + "\n";
  return out + shortest(prior_slope) + "\n" + shortest(prior_gap) + "\n";
}

bool JointTask::on_events(const View& view, const Config& config, std::byte* memory) {
  BumpAllocator bump(memory + Joint::bytes(view));
  const JointIndex::Evaluator now(config.index, view, bump);  // updates the index
  Joint::on_events(view, memory);
  if (view.num_waiting() == 0 && view.num_held() == 0) return false;
  begin_round(view, config, memory);
  return true;
}

void JointTask::begin_round(const View& view, const Config& config, std::byte* memory) {
  BumpAllocator bump(memory + Joint::bytes(view));
  JointIndex::Evaluator now(JointIndex::Evaluator::kAttach, config.index, view, bump);
  Joint joint(config.joint, view, memory, nullptr);
  joint.begin_round([&](int32_t slot) { return now.seconds(slot); });
  joint.next();
}

bool JointTask::needs_action(const View& view, const Config&, const std::byte* memory) {
  return Joint::current_job(view, memory) != kNone;
}

std::vector<int32_t> JointTask::rows_of(const Joint& joint) {
  std::vector<int32_t> rows(joint.options().size());
  std::iota(rows.begin(), rows.end(), 0);
  if (rows.size() <= size_t{kJobs}) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](int32_t a, int32_t b) {
    return joint.score(static_cast<size_t>(a)) > joint.score(static_cast<size_t>(b));
  });
  rows.resize(kJobs);
  return rows;
}

void JointTask::observe(const View& view, const Config& config, std::byte* memory,
                        Observation& out) {
  Joint joint(config.joint, view, memory, nullptr);
  joint.list_options();
  observe(view, config, joint, out);
}

void JointTask::observe(const View& view, const Config& config, const Joint& joint,
                        Observation& o) {
  const std::vector<int32_t> rows = rows_of(joint);
  double best = -1e9;
  for (const int32_t i : rows) best = std::max(best, joint.score(static_cast<size_t>(i)));
  const bool may_stay = joint.may_stay();
  const double most = may_stay ? std::max(best, joint.wait_score()) : best;
  const auto prior = [&](double score, bool expert_action) {
    return static_cast<float>(config.prior_slope * std::max(score - most, -16.0)) -
           (expert_action ? 0 : config.prior_gap);
  };
  std::fill_n(o.mask, kActions, uint8_t{0});
  if (o.prior != nullptr) std::fill_n(o.prior, kActions, kMaskedLogit);
  o.rows = static_cast<int32_t>(rows.size());
  o.choices = o.rows;
  o.expert_action = kNothing;
  for (int32_t r = 0; r < o.rows; ++r) {
    const auto i = static_cast<size_t>(rows[static_cast<size_t>(r)]);
    describe_option(view, joint, i, best, o.jobs + int64_t{r} * kJobFeatures);
    const bool expert_action = joint.expert_action() == static_cast<int32_t>(i);
    if (expert_action) o.expert_action = r;
    o.mask[r] = 1;
    o.slots[r] = static_cast<int32_t>(i);
    if (o.prior != nullptr) o.prior[r] = prior(joint.score(i), expert_action);
  }
  if (o.filled > o.rows) {
    std::fill_n(o.jobs + int64_t{o.rows} * kJobFeatures, int64_t{o.filled - o.rows} * kJobFeatures,
                0.0F);
  }
  o.filled = o.rows;
  o.mask[kNothing] = may_stay;
  if (o.prior != nullptr && may_stay) {
    o.prior[kNothing] = prior(joint.wait_score(), o.expert_action == kNothing);
  }
  describe_moment(view, config.joint, joint, best, o.cluster);
}

void JointTask::apply(const View& view, const Config& config, std::byte* memory, int32_t action,
                      Draft& draft) {
  Joint joint(config.joint, view, memory, &draft);
  joint.list_options();
  int32_t pick = Joint::kStay;
  if (action != kNothing) {
    const std::vector<int32_t> rows = rows_of(joint);
    YARD_CHECK(static_cast<size_t>(action) < rows.size(), "the action must be a listed option");
    pick = rows[static_cast<size_t>(action)];
  }
  joint.apply(pick);
  joint.next();
}

void JointTask::commit(const View& view, const Config& config, std::byte* memory, Draft& draft) {
  Joint(config.joint, view, memory, &draft).commit();
}

}  // namespace yard
