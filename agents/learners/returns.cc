#include "agents/learners/returns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace yard {
namespace {

// The immediate reward of a decision, and the discount of what follows.
struct Step {
  double reward, discount;
};

template <class StepOf>
Returns gae(const Rollout& r, std::span<const float> last_value, double lambda, StepOf&& step_of) {
  const auto size = static_cast<size_t>(r.size());
  Returns out{std::vector<float>(size), std::vector<float>(size)};
  const auto trajectories = r.trajectories(static_cast<int>(last_value.size()));
  for (size_t n = 0; n < trajectories.size(); ++n) {
    double next_value = last_value[n];
    double next_advantage = 0;
    for (auto it = trajectories[n].rbegin(); it != trajectories[n].rend(); ++it) {
      const auto i = static_cast<size_t>(*it);
      if (r.ending[i] != Ending::kNone) {
        next_value = r.ending[i] == Ending::kTruncated ? r.final_value[i] : 0;
        next_advantage = 0;
      }
      const Step step = step_of(i);
      const double decay = r.dt_s[i] > 0 ? lambda : 1;
      const double delta = step.reward + step.discount * next_value - r.value[i];
      next_advantage = delta + step.discount * decay * next_advantage;
      next_value = r.value[i];
      out.advantage[i] = static_cast<float>(next_advantage);
      out.target[i] = static_cast<float>(next_advantage + r.value[i]);
    }
  }
  return out;
}

// The return of one environment's episode from any moment on.
class ReturnCurve {
 public:
  ReturnCurve(const Rollout& r, const std::vector<int64_t>& trajectory, double horizon_s,
              double scale)
      : horizon_s_(horizon_s) {
    const size_t n = trajectory.size();
    at_s_.resize(n + 1);
    reward_.resize(n);
    to_go_.assign(n + 1, 0);
    for (size_t k = n; k-- > 0;) {
      const auto i = static_cast<size_t>(trajectory[k]);
      at_s_[k] = r.at_s[i];
      if (k + 1 == n) at_s_[n] = r.at_s[i] + r.dt_s[i];
      reward_[k] = scale * r.reward[i];
      to_go_[k] =
          reward_[k] + std::exp(-static_cast<double>(r.dt_s[i]) / horizon_s) * to_go_[k + 1];
    }
  }

  double from_sample(size_t k) const { return to_go_[k]; }
  double end_s() const { return at_s_.back(); }

  double from_time(double t_s) const {
    // k is the first decision after t. The reward of the step before it counts in proportion.
    const auto next = std::upper_bound(at_s_.begin(), at_s_.end(), t_s);
    if (next == at_s_.end()) return 0;
    const auto k = static_cast<size_t>(next - at_s_.begin());
    if (k == 0) return to_go_[0];
    const double left_s = at_s_[k] - t_s, whole_s = at_s_[k] - at_s_[k - 1];
    return reward_[k - 1] * left_s / whole_s + std::exp(-left_s / horizon_s_) * to_go_[k];
  }

 private:
  double horizon_s_;
  std::vector<double> at_s_, reward_,
      to_go_;  // at_s_ and to_go_ include the episode's end
};

// The cumulative reward of one environment's episode up to any moment.
class RewardCurve {
 public:
  RewardCurve(const Rollout& r, const std::vector<int64_t>& trajectory) : at_s_{0}, paid_{0} {
    for (const int64_t sample : trajectory) {
      const auto i = static_cast<size_t>(sample);
      at_s_.push_back(r.at_s[i] + r.dt_s[i]);
      paid_.push_back(paid_.back() + r.reward[i]);
    }
    if (!trajectory.empty()) at_s_[0] = r.at_s[static_cast<size_t>(trajectory[0])];
  }

  double total() const { return paid_.back(); }

  double until(double t_s) const {
    const auto next = std::upper_bound(at_s_.begin(), at_s_.end(), t_s);
    if (next == at_s_.begin()) return 0;
    if (next == at_s_.end()) return total();
    const auto k = static_cast<size_t>(next - at_s_.begin());
    const double share = (t_s - at_s_[k - 1]) / (at_s_[k] - at_s_[k - 1]);
    return paid_[k - 1] + share * (paid_[k] - paid_[k - 1]);
  }

 private:
  std::vector<double> at_s_, paid_;
};

}  // namespace

Returns time_aware_gae(const Rollout& r, std::span<const float> last_value, double horizon_s,
                       double lambda, double reward_scale) {
  return gae(r, last_value, lambda, [&](size_t i) {
    return Step{reward_scale * r.reward[i], std::exp(-static_cast<double>(r.dt_s[i]) / horizon_s)};
  });
}

Returns average_reward_gae(const Rollout& r, std::span<const float> last_value, double rate,
                           double lambda, double reward_scale) {
  return gae(r, last_value, lambda, [&](size_t i) {
    return Step{reward_scale * r.reward[i] - rate * r.dt_s[i], 1};
  });
}

Returns group_advantages(const Rollout& r, int worlds, int group_size, double horizon_s,
                         double reward_scale) {
  const auto trajectories = r.trajectories(worlds);
  std::vector<ReturnCurve> curves;
  for (const auto& trajectory : trajectories)
    curves.emplace_back(r, trajectory, horizon_s, reward_scale);
  Returns out{std::vector<float>(static_cast<size_t>(r.size())), {}};
  for (int n = 0; n < worlds; ++n) {
    const int first = n / group_size * group_size;
    const auto& trajectory = trajectories[static_cast<size_t>(n)];
    // What follows a truncation is unknown, so no environment of the group is compared beyond it.
    double cut_s = std::numeric_limits<double>::infinity();
    for (int m = first; m < first + group_size; ++m) {
      const auto& other = trajectories[static_cast<size_t>(m)];
      if (other.empty() || r.ending[static_cast<size_t>(other.back())] != Ending::kTruncated)
        continue;
      cut_s = std::min(cut_s, curves[static_cast<size_t>(m)].end_s());
    }
    const auto until_cut = [&](const ReturnCurve& curve, double from_s, double to_go) {
      if (std::isinf(cut_s)) return to_go;
      return to_go - std::exp((from_s - cut_s) / horizon_s) * curve.from_time(cut_s);
    };
    for (size_t k = 0; k < trajectory.size(); ++k) {
      const auto i = static_cast<size_t>(trajectory[k]);
      const double at_s = r.at_s[i];
      if (at_s >= cut_s) continue;
      double others = 0;
      for (int m = first; m < first + group_size; ++m) {
        const ReturnCurve& curve = curves[static_cast<size_t>(m)];
        if (m != n) others += until_cut(curve, at_s, curve.from_time(at_s)) / (group_size - 1);
      }
      const ReturnCurve& curve = curves[static_cast<size_t>(n)];
      out.advantage[i] = static_cast<float>(until_cut(curve, at_s, curve.from_sample(k)) - others);
    }
  }
  return out;
}

void subtract_expert_rewards(Rollout& r, int worlds, int group_size) {
  const auto trajectories = r.trajectories(worlds);
  std::vector<float> relative = r.reward;
  for (int n = 0; n < worlds; ++n) {
    const RewardCurve heuristic(r, trajectories[static_cast<size_t>(n / group_size * group_size)]);
    const auto& trajectory = trajectories[static_cast<size_t>(n)];
    double so_far = 0;
    for (size_t k = 0; k < trajectory.size(); ++k) {
      const auto i = static_cast<size_t>(trajectory[k]);
      const bool last = k + 1 == trajectory.size();
      const double paid = last ? heuristic.total() : heuristic.until(r.at_s[i] + r.dt_s[i]);
      relative[i] = static_cast<float>(r.reward[i] - (paid - so_far));
      so_far = paid;
    }
  }
  r.reward = std::move(relative);
}

}  // namespace yard
