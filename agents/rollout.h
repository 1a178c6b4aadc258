// Experience: decisions of many worlds in the order in which they were made, rows ragged, and what
// came of each. Dims: I samples, N worlds, R rows of all samples, F, C features.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agents/network.h"

namespace yard {

class Rollout {
 public:
  explicit Rollout(const WorldsShape& shape) : shape_(shape) {}

  // Forgets all samples but the last or the first so many.
  void keep_last(int64_t samples);
  void cut(int64_t samples);

  // Copies what `worlds` see now.
  void add_observations(const Worlds& from, std::span<const int32_t> worlds);

  std::vector<int32_t> world;    // (I) written by add_observations()
  std::vector<double> at_s;      // (I) seconds since the episode began, likewise
  std::vector<int32_t> teacher;  // (I) what the task's heuristic would do, likewise
  // What was done there, and what came of it.
  std::vector<int32_t> action;        // (I)
  std::vector<float> log_prob;        // (I)  log pi(a) of the policy
  std::vector<float> acted_log_prob;  // (I)  log mu(a) of what acted, which may explore
  std::vector<float> value;           // (I)  empty without a critic
  std::vector<float> reward;          // (I)  of scheduling: minus job-seconds
  std::vector<float> dt_s;            // (I)
  std::vector<Ending> ending;         // (I)
  std::vector<float> final_value;     // (I)  of a truncated episode's last sight, else 0

  // The samples `index` as one batch. Its tensors own their memory.
  RaggedBatch batch(std::span<const int64_t> index) const;

  // Rows of each of the samples `index`.
  std::vector<int32_t> rows_of(std::span<const int64_t> index) const;

  // As bytes and back. restore() throws InputError naming `where` for those of another shape.
  std::string save() const;
  void restore(std::string_view saved, const std::string& where);

  int64_t rows() const { return static_cast<int64_t>(jobs_.size()) / shape_.row_features; }
  int64_t size() const { return static_cast<int64_t>(rows_.size()); }

  // The samples of each world, in order.
  std::vector<std::vector<int64_t>> chains(int worlds) const;

 private:
  bool is_sound() const;

  // Does it with every column of which a sample has one number.
  template <class Self, class Does>
  static void columns(Self& self, const Does& does);

  WorldsShape shape_;
  std::vector<float> jobs_;      // (R, F)
  std::vector<int64_t> offset_;  // (I) first row of a sample
  std::vector<int32_t> rows_;    // (I)
  std::vector<float> cluster_;   // (I, C)
  std::vector<float> prior_;     // (R + I) of each sample its rows', then of doing nothing
};

// What `worlds` see now, or all worlds saw last before they were cut off, as one batch.
RaggedBatch present_batch(const Worlds& from, std::span<const int32_t> worlds);
RaggedBatch final_batch(const Worlds& from);

// Cuts samples of so many rows each (I) into parts that may be worked on at the same time: of about
// as many rows each, some `most` of them; one part, or an even number, whatever the number of
// threads, so that results do not depend on it.
struct Part {
  size_t from, count;  // samples
};
std::vector<Part> parts_of(std::span<const int32_t> rows, int64_t most);

}  // namespace yard
