// Additional outputs of `simulate`: jobs, waits, series, timeline, state dumps, metered metrics.
// The output files appear after the last policy has run, or not at all.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/sim/metrics/meter.h"
#include "experiments/replay/dump.h"
#include "experiments/replay/replay.h"
#include "experiments/replay/series.h"
#include "experiments/replay/timeline.h"
#include "experiments/replay/waits.h"

namespace yard::sim {

struct RecordingOptions {
  std::string jobs_out, series_out, timeline, waits_out, dump_out;
  std::string dump_at;  // times in seconds, comma-separated
  std::string metrics = "basic";
  bool for_report = false;  // record jobs, waits, series and all metrics for a report page

  void add_to(CLI::App& app);
  // Throws InputError for contradicting options.
  void check() const;
  bool all_metrics() const { return for_report || metrics == "all"; }
  bool records_waits() const { return all_metrics() || !waits_out.empty() || !timeline.empty(); }
  bool records_series() const { return for_report || !series_out.empty(); }
  bool records_jobs() const { return for_report || !jobs_out.empty(); }
  // The times of --dump-at in ascending order. Throws InputError.
  std::vector<int64_t> dump_times_us() const;
};

class SimulationRecorder {
 public:
  // Requires: the options and the scenario outlive this object.
  SimulationRecorder(const RecordingOptions& options, const Scenario& scenario);

  // Runs a policy and records the outputs. Throws InputError if an output needs a state which the
  // rule set does not expose.
  Run simulate(const PreparedPolicy& prepared, RunOptions run_options);
  // Returns the GPU use of the last run; null if it was not recorded.
  const GpuUsage* metered_gpu_usage() const { return metered_ ? &*metered_ : nullptr; }
  const Waits* waits() const { return waits_ ? &*waits_ : nullptr; }

  // Returns the rows of jobs of all runs so far; empty unless an output needs them.
  const std::string& rows() const { return job_rows_; }
  const std::string& wait_rows() const { return wait_rows_; }
  nlohmann::ordered_json series() const { return series_.json(); }

  // Throws InputError if a time of --dump-at was never reached.
  void check() const;

  // Returns all files, written but not yet committed. Requires: check() passed.
  AtomicFiles& finish();

 private:
  void begin(const PreparedPolicy& prepared);
  void record_state(const SimModel& fixed, const SimState& state);
  void end(const Run& run);
  void replay_to_dump_states(const PreparedPolicy& prepared, RunOptions run_options,
                             const Run& run);
  void require_no_state_outputs(const std::string& rules) const;

  const RecordingOptions& options_;
  const Scenario& scenario_;
  bool state_exposed_ = false;  // whether the current policy's run has exposed a state
  std::string job_rows_, wait_rows_;
  Series series_;
  AtomicFiles files_;
  AtomicFile *timeline_file_ = nullptr, *waits_file_ = nullptr;  // owned by files_
  std::optional<Timeline> timeline_;
  std::optional<Waits> waits_;
  std::optional<UsageMeter> meter_;
  std::optional<GpuUsage> metered_;
  std::optional<StateDumper> moments_;
  nlohmann::ordered_json dumps_ = nlohmann::ordered_json::array();
};

}  // namespace yard::sim
