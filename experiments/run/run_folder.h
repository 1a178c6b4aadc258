// Records one run of a program in a folder: its settings, machine, progress and results.
// Files: config.yaml run.json metrics.csv events.out.tfevents.* log.txt checkpoints/ evaluations/.
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
std::string_view name_of(RunState state);  // "running", "done", "interrupted", "failed"

struct TraceRecord {
  std::string source;  // name of the trace as the user gave it, without leading folders
  std::string sha256;
  std::string used_as;  // "train", "validation", "test"
};

// The part of run.json apart from versions, machine, times and state.
struct RunInfo {
  std::string command;
  std::string agent = {};  // empty: none
  uint64_t seed = 0;
  std::vector<TraceRecord> traces = {};
};

// Only one process may write a folder. Throws RunError if writing fails.
class RunFolder {
 public:
  using Config = std::vector<std::pair<std::string, std::string>>;
  using Metrics = std::vector<std::pair<std::string, double>>;

  // Throws InputError if `path` is occupied. Call it before long work begins.
  static void require_unoccupied_path(const std::filesystem::path& path);
  // Returns where a run keeps the state from which it can resume.
  static std::filesystem::path resume_state_path(const std::filesystem::path& path);

  // Creates the folder in state running. `config` holds every setting with its resolved value.
  // Throws InputError if the folder already holds a run or anything else.
  static RunFolder create(const std::filesystem::path& path, const Config& config,
                          const RunInfo& info);

  // Locks an existing run against other processes. It is not modified until continue_run(). Throws
  // InputError if there is no run or another process writes it.
  static RunFolder open(const std::filesystem::path& path);

  // Sets the state to running again. Requires: this object comes from open().
  void continue_run();

  RunFolder(RunFolder&&) noexcept;
  // If an exception leaves a run in progress: state interrupted after a signal, otherwise failed.
  ~RunFolder();

  const std::filesystem::path& path() const;
  std::filesystem::path checkpoints() const { return path() / "checkpoints"; }
  std::filesystem::path evaluations() const { return path() / "evaluations"; }
  std::filesystem::path config_file() const { return path() / "config.yaml"; }
  const RunInfo& info() const;

  // Appends one line to log.txt, preceded by the time.
  void log(std::string_view line);

  // Appends a row to metrics.csv and its finite values to the TensorBoard file. A row may omit
  // columns and add further ones. Requires: increasing steps.
  void add_metrics(int64_t step, const Metrics& values);

  // Removes the metrics after `step`, which a resumed run computes again.
  void drop_metrics_after(int64_t step);

  void add_trace(const TraceRecord& trace);

  // Rewrites config.yaml if a setting has changed, and logs each change.
  void update_config(const Config& config);

  // Sets the end time, except for state running.
  void set_state(RunState state);

 private:
  struct Impl;
  explicit RunFolder(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
