// The recorded actions of a decision log as training data. The first part of the log's time is for
// training, the rest is held out for validation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "experiments/train/log_folder.h"
#include "experiments/train/training_data.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

// How often a network chooses the recorded actions of a decision log.
struct Agreement {
  int64_t steps = 0, agreed = 0;  // steps with more than one legal action
  int64_t action_steps = 0,
          action_steps_agreed =
              0;  // steps with several legal actions whose recorded action is not the no-op
  int64_t decisions = 0, reproduced = 0;  // reproduced: all steps agree, none is unrepresentable
  int64_t unrepresentable = 0;            // recorded actions which the task cannot represent
  std::vector<std::pair<int32_t, bool>> by_decision;  // (decision, reproduced), sorted by decision

  // Share of all recorded actions which the network chooses; unrepresentable ones count as not
  // chosen.
  double agreement_share() const {
    return static_cast<double>(agreed) /
           static_cast<double>(std::max<int64_t>(1, steps + unrepresentable));
  }
};

// Compares each recorded action with the network's most probable action, which a server would
// take. Throws InputError if the network does not fit the task.
Agreement agreement_of(const Checkpoint& checkpoint, const RecordedChoices& choices);

class LoggedData final : public TrainingData {
 public:
  // `held_out`: share of the log's time at its end, 0 to 1. Throws InputError if one of the parts
  // is empty or the file is damaged. Requires: `folder` has choices and outlives this object.
  LoggedData(const DecisionLogTrainingFiles& folder, double held_out);

  std::unique_ptr<VectorEnv> worlds(const TrainableAgent& agent,
                                    const VectorEnvOptions& options) const override;

  // The score is the share of held-out recorded actions which the network does not choose.
  ValidationResult validate(const Checkpoint& checkpoint) const override {
    return {1 - agreement_of(checkpoint, held_out_).agreement_share()};
  }
  NamedScore to_reported_score(double score) const override { return {"agreement", 1 - score}; }
  std::string score_description(const std::string&) const override {
    return "share of the log's held-out actions that it reproduces";
  }
  std::string gain_description(const Checkpoint& best, const Checkpoint& untrained) const override;

  // Plays the jobs of the log in the simulator which is fitted to it.
  Envelope envelope(const Checkpoint& checkpoint) const override;

  nlohmann::ordered_json provenance() const override;
  std::string name() const override;
  std::string sha256() const override { return folder_.fit().at("sha256"); }

  const RecordedChoices& held_out() const { return held_out_; }

 private:
  const DecisionLogTrainingFiles& folder_;
  RecordedChoices learned_, held_out_;
};

}  // namespace yard
