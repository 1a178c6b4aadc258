// Off-policy evaluation: estimates of a policy's mean JCT in the time of a decision log, by a
// simulator fitted to the log and, if the log's policy was stochastic, by importance sampling.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "experiments/train/log_folder.h"
#include "policies/learned/recorded_choices.h"

namespace yard {

struct OffPolicyOptions {
  int draws = 5;
  double cost_scale = 1;
};

// Returns mean JCTs, in seconds, of the jobs submitted while the log was written. `choices`: the
// last part of the recorded actions; null if the agent's task cannot represent actions of a log.
//   log       jobs which ended in the log, as observed
//   value     all jobs, simulated; its interval covers blocks of time, draws of unknown run times
//             and the simulator's error
//   of_ended  the same for the jobs of `log`
//   fit_error if one heuristic decided in the log: ln(its simulated mean / the observed mean)
//   weighted  importance sampling over blocks of jobs submitted in the time of `choices`,
//             with its effective sample size
nlohmann::ordered_json off_policy_estimates(const std::filesystem::path& checkpoint,
                                            const DecisionLogTrainingFiles& log,
                                            const RecordedChoices* choices,
                                            const OffPolicyOptions& options);

// Returns the result of off_policy_estimates() as a few lines of text.
std::string off_policy_text(const nlohmann::ordered_json& found);

}  // namespace yard
