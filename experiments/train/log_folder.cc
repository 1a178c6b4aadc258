#include "experiments/train/log_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/json_flaw.h"
#include "experiments/train/child_process.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json read_json(const fs::path& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(path.string(), "a file written by `yardmaster log`", json_error_text(error));
  }
}

// Writes `folder`/task.json and the recorded choices of the log. Returns their summary as JSON.
std::string record_choices(const std::string& log, const Json& task, const fs::path& folder,
                           const fs::path& choices) {
  write_file_atomic(folder / "task.json", task.dump(2) + "\n");
  return run_sibling_program("yardmaster-serve",
                             {"log", "choices", log, "--task", (folder / "task.json").string(),
                              "--out", choices.string(), "--json"});
}

// Path of the temporary folder: next to the run, hidden, with the process id in its name.
fs::path temporary_path(const fs::path& run) {
  fs::path whole = fs::absolute(run).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.parent_path() / fmt::format(".{}.log-{}", whole.filename().string(), getpid());
}

}  // namespace

DecisionLogTrainingFiles::DecisionLogTrainingFiles(const std::string& log, const fs::path& run,
                                                   bool resumes, int draws, const Json& task)
    : run_path_(run / "log") {
  path_ = resumes ? run_path_ : temporary_path(run);
  temporary_ = !resumes;
  if (!resumes || !fs::exists(path_ / "log.json")) {
    try {
      run_sibling_program("yardmaster-serve", {"log", "fit", log, "--out", path_.string(),
                                               "--draws", std::to_string(draws)});
      if (!task.is_null()) {
        write_file_atomic(path_ / "choices.json", record_choices(log, task, path_, choices_path()));
      }
    } catch (...) {
      std::error_code ignored;
      if (temporary_) fs::remove_all(path_, ignored);
      throw;
    }
  }
  fit_ = read_json(path_ / "log.json");
  if (fs::exists(path_ / "choices.json")) choices_ = read_json(path_ / "choices.json");
}

DecisionLogTrainingFiles::~DecisionLogTrainingFiles() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

void DecisionLogTrainingFiles::keep() {
  if (!temporary_) return;
  fs::rename(path_, run_path_);
  path_ = run_path_;
  temporary_ = false;
}

fs::path DecisionLogTrainingFiles::jobs(int draw) const {
  return path_ / (draw == 0 ? "jobs.csv" : fmt::format("jobs-{}.csv", draw + 1));
}

double expert_agreement_share(const std::string& log, const Json& task) {
  const TemporaryFolder folder;
  const Json summary =
      Json::parse(record_choices(log, task, folder.path(), folder.path() / "choices.safetensors"));
  double all = 0;
  for (const char* key : {"steps", "not_shown", "not_legal", "illegal_noop"}) {
    all += summary.at(key).get<double>();
  }
  return summary.at("expert_action").get<double>() / all;
}

}  // namespace yard
