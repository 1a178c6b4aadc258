// What a run plays: a trace, the window of it that counts, a cluster, and their tables.
//
//   Scenario scenario = load_scenario({.trace = "cluster02.csv.gz", .cluster = "16x8"});
//   Scenario replica = replica_of(scenario, Rng(seed).split(0));
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/base/rng.h"
#include "env/base/settings.h"
#include "env/cluster/spec.h"
#include "env/sim/faults.h"
#include "env/sim/pacing.h"
#include "env/sim/workload.h"
#include "env/trace/measured.h"
#include "env/trace/reader.h"
#include "env/trace/stages.h"
#include "env/trace/window.h"
#include "experiments/model_draw.h"
#include "experiments/speeds.h"
#include "experiments/variation.h"

namespace yard {

struct ScenarioOptions {
  std::string trace;
  std::string format;  // empty: recognised
  std::string cluster;
  WindowOptions window;  // `after` is set by load_source()
  std::optional<double> congestion;
  double cost_scale = 1;
  bool skip_unusable = false;
  bool gpus_needed = false;  // a job without GPUs is unusable: published rule sets know none
  uint64_t seed = 1;         // of a generator
  int generate_jobs = 0;     // how many a generator makes; 0: its own number
  Settings trace_settings;   // of a generator or a reader
  std::string profiles;      // files or folders of measured speeds, joined by commas
  std::string faults;        // file of what befalls GPUs
  Settings fault_model;      // and how often something does, on the average
  Settings checkpoints;      // what saves and restores cost by the size of a model
  Measurements measured;     // for run times that a trace lacks
  Settings models;           // ModelDraw
  Settings demands;          // DemandDraw
  Variation variation;       // of the cluster and the load
};

// What befalls GPUs: what a file says, and what is drawn anew for every replica.
struct FaultPlan {
  std::vector<Fault> recorded;  // on the trace's clock
  FaultModel model;
  uint64_t seed = 1;
};

// A trace that fits a cluster, before a window is cut out.
struct Source {
  Trace trace;
  ClusterSpec cluster;
  FaultPlan faults;
  std::shared_ptr<Speeds> speeds;  // null: nothing is known of models; shared by replicas
  Variation variation;             // what of it the cluster is not yet
};

// A generator's arrivals are scaled to the cluster.
// Throws InputError, also about the first job larger than the cluster.
Source load_source(const ScenarioOptions& options);

// Movable, not copyable: `fixed` points into the tables.
struct Scenario {
  // `speeds`: how fast jobs run, by their models; null: nothing is known of them.
  Scenario(Trace trace, const Window& window, ClusterSpec cluster, double cost_scale,
           std::shared_ptr<Speeds> speeds = nullptr);
  Scenario(Scenario&&) = default;
  Scenario(const Scenario&) = delete;

  // Holds whoever plays to what the cluster allows.
  void allow(const Allows& allows) { fixed.allows = allows; }

  // Lets GPUs go down as `plan` says; what it draws lies between the first arrival and
  // `drawn_until_us`. Without an `rng` it is drawn from the plan's own seed.
  void befall(const FaultPlan& plan, const Rng& rng);
  void befall(const FaultPlan& plan);
  // What befalls GPUs, in_course(), where failures are drawn until then: the same as before as far
  // as that went.
  std::vector<Fault> faults_until(int64_t until_us) const {
    return in_course(all_faults(until_us));
  }

  // The jobs as worlds play them: where some have stages, each of these is one.
  const Trace& played() const { return apart ? *apart : trace; }
  // The job of `trace` that job `j` of worlds is, or is a stage of.
  int32_t job_of(int32_t j) const { return apart ? apart_of[static_cast<size_t>(j)] : j; }
  // Puts what became of stages together to what became of jobs: begun with the first stage, ended
  // with the last.
  Outcome of_jobs(Outcome outcome) const;
  // The same for run times alone: each stage begins when those before it have ended.
  std::vector<int64_t> of_jobs(std::vector<int64_t> stage_us) const;

  std::vector<Fault> all_faults(int64_t until_us) const;  // in any order

  Trace trace;
  Window window;
  ClusterSpec cluster;
  double cost_scale = 1;
  double factor = 1;        // by which distances between arrivals were multiplied
  double congestion = 0;    // as measured; 0 where nobody asked
  double load = 0;          // offered_load()
  bool opens_test = false;  // the window reaches into the last fifth of a recorded trace
  std::shared_ptr<Speeds> speeds;
  std::vector<int32_t> apart_of;  // (E) of `apart`
  std::optional<Trace> apart;     // the jobs taken apart, where any has several stages
  SpecTable spec;
  Workload workload;
  Fixed fixed;
  std::vector<int64_t> alone_us;  // (N) of `trace`: run_alone()
  FaultPlan faults;
  Rng fault_rng{0};
  // A replay that goes on for longer needs more of them; kNever: there are none to draw, or the
  // plan says for how long.
  int64_t drawn_until_us = kNever;
};

struct Calibration {
  double factor = 1;      // by which distances between arrivals are multiplied, in all
  double congestion = 0;  // what that gives
};

// Cuts out the window and scales arrivals to the congestion, where one is given, and from there to
// the load of source.variation: as `known` says, or as calibrate() finds. What follows the window
// are the trace's next jobs; but where it ends before the last fifth of a recorded trace, which is
// for the final test alone, its own jobs come again instead.
Scenario make_scenario(Source source, WindowOptions window, std::optional<double> congestion,
                       double cost_scale, const std::optional<Calibration>& known = {});

Scenario load_scenario(const ScenarioOptions& options);

// The same jobs with arrivals moved by up to 10 minutes and the load by up to 4 %.
Scenario replica_of(const Scenario& scenario, const Rng& rng);

// `count` of them, the same for the same seed; a single one is the scenario as it is.
std::vector<Scenario> replicas_of(const Scenario& scenario, int count, uint64_t seed);

}  // namespace yard
