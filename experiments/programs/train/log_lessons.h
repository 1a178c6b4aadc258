// The choices of a decision log as lessons: the first part of its time is learned from, the rest is
// held out to judge by.
#pragma once

#include "experiments/programs/train/agreement.h"
#include "experiments/programs/train/lessons.h"
#include "experiments/programs/train/log_folder.h"

namespace yard {

class LogLessons final : public Lessons {
 public:
  // `held_out`: share of the log's time, its end. Throws InputError where one of the parts is empty
  // or the file is damaged. Requires: `folder` has choices and outlives this.
  LogLessons(const LogFolder& folder, double held_out);

  std::unique_ptr<Worlds> worlds(const Agent& agent, const WorldsOptions& options) const override;

  // Returns the share of what was chosen in the held-out part that the network does not choose.
  Judgement judge(const Checkpoint& checkpoint) const override {
    return {1 - agreement_of(checkpoint, held_out_).recovered()};
  }
  Told told(double score) const override { return {"agreement", 1 - score}; }
  std::string measure(const std::string&) const override {
    return "share of what was chosen in the log's held-out part that it chooses, too";
  }
  std::string compared(const Checkpoint& best, const Checkpoint& untrained) const override;

  nlohmann::ordered_json provenance() const override;
  std::string name() const override;
  std::string sha256() const override { return folder_.fit().at("sha256"); }

  const RecordedChoices& held_out() const { return held_out_; }

 private:
  const LogFolder& folder_;
  RecordedChoices learned_, held_out_;
};

}  // namespace yard
