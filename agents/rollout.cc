#include "agents/rollout.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace yard {
namespace {

constexpr int64_t kF = Dispatch::kJobFeatures;
constexpr int64_t kC = Dispatch::kClusterFeatures;
constexpr int64_t kA = Dispatch::kActions;
constexpr int64_t kWindow = Dispatch::kJobs * kF;

// Fills a batch sample by sample.
class Packer {
 public:
  Packer(int64_t samples, int64_t rows) {
    batch_.jobs = torch::empty({rows, kF});
    batch_.offset = torch::zeros({samples + 1}, torch::kInt64);
    batch_.slot = torch::empty({rows}, torch::kInt64);
    batch_.count = torch::empty({samples, 1});
    batch_.cluster = torch::empty({samples, kC});
    batch_.prior = torch::empty({samples, kA});
  }

  void add(const float* jobs, int32_t rows, const float* cluster, const float* prior) {
    std::copy_n(jobs, rows * kF, batch_.jobs.data_ptr<float>() + row_ * kF);
    int64_t* slot = batch_.slot.data_ptr<int64_t>() + row_;
    for (int32_t r = 0; r < rows; ++r) slot[r] = sample_ * Dispatch::kJobs + r;
    batch_.offset.data_ptr<int64_t>()[sample_ + 1] = row_ + rows;
    batch_.count.data_ptr<float>()[sample_] = static_cast<float>(std::max(rows, 1));
    std::copy_n(cluster, kC, batch_.cluster.data_ptr<float>() + sample_ * kC);
    std::copy_n(prior, kA, batch_.prior.data_ptr<float>() + sample_ * kA);
    row_ += rows;
    ++sample_;
  }

  RaggedBatch take() { return std::move(batch_); }

 private:
  RaggedBatch batch_;
  int64_t row_ = 0, sample_ = 0;
};

}  // namespace

void Rollout::clear() {
  for (auto* column :
       {&log_prob, &value, &reward, &dt_s, &final_value, &jobs_, &cluster_, &prior_}) {
    column->clear();
  }
  for (auto* column : {&world, &action, &rows_}) column->clear();
  at_s.clear();
  ending.clear();
  offset_.clear();
}

void Rollout::add_observations(const BatchEnv& env, std::span<const int32_t> worlds) {
  for (const int32_t n : worlds) {
    const int32_t rows = env.rows()[static_cast<size_t>(n)];
    world.push_back(n);
    at_s.push_back(env.elapsed_s(n));
    offset_.push_back(static_cast<int64_t>(jobs_.size()) / kF);
    rows_.push_back(rows);
    const float* jobs = env.jobs().data() + n * kWindow;
    jobs_.insert(jobs_.end(), jobs, jobs + rows * kF);
    const float* cluster = env.cluster().data() + n * kC;
    cluster_.insert(cluster_.end(), cluster, cluster + kC);
    const float* prior = env.prior().data() + n * kA;
    prior_.insert(prior_.end(), prior, prior + kA);
  }
}

RaggedBatch Rollout::batch(std::span<const int64_t> index) const {
  int64_t total = 0;
  for (const int64_t i : index) total += rows_[static_cast<size_t>(i)];
  Packer packer(static_cast<int64_t>(index.size()), total);
  for (const int64_t i : index) {
    packer.add(jobs_.data() + offset_[static_cast<size_t>(i)] * kF, rows_[static_cast<size_t>(i)],
               cluster_.data() + i * kC, prior_.data() + i * kA);
  }
  return packer.take();
}

std::vector<std::vector<int64_t>> Rollout::chains(int worlds) const {
  std::vector<std::vector<int64_t>> out(static_cast<size_t>(worlds));
  for (size_t i = 0; i < world.size(); ++i) {
    out[static_cast<size_t>(world[i])].push_back(static_cast<int64_t>(i));
  }
  return out;
}

RaggedBatch present_batch(const BatchEnv& env, std::span<const int32_t> worlds) {
  int64_t total = 0;
  for (const int32_t n : worlds) total += env.rows()[static_cast<size_t>(n)];
  Packer packer(static_cast<int64_t>(worlds.size()), total);
  for (const int32_t n : worlds) {
    packer.add(env.jobs().data() + n * kWindow, env.rows()[static_cast<size_t>(n)],
               env.cluster().data() + n * kC, env.prior().data() + n * kA);
  }
  return packer.take();
}

// The critic does not look at the prior, so the present one stands in.
RaggedBatch final_batch(const BatchEnv& env) {
  int64_t total = 0;
  for (const int32_t rows : env.final_rows()) total += rows;
  Packer packer(env.worlds(), total);
  for (int64_t n = 0; n < env.worlds(); ++n) {
    packer.add(env.final_jobs().data() + n * kWindow, env.final_rows()[static_cast<size_t>(n)],
               env.final_cluster().data() + n * kC, env.prior().data() + n * kA);
  }
  return packer.take();
}

Returns time_aware_gae(const Rollout& r, std::span<const float> last_value, double horizon_s,
                       double lambda, double reward_scale) {
  const auto size = static_cast<size_t>(r.size());
  Returns out{std::vector<float>(size), std::vector<float>(size)};
  const auto chains = r.chains(static_cast<int>(last_value.size()));
  for (size_t n = 0; n < chains.size(); ++n) {
    double next_value = last_value[n];
    double next_advantage = 0;
    for (auto it = chains[n].rbegin(); it != chains[n].rend(); ++it) {
      const auto i = static_cast<size_t>(*it);
      if (r.ending[i] != Ending::kNone) {
        next_value = r.ending[i] == Ending::kTruncated ? r.final_value[i] : 0;
        next_advantage = 0;
      }
      const double discount = std::exp(-static_cast<double>(r.dt_s[i]) / horizon_s);
      const double fade = r.dt_s[i] > 0 ? lambda : 1;
      const double delta = reward_scale * r.reward[i] + discount * next_value - r.value[i];
      next_advantage = delta + discount * fade * next_advantage;
      next_value = r.value[i];
      out.advantage[i] = static_cast<float>(next_advantage);
      out.target[i] = static_cast<float>(next_advantage + r.value[i]);
    }
  }
  return out;
}

namespace {

// The return of one world's episode from any moment on.
class ReturnCurve {
 public:
  ReturnCurve(const Rollout& r, const std::vector<int64_t>& chain, double horizon_s, double scale)
      : horizon_s_(horizon_s) {
    const size_t n = chain.size();
    at_s_.resize(n + 1);
    reward_.resize(n);
    to_go_.assign(n + 1, 0);
    for (size_t k = n; k-- > 0;) {
      const auto i = static_cast<size_t>(chain[k]);
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
    // The first decision after t; what was running up to it counts in proportion.
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
      to_go_;  // at_s_ and to_go_ have the episode's end behind them
};

}  // namespace

Returns group_advantages(const Rollout& r, int worlds, int group, double horizon_s,
                         double reward_scale) {
  const auto chains = r.chains(worlds);
  std::vector<ReturnCurve> curves;
  for (const auto& chain : chains) curves.emplace_back(r, chain, horizon_s, reward_scale);
  Returns out{std::vector<float>(static_cast<size_t>(r.size())), {}};
  for (int n = 0; n < worlds; ++n) {
    const int first = n / group * group;
    const auto& chain = chains[static_cast<size_t>(n)];
    // Where a world was cut off, nobody knows what it would still have cost: from there on nobody
    // is compared.
    double cut_s = std::numeric_limits<double>::infinity();
    for (int m = first; m < first + group; ++m) {
      const auto& other = chains[static_cast<size_t>(m)];
      if (other.empty() || r.ending[static_cast<size_t>(other.back())] != Ending::kTruncated)
        continue;
      cut_s = std::min(cut_s, curves[static_cast<size_t>(m)].end_s());
    }
    const auto until_cut = [&](const ReturnCurve& curve, double from_s, double to_go) {
      if (std::isinf(cut_s)) return to_go;
      return to_go - std::exp((from_s - cut_s) / horizon_s) * curve.from_time(cut_s);
    };
    for (size_t k = 0; k < chain.size(); ++k) {
      const auto i = static_cast<size_t>(chain[k]);
      const double at_s = r.at_s[i];
      if (at_s >= cut_s) continue;
      double others = 0;
      for (int m = first; m < first + group; ++m) {
        const ReturnCurve& curve = curves[static_cast<size_t>(m)];
        if (m != n) others += until_cut(curve, at_s, curve.from_time(at_s)) / (group - 1);
      }
      const ReturnCurve& curve = curves[static_cast<size_t>(n)];
      out.advantage[i] = static_cast<float>(until_cut(curve, at_s, curve.from_sample(k)) - others);
    }
  }
  return out;
}

}  // namespace yard
