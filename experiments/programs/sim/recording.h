// What `simulate` writes beside its results while a policy plays: it looks on after every decision,
// and only where somebody asked. Files appear when all policies have played, or not at all.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/base/file.h"
#include "env/sim/meter.h"
#include "experiments/dump.h"
#include "experiments/replay.h"
#include "experiments/series.h"
#include "experiments/timeline.h"
#include "experiments/waits.h"

namespace yard::sim {

struct RecordingOptions {
  std::string jobs_out, series_out, timeline, waits_out, dump_out;
  std::string dump_at;  // times in seconds, joined by commas
  std::string metrics = "basic";
  bool for_pictures = false;  // jobs, waits, series and all metrics are kept, written or not

  void add_to(CLI::App& app);
  // Throws InputError about what contradicts itself.
  void check() const;
  bool all_metrics() const { return for_pictures || metrics == "all"; }
  bool wants_waits() const { return all_metrics() || !waits_out.empty() || !timeline.empty(); }
  bool wants_series() const { return for_pictures || !series_out.empty(); }
  bool wants_jobs() const { return for_pictures || !jobs_out.empty(); }
  // The times of --dump-at, rising.
  std::vector<int64_t> moments_us() const;
};

class Recording {
 public:
  // Requires: both outlive this.
  Recording(const RecordingOptions& options, const Scenario& scenario);

  // Plays a contestant and writes down what was asked for. Throws InputError where the rules show
  // no state and one is needed.
  Run play(const Contestant& contestant, RunOptions how);
  // Of the last run; null where nothing was metered.
  const Metered* metered() const { return metered_ ? &*metered_ : nullptr; }
  const Waits* waits() const { return waits_ ? &*waits_ : nullptr; }

  // Of all runs so far, where pictures want them.
  const std::string& rows() const { return rows_; }
  const std::string& wait_rows() const { return wait_rows_; }
  nlohmann::ordered_json series() const { return series_.json(); }

  // Throws InputError where a moment that was asked for never came.
  void check() const;

  // All files, written and not yet in their places. Requires: check().
  AtomicFiles& finish();

 private:
  void begin(const Contestant& contestant);
  void watch(const Fixed& fixed, const ClusterState& state);
  void end(const Run& run);
  void dump(const Contestant& contestant, RunOptions how, const Run& run);
  void need_state(const std::string& rules) const;

  const RecordingOptions& options_;
  const Scenario& scenario_;
  bool shown_ = false;  // a state, by the present policy
  std::string rows_, wait_rows_;
  Series series_;
  AtomicFiles files_;
  AtomicFile *timeline_file_ = nullptr, *waits_file_ = nullptr;  // of them
  std::optional<Timeline> timeline_;
  std::optional<Waits> waits_;
  std::optional<Meter> meter_;
  std::optional<Metered> metered_;
  std::optional<Moments> moments_;
  nlohmann::ordered_json dumps_ = nlohmann::ordered_json::array();
};

}  // namespace yard::sim
