// Records one run of a program in a folder: settings, machine, progress and results. Files:
// config.yaml run.json metrics.csv events.out.tfevents.* log.txt checkpoints/ evaluations/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace yard {

enum class RunState { kRunning, kDone, kInterrupted, kFailed };
std::string_view name_of(RunState state);  // such as "running" or "done"

struct UsedTrace {
  std::string source;  // trace as the user named it, without folders
  std::string sha256;
  std::string used_as;  // "train", "validation", "test"
};

// The content of run.json except for versions, machine, times and state.
struct RunInfo {
  std::string command;
  std::string agent = {};  // empty: no agent
  uint64_t seed = 0;
  std::vector<UsedTrace> traces = {};
};

// A run folder, which only one process may write. Functions throw RunError if writing fails.
class RunFolder {
 public:
  using Config = std::vector<std::pair<std::string, std::string>>;
  using Metrics = std::vector<std::pair<std::string, double>>;

  // Throws InputError if `path` is occupied. Call this check before long work begins.
  static void require_unoccupied_path(const std::filesystem::path& path);
  // Returns the path under a run folder of the state from which the run can resume.
  static std::filesystem::path resume_state_path(const std::filesystem::path& path);

  // Creates the folder of a running run. `config`: every setting with its resolved value. Throws
  // InputError if the folder already has any content.
  static RunFolder create(const std::filesystem::path& path, const Config& config,
                          const RunInfo& info);

  // Locks an existing run folder, which is not modified until mark_resumed(). Throws InputError if
  // `path` is no run folder or another process writes the folder.
  static RunFolder open(const std::filesystem::path& path);

  // Sets the run's state to running again. Requires: this object was returned by open().
  void mark_resumed();

  RunFolder(RunFolder&&) noexcept;
  // Sets the state of an unfinished run to interrupted if a signal came, and to failed otherwise.
  ~RunFolder();

  const std::filesystem::path& path() const;
  std::filesystem::path checkpoints() const { return path() / "checkpoints"; }
  std::filesystem::path evaluations() const { return path() / "evaluations"; }
  std::filesystem::path config_file() const { return path() / "config.yaml"; }
  const RunInfo& info() const;

  // Appends one line to log.txt, with the time in front.
  void log(std::string_view line);

  // Appends a row to metrics.csv, and the row's finite values to the TensorBoard file. A row may
  // omit columns and add new columns. Requires: increasing steps.
  void add_metrics(int64_t step, const Metrics& values);

  // Removes the metrics of steps after `step`, which a resumed run computes again.
  void drop_metrics_after(int64_t step);

  void add_trace(const UsedTrace& trace);

  // Rewrites config.yaml if a setting has changed, and logs each changed setting.
  void update_config(const Config& config);

  // Sets the run's state, and the end time if the state is not running.
  void set_state(RunState state);

 private:
  struct Impl;
  explicit RunFolder(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
