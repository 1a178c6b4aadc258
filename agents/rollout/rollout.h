// Samples of many environments in the order of collection, rows packed without padding.
// Dims: I samples, N environments, R rows of all samples, F, C features.
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

  // Keep only the last or the first `samples` samples.
  void keep_last(int64_t samples);
  void keep_first(int64_t samples);

  // Appends the current observations of `worlds`.
  void add_observations(const VectorEnv& from, std::span<const int32_t> worlds);

  std::vector<int32_t> world;  // (I) environment of the sample; add_observations() fills this and
                               // the next two columns
  std::vector<double> at_s;    // (I) seconds since the episode began
  std::vector<int32_t> expert_action;  // (I) the expert's action
  // Filled by the caller: the action and its outcome.
  std::vector<int32_t> action;  // (I)
  std::vector<float> log_prob;  // (I)  log pi(a) of the policy
  std::vector<float>
      behaviour_log_prob;     // (I)  log mu(a) of the behaviour policy, which may explore
  std::vector<float> value;   // (I)  value of the observation by the critic; empty without a critic
  std::vector<float> reward;  // (I)  reward of the action, usually minus job-seconds
  std::vector<float> dt_s;    // (I)
  std::vector<Ending> ending;  // (I)
  std::vector<float>
      final_value;  // (I)  value of the last observation if the episode was truncated, else 0

  // Returns the samples `index` as one batch which owns its memory.
  RaggedBatch batch(std::span<const int64_t> index) const;

  // Returns the number of rows of each of the samples `index`.
  std::vector<int32_t> row_counts(std::span<const int64_t> index) const;

  // Serialise the samples. restore() throws InputError naming `where` if the shape differs.
  std::string save() const;
  void restore(std::string_view saved, const std::string& where);

  int64_t rows() const { return static_cast<int64_t>(jobs_.size()) / shape_.row_features; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  // Returns the samples of each environment, in order.
  std::vector<std::vector<int64_t>> trajectories(int worlds) const;

 private:
  bool is_valid() const;

  // Applies `does` to each column with one number per sample.
  template <class Self, class Does>
  static void for_each_sample_column(Self& self, const Does& does);

  ObservationShape shape_;
  std::vector<float> jobs_;      // (R, F)
  std::vector<int64_t> offset_;  // (I) first row of a sample
  std::vector<int32_t> rows_;    // (I)
  std::vector<float> cluster_;   // (I, C)
  std::vector<float> prior_;     // (R + I) prior logits of each sample's rows, then of its no-op
};

// Return the current observations of `worlds`, or the final ones of all, as one batch.
RaggedBatch current_batch(const VectorEnv& from, std::span<const int32_t> worlds);
RaggedBatch final_batch(const VectorEnv& from);

// Splits I samples into parts of similar size which can run in parallel. `rows` (I): number of rows
// of each sample. A part has about `most` rows. The number of parts is 1 or even, whatever the
// number of threads, so that results do not depend on it.
struct SampleRange {
  size_t from, count;  // samples
};
std::vector<SampleRange> split_by_rows(std::span<const int32_t> rows, int64_t most);

}  // namespace yard
