#include "agents/rollout/rollout.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "env/base/core/error.h"

namespace yard {
namespace {

// Fills a batch, one sample at a time.
class Packer {
 public:
  Packer(const ObservationShape& shape, int64_t samples, int64_t rows) : shape_(shape) {
    batch_.jobs = torch::empty({rows, shape.row_features});
    batch_.offset = torch::zeros({samples + 1}, torch::kInt64);
    batch_.count = torch::empty({samples, 1});
    batch_.cluster = torch::empty({samples, shape.cluster_features});
    batch_.prior = torch::empty({rows + samples});
  }

  // `prior` is that of the rows; `nothing` is that of the no-op, which may be stored elsewhere.
  void add(const float* jobs, int32_t rows, const float* cluster, const float* prior,
           float nothing) {
    const int64_t f = shape_.row_features, c = shape_.cluster_features;
    std::copy_n(jobs, rows * f, batch_.jobs.data_ptr<float>() + row_ * f);
    batch_.offset.data_ptr<int64_t>()[sample_ + 1] = row_ + rows;
    batch_.count.data_ptr<float>()[sample_] = static_cast<float>(std::max(rows, 1));
    std::copy_n(cluster, c, batch_.cluster.data_ptr<float>() + sample_ * c);
    float* choices = batch_.prior.data_ptr<float>() + row_ + sample_;
    *std::copy_n(prior, rows, choices) = nothing;
    row_ += rows;
    ++sample_;
  }

  RaggedBatch take() { return std::move(batch_); }

 private:
  ObservationShape shape_;
  RaggedBatch batch_;
  int64_t row_ = 0, sample_ = 0;
};

RaggedBatch pack(const Observations& observations, const ObservationShape& s,
                 std::span<const int32_t> worlds) {
  int64_t total = 0;
  for (const int32_t n : worlds) total += observations.rows[static_cast<size_t>(n)];
  Packer packer(s, static_cast<int64_t>(worlds.size()), total);
  for (const int64_t n : worlds) {
    const float* prior = observations.prior.data() + n * s.actions();
    packer.add(observations.jobs.data() + n * s.rows * s.row_features,
               observations.rows[static_cast<size_t>(n)],
               observations.cluster.data() + n * s.cluster_features, prior, prior[s.actions() - 1]);
  }
  return packer.take();
}

}  // namespace

// Columns with one value per sample. `jobs_`, `cluster_` and `prior_` are handled separately.
template <class Self, class Does>
void Rollout::for_each_sample_column(Self& self, const Does& does) {
  does(self.world), does(self.at_s), does(self.expert_action), does(self.action),
      does(self.log_prob);
  does(self.behaviour_log_prob), does(self.value), does(self.reward), does(self.dt_s),
      does(self.ending), does(self.final_value);
  does(self.offset_), does(self.rows_);
}

void Rollout::keep_last(int64_t samples) {
  const int64_t gone = size() - samples;
  if (gone <= 0) return;
  const int64_t first = gone < size() ? offset_[static_cast<size_t>(gone)] : rows();
  jobs_.erase(jobs_.begin(), jobs_.begin() + first * shape_.row_features);
  cluster_.erase(cluster_.begin(), cluster_.begin() + gone * shape_.cluster_features);
  prior_.erase(prior_.begin(), prior_.begin() + first + gone);
  for_each_sample_column(*this, [gone](auto& column) {
    if (!column.empty()) column.erase(column.begin(), column.begin() + gone);
  });
  for (int64_t& offset : offset_) offset -= first;
}

void Rollout::keep_first(int64_t samples) {
  if (samples >= size()) return;
  const int64_t end = offset_[static_cast<size_t>(samples)];
  jobs_.resize(static_cast<size_t>(end * shape_.row_features));
  cluster_.resize(static_cast<size_t>(samples * shape_.cluster_features));
  prior_.resize(static_cast<size_t>(end + samples));
  // An interrupted step has an observation, but no outcome yet.
  for_each_sample_column(*this, [samples](auto& column) {
    column.resize(std::min(column.size(), static_cast<size_t>(samples)));
  });
}

std::string Rollout::save() const {
  std::string out;
  const auto add = [&out](const auto& column) {
    const uint64_t bytes = column.size() * sizeof(column[0]);
    out.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    out.append(reinterpret_cast<const char*>(column.data()), bytes);
  };
  for_each_sample_column(*this, add);
  add(jobs_), add(cluster_), add(prior_);
  return out;
}

void Rollout::restore(std::string_view saved, const std::string& where) {
  Rollout read(shape_);
  bool whole = true;
  const auto take = [&](auto& column) {
    uint64_t bytes = 0;
    if (saved.size() < sizeof bytes) {
      whole = false;
      return;
    }
    std::memcpy(&bytes, saved.data(), sizeof bytes);
    saved.remove_prefix(sizeof bytes);
    whole = whole && bytes <= saved.size() && bytes % sizeof(column[0]) == 0;
    if (!whole) return;
    column.resize(bytes / sizeof(column[0]));
    if (bytes > 0) std::memcpy(column.data(), saved.data(), bytes);
    saved.remove_prefix(bytes);
  };
  for_each_sample_column(read, take);
  take(read.jobs_), take(read.cluster_), take(read.prior_);
  if (!whole || !saved.empty() || !read.is_valid()) {
    throw InputError(where, "samples with the agent's current features",
                     "other or damaged samples");
  }
  *this = std::move(read);
}

bool Rollout::is_valid() const {
  const auto samples = static_cast<size_t>(size());
  bool sound = true;
  for_each_sample_column(*this, [&](const auto& column) {
    sound = sound && (column.size() == samples || column.empty());
  });
  if (!sound || (samples > 0 && (world.empty() || offset_.empty()))) return false;
  int64_t next = 0;
  for (size_t i = 0; i < samples; ++i) {
    if (offset_[i] != next || rows_[i] < 0 || rows_[i] > shape_.rows) return false;
    next += rows_[i];
  }
  const auto all = static_cast<size_t>(next);
  return jobs_.size() == all * static_cast<size_t>(shape_.row_features) &&
         cluster_.size() == samples * static_cast<size_t>(shape_.cluster_features) &&
         prior_.size() == all + samples;
}

void Rollout::add_observations(const VectorEnv& from, std::span<const int32_t> worlds) {
  const Observations observations = from.observations();
  const int64_t f = shape_.row_features, c = shape_.cluster_features, a = shape_.actions();
  for (const int32_t n : worlds) {
    const int32_t rows = observations.rows[static_cast<size_t>(n)];
    world.push_back(n);
    at_s.push_back(from.elapsed_s(n));
    expert_action.push_back(observations.expert_action[static_cast<size_t>(n)]);
    offset_.push_back(static_cast<int64_t>(jobs_.size()) / f);
    rows_.push_back(rows);
    const float* jobs = observations.jobs.data() + n * shape_.rows * f;
    jobs_.insert(jobs_.end(), jobs, jobs + rows * f);
    const float* cluster = observations.cluster.data() + n * c;
    cluster_.insert(cluster_.end(), cluster, cluster + c);
    const float* prior = observations.prior.data() + n * a;
    prior_.insert(prior_.end(), prior, prior + rows);
    prior_.push_back(prior[a - 1]);
  }
}

RaggedBatch Rollout::batch(std::span<const int64_t> index) const {
  int64_t total = 0;
  for (const int64_t i : index) total += rows_[static_cast<size_t>(i)];
  Packer packer(shape_, static_cast<int64_t>(index.size()), total);
  for (const int64_t i : index) {
    const int64_t first = offset_[static_cast<size_t>(i)];
    const int32_t rows = rows_[static_cast<size_t>(i)];
    const float* prior = prior_.data() + first + i;
    packer.add(jobs_.data() + first * shape_.row_features, rows,
               cluster_.data() + i * shape_.cluster_features, prior, prior[rows]);
  }
  return packer.take();
}

std::vector<int32_t> Rollout::row_counts(std::span<const int64_t> index) const {
  std::vector<int32_t> out;
  for (const int64_t i : index) out.push_back(rows_[static_cast<size_t>(i)]);
  return out;
}

std::vector<std::vector<int64_t>> Rollout::trajectories(int worlds) const {
  std::vector<std::vector<int64_t>> out(static_cast<size_t>(worlds));
  for (size_t i = 0; i < world.size(); ++i) {
    out[static_cast<size_t>(world[i])].push_back(static_cast<int64_t>(i));
  }
  return out;
}

std::vector<SampleRange> split_by_rows(std::span<const int32_t> rows, int64_t rows_per_range) {
  const int64_t all = std::accumulate(rows.begin(), rows.end(), int64_t{0});
  const int64_t parts =
      all <= rows_per_range ? 1 : 2 * ((all + 2 * rows_per_range - 1) / (2 * rows_per_range));
  std::vector<SampleRange> out;
  size_t from = 0;
  for (int64_t p = 1, sum = 0; p < parts; ++p) {
    size_t to = from;
    for (; to < rows.size() && sum < all * p / parts; ++to) sum += rows[to];
    out.push_back({from, to - from});
    from = to;
  }
  out.push_back({from, rows.size() - from});
  return out;
}

RaggedBatch current_observation_batch(const VectorEnv& from, std::span<const int32_t> worlds) {
  return pack(from.observations(), from.shape(), worlds);
}

// The critic does not read the prior, so the current one takes its place.
RaggedBatch final_observation_batch(const VectorEnv& from) {
  Observations observations = from.observations();
  observations.jobs = observations.final_jobs;
  observations.cluster = observations.final_cluster;
  observations.rows = observations.final_rows;
  std::vector<int32_t> all(static_cast<size_t>(from.count()));
  std::iota(all.begin(), all.end(), 0);
  return pack(observations, from.shape(), all);
}

}  // namespace yard
