#include "env/task/joint_task.h"

#include <algorithm>
#include <numeric>

#include "env/base/check.h"
#include "env/base/log2.h"
#include "env/base/text.h"

namespace yard {
namespace {

constexpr float kTimeUnit = 1.0F / 8;

float bounded(double value, double most) {
  return static_cast<float>(std::clamp(value, -most, most));
}

float log2_of_s(double seconds) {
  return (static_cast<float>(log2_coarse(std::max(seconds, 1.0))) - 12) * kTimeUnit;
}

void describe_option(const View& view, const Joint& joint, size_t i, double best_worth, float* f) {
  using T = JointTask;
  const Option& option = joint.options()[i];
  const int32_t slot = joint.asked();
  const Joint::Standing& job = joint.standing(slot);
  const double gpus = view.weight_gpus(slot), rate = std::max(option.rate, kCrawl);
  std::fill_n(f, T::kJobFeatures, 0.0F);
  f[T::kRate] = bounded(log2_coarse(rate / job.best), 8);
  f[T::kSeconds] = log2_of_s(job.left_s * job.best / rate);
  f[T::kTypeLog2] = option.type == kNone ? 0 : bounded(joint.type_log2(option.type), 8);
  f[T::kHarm] = bounded(option.harm / gpus, 4);
  f[T::kLeftOver] =
      static_cast<float>(option.left_over) / static_cast<float>(view.spec().max_node_gpus);
  f[T::kSpread] = option.way == Way::kSpread;
  f[T::kStop] = option.way == Way::kStop;
  f[T::kClear] = option.way == Way::kClear;
  f[T::kGpusMoved] = bounded(option.gpus_moved / gpus, 4);
  f[T::kWorth] = bounded(joint.worth(i) - best_worth, 4);
  f[T::kOverStay] = bounded(joint.worth(i) - joint.worth_of_staying(), 4);
  f[T::kSuggested] = joint.suggested() == static_cast<int32_t>(i);
}

void describe_moment(const View& view, const JointConfig& config, const Joint& joint,
                     double best_worth, float* f) {
  using T = JointTask;
  const int32_t slot = joint.asked();
  const Joint::Standing& job = joint.standing(slot);
  const auto total = static_cast<float>(view.total_gpus());
  f[T::kLength] = bounded(job.length, 4);
  f[T::kLeft] = log2_of_s(job.left_s);
  f[T::kSize] = bounded(joint.size(slot), 4);
  f[T::kGain] = bounded(job.gain, 4);
  f[T::kWaited] = log2_of_s(static_cast<double>(view.now_us() - view.since_us(slot)) * 1e-6);
  f[T::kAttained] = log2_of_s(static_cast<double>(view.attained_us(slot)) * 1e-6);
  f[T::kPreempted] = log2_coarse(1.0 + view.preempted(slot)) * 0.5F;
  f[T::kRuns] = joint.moves_asked();
  f[T::kBestOverStay] = bounded(best_worth - joint.worth_of_staying(), 4);
  f[T::kStaySuggested] = joint.suggested() == Joint::kStay;
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

bool JointTask::take_in(const View& view, const Config& config, std::byte* memory) {
  Carver carver(memory + Joint::bytes(view));
  const JointIndex::Now now(config.index, view, carver);  // updates the index
  Joint::follow(view, memory);
  if (view.num_waiting() == 0 && view.num_held() == 0) return false;
  open(view, config, memory);
  return true;
}

void JointTask::open(const View& view, const Config& config, std::byte* memory) {
  Carver carver(memory + Joint::bytes(view));
  JointIndex::Now now(JointIndex::Now::kAgain, config.index, view, carver);
  Joint joint(config.joint, view, memory, nullptr);
  joint.open([&](int32_t slot) { return now.seconds(slot); });
  joint.next();
}

bool JointTask::asks(const View& view, const Config&, const std::byte* memory) {
  return Joint::asked(view, memory) != kNone;
}

std::vector<int32_t> JointTask::rows_of(const Joint& joint) {
  std::vector<int32_t> rows(joint.options().size());
  std::iota(rows.begin(), rows.end(), 0);
  if (rows.size() <= size_t{kJobs}) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](int32_t a, int32_t b) {
    return joint.worth(static_cast<size_t>(a)) > joint.worth(static_cast<size_t>(b));
  });
  rows.resize(kJobs);
  return rows;
}

void JointTask::observe(const View& view, const Config& config, std::byte* memory,
                        Observation& out) {
  Joint joint(config.joint, view, memory, nullptr);
  joint.look();
  observe(view, config, joint, out);
}

void JointTask::observe(const View& view, const Config& config, const Joint& joint,
                        Observation& o) {
  const std::vector<int32_t> rows = rows_of(joint);
  double best = -1e9;
  for (const int32_t i : rows) best = std::max(best, joint.worth(static_cast<size_t>(i)));
  const bool may_stay = joint.may_stay();
  const double most = may_stay ? std::max(best, joint.worth_of_staying()) : best;
  const auto prior = [&](double worth, bool suggested) {
    return static_cast<float>(config.prior_slope * std::max(worth - most, -16.0)) -
           (suggested ? 0 : config.prior_gap);
  };
  std::fill_n(o.mask, kActions, uint8_t{0});
  if (o.prior != nullptr) std::fill_n(o.prior, kActions, kMaskedLogit);
  o.rows = static_cast<int32_t>(rows.size());
  o.choices = o.rows;
  o.suggested = kNothing;
  for (int32_t r = 0; r < o.rows; ++r) {
    const auto i = static_cast<size_t>(rows[static_cast<size_t>(r)]);
    describe_option(view, joint, i, best, o.jobs + int64_t{r} * kJobFeatures);
    const bool suggested = joint.suggested() == static_cast<int32_t>(i);
    if (suggested) o.suggested = r;
    o.mask[r] = 1;
    o.slots[r] = static_cast<int32_t>(i);
    if (o.prior != nullptr) o.prior[r] = prior(joint.worth(i), suggested);
  }
  if (o.filled > o.rows) {
    std::fill_n(o.jobs + int64_t{o.rows} * kJobFeatures, int64_t{o.filled - o.rows} * kJobFeatures,
                0.0F);
  }
  o.filled = o.rows;
  o.mask[kNothing] = may_stay;
  if (o.prior != nullptr && may_stay) {
    o.prior[kNothing] = prior(joint.worth_of_staying(), o.suggested == kNothing);
  }
  describe_moment(view, config.joint, joint, best, o.cluster);
}

void JointTask::take(const View& view, const Config& config, std::byte* memory, int32_t action,
                     Draft& draft) {
  Joint joint(config.joint, view, memory, &draft);
  joint.look();
  int32_t pick = Joint::kStay;
  if (action != kNothing) {
    const std::vector<int32_t> rows = rows_of(joint);
    YARD_CHECK(static_cast<size_t>(action) < rows.size(), "an option that is not there");
    pick = rows[static_cast<size_t>(action)];
  }
  joint.take(pick);
  joint.next();
}

void JointTask::close(const View& view, const Config& config, std::byte* memory, Draft& draft) {
  Joint(config.joint, view, memory, &draft).close();
}

}  // namespace yard
