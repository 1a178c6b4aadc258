// Training data and validation of one training run: simulated jobs (simulated_data.h), or the
// recorded actions of a decision log (logged_data.h).
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "agents/train/trainable_agent.h"
#include "env/base/core/check.h"

namespace yard {

class TrainingData {
 public:
  virtual ~TrainingData() = default;

  // Makes training environments, which may point into this object.
  virtual std::unique_ptr<VectorEnv> worlds(const TrainableAgent& agent,
                                            const VectorEnvOptions& options) const = 0;

  struct ValidationResult {
    double score = 0;  // lower is better
    // By validation window: the logarithm of the ratio of mean JCTs. The score is the exponential
    // of their mean. Empty if there are no windows.
    std::vector<double> log_ratios = {};
  };
  virtual ValidationResult validate(const Checkpoint& checkpoint) const = 0;

  // Like validate(), but each validation workload has its own checkpoint: `adapt` makes it from
  // environments which play other jobs of that workload.
  using MakeVectorEnv = std::function<std::unique_ptr<VectorEnv>(const VectorEnvOptions&)>;
  using MakeCheckpoint = std::function<Checkpoint(const MakeVectorEnv& worlds)>;
  virtual ValidationResult validate_checkpoint_per_workload(const TrainableAgent&,
                                                            const MakeCheckpoint&) const {
    YARD_CHECK(false, "training data without jobs to adapt to");
  }

  // A score as reported: "ratio", with the value of validate(), or "agreement".
  struct NamedScore {
    std::string name;
    double value;
  };
  virtual NamedScore to_reported_score(double score) const { return {"ratio", score}; }

  // Describes the reported score: "mean JCT over that of las on 3 validation windows". `heuristic`:
  // the name of the policy which validation compares with.
  virtual std::string score_description(const std::string& heuristic) const = 0;

  // Describes the gain from training if validation has no windows; otherwise returns "".
  virtual std::string gain_description(const Checkpoint& /*best*/,
                                       const Checkpoint& /*untrained*/) const {
    return "";
  }

  // Returns the envelope of the workloads that the training plays, under the checkpoint's policy.
  virtual Envelope envelope(const Checkpoint& checkpoint) const = 0;

  // Notes which the user should see before training starts.
  virtual std::vector<std::string> notes() const { return {}; }

  virtual nlohmann::ordered_json provenance() const = 0;
  virtual std::string name() const = 0;
  virtual std::string sha256() const = 0;
};

}  // namespace yard
