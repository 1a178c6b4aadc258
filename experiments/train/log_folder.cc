#include "experiments/train/log_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

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
    throw InputError(path.string(), "a file written by `yardmaster log`", json_flaw(error));
  }
}

// Path of the temporary folder: next to the run, hidden, with the process id in its name.
fs::path temporary_path(const fs::path& run) {
  const fs::path whole = fs::absolute(run).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  const fs::path parent =
      whole.has_filename() ? whole.parent_path() : whole.parent_path().parent_path();
  return parent / fmt::format(".{}.log-{}", name.string(), getpid());
}

}  // namespace

LogFolder::LogFolder(const std::string& log, const fs::path& run, bool resumes, int draws,
                     const Json& task)
    : run_path_(run / "log") {
  path_ = resumes ? run_path_ : temporary_path(run);
  temporary_ = !resumes;
  if (!resumes || !fs::exists(path_ / "log.json")) {
    try {
      run_sibling_program("yardmaster-serve", {"log", "fit", log, "--out", path_.string(),
                                               "--draws", std::to_string(draws)});
      if (!task.is_null()) {
        write_file_atomic(path_ / "task.json", task.dump(2) + "\n");
        const std::string choices_summary = run_sibling_program(
            "yardmaster-serve", {"log", "choices", log, "--task", (path_ / "task.json").string(),
                                 "--out", choices().string(), "--json"});
        write_file_atomic(path_ / "choices.json", choices_summary);
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

LogFolder::~LogFolder() {
  std::error_code ignored;
  if (temporary_) fs::remove_all(path_, ignored);
}

void LogFolder::keep() {
  if (!temporary_) return;
  fs::rename(path_, run_path_);
  path_ = run_path_;
  temporary_ = false;
}

fs::path LogFolder::jobs(int draw) const {
  return path_ / (draw == 0 ? "jobs.csv" : fmt::format("jobs-{}.csv", draw + 1));
}

double expert_share(const std::string& log, const Json& task) {
  std::string name = (fs::temp_directory_path() / "yardmaster-log-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw RunError(name + ": " + std::strerror(errno));
  const fs::path folder = name;
  std::error_code ignored;
  try {
    write_file_atomic(folder / "task.json", task.dump() + "\n");
    const Json choices_summary = Json::parse(run_sibling_program(
        "yardmaster-serve", {"log", "choices", log, "--task", (folder / "task.json").string(),
                             "--out", (folder / "choices.safetensors").string(), "--json"}));
    fs::remove_all(folder, ignored);
    double all = 0;
    for (const char* key : {"steps", "not_shown", "not_legal", "illegal_noop"}) {
      all += choices_summary.at(key).get<double>();
    }
    return choices_summary.at("expert_action").get<double>() / all;
  } catch (...) {
    fs::remove_all(folder, ignored);
    throw;
  }
}

}  // namespace yard
