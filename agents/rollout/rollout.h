// Samples of many environments in the order of collection, with rows packed without padding. Dims:
// I samples, N environments, R rows of all samples, F row features, C cluster features.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/networks/network.h"
#include "agents/rollout/vector_env.h"

namespace yard {

class Rollout {
 public:
  explicit Rollout(const ObservationShape& shape) : shape_(shape) {}

  // keep_last() and keep_first() drop all but the last or first `samples` samples.
  void keep_last(int64_t samples);
  void keep_first(int64_t samples);

  // Appends the current observations of environments `worlds`, with world, at_s, expert_action.
  void add_observations(const VectorEnv& from, std::span<const int32_t> worlds);

  std::vector<int32_t> world;          // (I) index of the sample's environment
  std::vector<double> at_s;            // (I) seconds since the episode began
  std::vector<int32_t> expert_action;  // (I) the expert's action
  // The caller appends each sample's action and outcome to the following vectors.
  std::vector<int32_t> action;  // (I)
  std::vector<float> log_prob;  // (I)  log pi(a) of the policy
  std::vector<float>
      behaviour_log_prob;          // (I)  log mu(a) of the behaviour policy, which may explore
  std::vector<float> value;        // (I)  value estimate; empty without a critic
  std::vector<float> reward;       // (I)  reward, usually minus job-seconds
  std::vector<float> dt_s;         // (I)
  std::vector<Ending> ending;      // (I)
  std::vector<float> final_value;  // (I)  value of a truncated episode's last observation, else 0

  // Returns the samples `index` as one batch which owns its memory.
  RaggedBatch batch(std::span<const int64_t> index) const;

  // Returns the number of rows of each of the samples `index`.
  std::vector<int32_t> row_counts(std::span<const int64_t> index) const;

  // save() serialises the samples; restore() throws InputError naming `where` for other shapes.
  std::string save() const;
  void restore(std::string_view saved, const std::string& where);

  int64_t rows() const { return static_cast<int64_t>(jobs_.size()) / shape_.row_features; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  // Returns the indices of the samples of each environment, in order of collection.
  std::vector<std::vector<int64_t>> trajectories(int worlds) const;

 private:
  bool is_valid() const;

  // Applies `does` to each column with one number per sample.
  template <class Self, class Does>
  static void for_each_sample_column(Self& self, const Does& does);

  ObservationShape shape_;
  std::vector<float> jobs_;      // (R, F)
  std::vector<int64_t> offset_;  // (I) index of each sample's first row
  std::vector<int32_t> rows_;    // (I)
  std::vector<float> cluster_;   // (I, C)
  std::vector<float> prior_;     // (R + I) prior of each sample's rows, then of the no-op
};

// Return one batch: current observations of `worlds`, or final observations of all environments.
RaggedBatch current_observation_batch(const VectorEnv& from, std::span<const int32_t> worlds);
RaggedBatch final_observation_batch(const VectorEnv& from);

// A range of samples. split_by_rows() splits I samples, with `rows` (I) rows each, into ranges of
// about `rows_per_range` rows, which can run in parallel. The number of ranges is 1 or even and
// does not depend on the number of threads, so that results do not either.
struct SampleRange {
  size_t from, count;  // samples
};
std::vector<SampleRange> split_by_rows(std::span<const int32_t> rows, int64_t rows_per_range);

}  // namespace yard
