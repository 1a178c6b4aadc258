// A small checkpoint with consistent golden states, made without training.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "policies/learned/golden.h"
#include "policies/learned/job_scorer.h"
#include "policies/learned/learned_policy.h"
#include "tests/support/dispatcher.h"

namespace yard::testing {

inline Tensors random_weights(int hidden, Rng rng) {
  Tensors out;
  for (const auto& [name, shape] : job_scorer_shapes(hidden, dispatcher::kShape)) {
    Tensor& t = out[name];
    t.shape = shape;
    size_t count = 1;
    for (const int64_t n : shape) count *= static_cast<size_t>(n);
    for (size_t i = 0; i < count; ++i) {
      t.data.push_back(static_cast<float>(rng.uniform() - 0.5) * (name == "b1" ? 1.0F : 0.7F));
    }
  }
  return out;
}

inline GoldenState random_state(int32_t rows, Rng rng) {
  GoldenState g;
  g.jobs.assign(size_t{dispatcher::kJobs} * dispatcher::kJobFeatures, 0.0F);
  g.mask.assign(dispatcher::kActions, 0);
  g.prior.assign(dispatcher::kActions, kMaskedLogit);
  g.slots.assign(dispatcher::kJobs, 0);
  g.logits.assign(dispatcher::kActions, 0);
  for (int i = 0; i < dispatcher::kClusterFeatures; ++i) {
    g.cluster.push_back(static_cast<float>(rng.normal()));
  }
  g.rows = rows;
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    for (size_t k = 0; k < dispatcher::kJobFeatures; ++k) {
      g.jobs[r * dispatcher::kJobFeatures + k] = static_cast<float>(rng.normal());
    }
    g.mask[r] = rng.uniform() < 0.7;
    if (g.mask[r] != 0) g.prior[r] = static_cast<float>(rng.normal());
  }
  g.mask[dispatcher::kNothing] = 1;
  g.prior[dispatcher::kNothing] = 0;
  return g;
}

inline std::shared_ptr<const Agent> small_agent() {
  return dispatcher::agent({"gpu_exponent=0.75", "placement=best-fit", "held_rows=17", "spread=0.9",
                            "spread_batch=0.5", "spread_user=0.4"});
}

inline Checkpoint small_checkpoint() {
  Checkpoint c;
  c.agent = "dispatcher";
  c.network = "job-scorer";
  c.task = agent_settings_json("dispatcher", *small_agent());
  c.weights = random_weights(8, Rng{3});
  const JobScorer net({c.weights, dispatcher::kShape, "test"});
  std::vector<GoldenState> golden;
  for (const int32_t rows : {0, 1, 5, 40, 128}) {
    golden.push_back(random_state(rows, Rng{4}.split(static_cast<uint64_t>(rows))));
    net.forward(golden.back().observation(), golden.back().logits);
  }
  c.golden = pack_golden(golden, dispatcher::kShape);
  c.provenance = {{"seed", 3}};
  return c;
}

// The message of the InputError that `fn` throws, "" if it throws none.
template <class F>
std::string refusal(F&& fn) {
  try {
    fn();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// A temporary folder, which is removed with all its files when the object is destroyed.
class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() /
              ("yard_ckpt_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace yard::testing
