// A decision log converted to files of a training run by `yardmaster log choices` and `log fit`, in
// the run's subfolder `log`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace yard {

class DecisionLogTrainingFiles {
 public:
  // Writes the files to a temporary folder next to `run`, until keep() moves the files to `run`. If
  // the run `resumes`, `run` already has the files. `task`: task description of the agent; null: no
  // choices file. Throws InputError if the log cannot be used, or RunError.
  DecisionLogTrainingFiles(const std::string& log, const std::filesystem::path& run, bool resumes,
                           int draws, const nlohmann::ordered_json& task);
  ~DecisionLogTrainingFiles();  // removes the files unless keep() was called before
  DecisionLogTrainingFiles(const DecisionLogTrainingFiles&) = delete;
  DecisionLogTrainingFiles& operator=(const DecisionLogTrainingFiles&) = delete;

  // Moves the files into the run's folder. Requires: the run's folder exists.
  void keep();

  std::filesystem::path choices_path() const { return path_ / "choices.safetensors"; }
  // Returns the file of the jobs with the run times of draw number `draw`, counted from 0.
  std::filesystem::path jobs(int draw) const;
  std::filesystem::path cluster() const { return path_ / "cluster.yaml"; }
  const nlohmann::ordered_json& fit() const { return fit_; }  // content of log.json
  // Content of choices.json; null if there is no choices.json.
  const nlohmann::ordered_json& recorded_choices_summary() const { return choices_; }

 private:
  std::filesystem::path path_, run_path_;
  bool temporary_ = false;
  nlohmann::ordered_json fit_, choices_;
};

// Returns the share of a log's recorded actions which the priority index of `task` would choose.
// Throws InputError if the log cannot be used, or RunError.
double expert_agreement_share(const std::string& log, const nlohmann::ordered_json& task);

}  // namespace yard
