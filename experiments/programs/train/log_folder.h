// A decision log as files of a run: what `yardmaster log choices` and `log fit` make of it, in the
// run's folder `log`.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace yard {

class LogFolder {
 public:
  // Makes the files beside the run folder `run`, which is not there yet, until keep() is called; a
  // resumed run has them in it. `task`: of the agent's checkpoints; null: its choices cannot be
  // told. Throws InputError where the log cannot be used, RunError.
  LogFolder(const std::string& log, const std::filesystem::path& run, bool resumes, int draws,
            const nlohmann::ordered_json& task);
  ~LogFolder();  // without keep() nothing is left behind
  LogFolder(const LogFolder&) = delete;
  LogFolder& operator=(const LogFolder&) = delete;

  // Moves the files into the run's folder, which is there now.
  void keep();

  std::filesystem::path choices() const { return path_ / "choices.safetensors"; }
  // The draw's jobs, from 0.
  std::filesystem::path jobs(int draw) const;
  std::filesystem::path cluster() const { return path_ / "cluster.yaml"; }
  const nlohmann::ordered_json& fit() const { return fit_; }       // log.json
  const nlohmann::ordered_json& told() const { return choices_; }  // choices.json; null: none

 private:
  std::filesystem::path path_, kept_;
  bool temporary_ = false;
  nlohmann::ordered_json fit_, choices_;
};

// Of what was chosen in the log, the share that the task's own index chooses. Throws InputError
// where the log cannot be used.
double suggested_share(const std::string& log, const nlohmann::ordered_json& task);

}  // namespace yard
