// What a policy would have made of the days of a decision log: its value in the simulator that was
// fitted to it, and, where the log's policy drew, by importance sampling.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/programs/train/log_folder.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

struct OffPolicyOptions {
  int draws = 5;
  double cost_scale = 1;
};

// Values are mean JCTs of the jobs submitted while the log was written. `choices`: what the log's
// policy chose from some moment to the end, where the agent's task can say it; else null.
//   log       those that ended in it, as they went
//   value     all of them, simulated; the interval holds blocks of time, the draws of run times
//   that
//             the log does not tell, and how far the simulator is off the log
//   of_ended  the same for those of `log`
//   fit_error where one heuristic decided in the log: the logarithm of its simulated mean over the
//             observed one
//   weighted  importance sampling over blocks of the jobs from that moment on, with its effective
//             sample size
nlohmann::ordered_json off_policy(const std::filesystem::path& checkpoint, const LogFolder& log,
                                  const RecordedChoices* choices, const OffPolicyOptions& options);

// The same in a few lines.
std::string off_policy_text(const nlohmann::ordered_json& found);

}  // namespace yard
