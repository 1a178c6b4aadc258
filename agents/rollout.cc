#include "agents/rollout.h"

#include <algorithm>
#include <cmath>

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

RaggedBatch pack(int worlds, std::span<const int32_t> rows, std::span<const float> jobs,
                 std::span<const float> cluster, std::span<const float> prior) {
  int64_t total = 0;
  for (const int32_t r : rows) total += r;
  Packer packer(worlds, total);
  for (int64_t n = 0; n < worlds; ++n) {
    packer.add(jobs.data() + n * kWindow, rows[static_cast<size_t>(n)], cluster.data() + n * kC,
               prior.data() + n * kA);
  }
  return packer.take();
}

}  // namespace

void Rollout::clear() {
  for (auto* column : {&log_prob, &value, &reward, &dt_s, &final_value, &jobs_, &cluster_, &prior_}) {
    column->clear();
  }
  action.clear();
  ending.clear();
  offset_.clear();
  rows_.clear();
}

void Rollout::add_observation(const BatchEnv& env) {
  for (int64_t n = 0; n < worlds_; ++n) {
    const int32_t rows = env.rows()[static_cast<size_t>(n)];
    offset_.push_back(static_cast<int64_t>(jobs_.size()) / kF);
    rows_.push_back(rows);
    const float* jobs = env.jobs().data() + n * kWindow;
    jobs_.insert(jobs_.end(), jobs, jobs + rows * kF);
  }
  cluster_.insert(cluster_.end(), env.cluster().begin(), env.cluster().end());
  prior_.insert(prior_.end(), env.prior().begin(), env.prior().end());
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

RaggedBatch present_batch(const BatchEnv& env) {
  return pack(env.worlds(), env.rows(), env.jobs(), env.cluster(), env.prior());
}

// The critic does not look at the prior, so the present one stands in.
RaggedBatch final_batch(const BatchEnv& env) {
  return pack(env.worlds(), env.final_rows(), env.final_jobs(), env.final_cluster(), env.prior());
}

Returns time_aware_gae(const Rollout& r, std::span<const float> last_value, double horizon_s,
                       double lambda, double reward_scale) {
  const auto size = static_cast<size_t>(r.size());
  Returns out{std::vector<float>(size), std::vector<float>(size)};
  for (int n = 0; n < r.worlds(); ++n) {
    double next_value = last_value[static_cast<size_t>(n)];
    double next_advantage = 0;
    for (int t = r.steps() - 1; t >= 0; --t) {
      const auto i = static_cast<size_t>(t) * static_cast<size_t>(r.worlds()) + static_cast<size_t>(n);
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

}  // namespace yard
