// A decision log as files of a training run: the output of `yardmaster log choices` and `log fit`,
// in the run's folder `log`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace yard {

class DecisionLogTrainingFiles {
 public:
  // Writes the files to a temporary folder next to `run`, until keep() moves them there. If the run
  // `resumes`, they are already in it. `task`: of the agent's checkpoints; null: no choices file.
  // Throws InputError if the log cannot be used, or RunError.
  DecisionLogTrainingFiles(const std::string& log, const std::filesystem::path& run, bool resumes,
                           int draws, const nlohmann::ordered_json& task);
  ~DecisionLogTrainingFiles();  // removes the files unless keep() was called
  DecisionLogTrainingFiles(const DecisionLogTrainingFiles&) = delete;
  DecisionLogTrainingFiles& operator=(const DecisionLogTrainingFiles&) = delete;

  // Moves the files into the run's folder. Requires: the folder exists.
  void keep();

  std::filesystem::path choices() const { return path_ / "choices.safetensors"; }
  // The jobs with run times of a draw, from 0.
  std::filesystem::path jobs(int draw) const;
  std::filesystem::path cluster() const { return path_ / "cluster.yaml"; }
  const nlohmann::ordered_json& fit() const { return fit_; }  // log.json
  // choices.json; null: there is none
  const nlohmann::ordered_json& choices_summary() const { return choices_; }

 private:
  std::filesystem::path path_, run_path_;
  bool temporary_ = false;
  nlohmann::ordered_json fit_, choices_;
};

// Returns the share of the log's recorded actions which the task's own index would choose. Throws
// InputError if the log cannot be used, or RunError.
double expert_agreement_share(const std::string& log, const nlohmann::ordered_json& task);

}  // namespace yard
