// One run of a program as a folder: what was asked, on what machine, how it went, and what came
// out.
//   auto run = RunFolder::create("runs/a", record(config), {.command = "train"});
//   run.log("imitation: 3 epochs");
//   run.add_metrics(update, {{"train/return", -1.5}, {"validation/ratio", 0.93}});
//   run.set_state(RunState::kDone);
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

struct TraceSeen {
  std::string source;  // as named by the user, without the folders before it
  std::string sha256;
  std::string used_as;  // "train", "validation", "test"
};

// What run.json says beside versions, machine, times and state.
struct RunInfo {
  std::string command;
  std::string agent = {};  // empty where there is none
  uint64_t seed = 0;
  std::vector<TraceSeen> traces = {};
};

// One process writes a folder at a time. A failing disk is a RunError.
class RunFolder {
 public:
  using Config = std::vector<std::pair<std::string, std::string>>;
  using Metrics = std::vector<std::pair<std::string, double>>;

  // Throws InputError when a run, or anything else, is at `path` already: to be asked before long
  // work begins.
  static void check_free(const std::filesystem::path& path);
  // Where a run keeps what it needs to go on.
  static std::filesystem::path state_of(const std::filesystem::path& path);

  // Makes the folder, in state running. `config` is every setting with its resolved value.
  // Throws InputError when a run, or anything else, is there already.
  static RunFolder create(const std::filesystem::path& path, const Config& config,
                          const RunInfo& info);

  // Keeps a run that create() made from other processes, and leaves it as it is until go_on().
  // Throws InputError when there is none, or another process is writing it.
  static RunFolder open(const std::filesystem::path& path);

  // Its state is running again. Requires: open() gave it.
  void go_on();

  RunFolder(RunFolder&&) noexcept;
  // A run that goes on and is left by an exception is interrupted after a signal, else failed.
  ~RunFolder();

  const std::filesystem::path& path() const;
  std::filesystem::path checkpoints() const { return path() / "checkpoints"; }
  std::filesystem::path evaluations() const { return path() / "evaluations"; }
  std::filesystem::path config_file() const { return path() / "config.yaml"; }
  const RunInfo& info() const;

  // Appends one line, with the time before it, to log.txt.
  void log(std::string_view line);

  // Appends a row to metrics.csv and the finite values to TensorBoard's file. A row may leave
  // columns out and bring new ones. Requires: steps rise.
  void add_metrics(int64_t step, const Metrics& values);

  // Forgets the metrics after `step`: a resumed run makes them anew.
  void drop_metrics_after(int64_t step);

  void add_trace(const TraceSeen& trace);

  // Writes the settings anew where they are others than before, and logs which.
  void change_config(const Config& config);

  // Any state but running sets the time of the end.
  void set_state(RunState state);

 private:
  struct Impl;
  explicit RunFolder(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace yard
