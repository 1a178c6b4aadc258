// The recorded actions of a decision log as training data. The first part of its time is for
// training, the rest is held out for validation.
#pragma once

#include "experiments/train/agreement.h"
#include "experiments/train/log_folder.h"
#include "experiments/train/training_data.h"

namespace yard {

class LoggedData final : public TrainingData {
 public:
  // `held_out`: share of the log's time at its end, 0 to 1. Throws InputError if one of the parts
  // is empty or the file is damaged. Requires: `folder` has choices and outlives this object.
  LoggedData(const LogFolder& folder, double held_out);

  std::unique_ptr<VectorEnv> worlds(const TrainableAgent& agent,
                                    const VectorEnvOptions& options) const override;

  // The score is the share of held-out recorded actions which the network does not choose.
  ValidationResult validate(const Checkpoint& checkpoint) const override {
    return {1 - agreement_of(checkpoint, held_out_).agreement_share()};
  }
  ReportedScore reported(double score) const override { return {"agreement", 1 - score}; }
  std::string score_description(const std::string&) const override {
    return "share of the log's held-out actions that it reproduces";
  }
  std::string gain_description(const Checkpoint& best, const Checkpoint& untrained) const override;

  nlohmann::ordered_json provenance() const override;
  std::string name() const override;
  std::string sha256() const override { return folder_.fit().at("sha256"); }

  const RecordedChoices& held_out() const { return held_out_; }

 private:
  const LogFolder& folder_;
  RecordedChoices learned_, held_out_;
};

}  // namespace yard
