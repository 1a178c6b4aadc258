// Builds what a run replays: a trace, its scored window, a cluster, and their tables.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "env/sim/rules/faults.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/workload.h"
#include "env/trace/core/stages.h"
#include "env/trace/core/window.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/profiles/fill_run_times.h"
#include "experiments/scenario/speeds.h"

namespace yard {

// How a cell differs from a trace on its cluster: which actions the cluster allows a scheduler, and
// its size and load. It applies to every policy in the cell.
struct ScenarioOverrides {
  AllowedActions allows;
  double cluster = 1;  // factor on the number of nodes
  double load = 1;     // factor on the arrival rate, after any congestion

  bool any() const { return *this != ScenarioOverrides{}; }
  friend bool operator==(const ScenarioOverrides&, const ScenarioOverrides&) = default;
};

constexpr double kMaxScale =
    1000;  // largest factor on clusters and loads; the least factor is its inverse

// Parses the allowed actions: `start`, `preempt`, `move`. Throws InputError, naming `where`, for
// other words, without `start`, or for `move` without `preempt`.
AllowedActions parse_allowed_actions(const std::vector<std::string>& words,
                                     const std::string& where);
std::vector<std::string> allowed_action_words(const AllowedActions& allows);

// Returns "start+preempt, cluster x 0.5"; empty for the default.
std::string text_of(const ScenarioOverrides& variation);

// Whether to draw a model for each job of a trace without models. Jobs with several GPUs draw among
// the models measured on several GPUs, other jobs among those measured on one.
struct JobModelDrawConfig {
  bool draw = false;
  uint64_t seed = 1;
  void fields(FieldList& f) {
    f("draw", draw, "draw a model of --profiles at random for each job without a model");
    f("seed", seed, uint64_t{0}, uint64_t{1} << 53,
      "random seed of these draws, which differ between replicas");
  }
};

struct ScenarioOptions {
  std::string trace;
  std::string format;  // empty: detected
  std::string cluster;
  WindowOptions window;  // make_scenario() may replace `after` = kTrace by kRepeat
  std::optional<double> congestion;
  double cost_scale = 1;
  bool skip_unusable = false;
  bool gpus_needed = false;     // whether jobs without GPUs are unusable, as under published rules
  uint64_t seed = 1;            // of a generator
  int generate_jobs = 0;        // number of jobs to generate; 0: the generator's own
  Settings trace_settings;      // settings of a generator or a reader
  std::string profiles;         // files or folders of profiles, joined by commas
  std::string faults;           // file of recorded faults
  Settings fault_model;         // FaultModel: mean rates of drawn faults
  Settings checkpoints;         // CheckpointCostModel: save and restore cost by model size
  RunTimeFiles measured;        // files that give run times which the trace lacks
  Settings models;              // settings of JobModelDrawConfig
  Settings demands;             // settings of JobAttributeDrawConfig
  ScenarioOverrides variation;  // variation of the cluster and the load
};

// Faults: recorded ones from a file, and a model from which each replica draws its own.
struct FaultPlan {
  std::vector<Fault> recorded;  // recorded faults, on the trace's clock
  FaultModel model;
  uint64_t seed = 1;
};

// A trace checked against its cluster, before a window is selected.
struct TraceOnCluster {
  Trace trace;
  ClusterSpec cluster;
  FaultPlan faults;
  std::shared_ptr<Speeds> speeds;  // null: no model has known speeds; shared by replicas
  ScenarioOverrides variation;     // variation, of which the cluster size is already applied
};

// Loads trace and cluster. A generator's arrivals are scaled to the cluster. Throws InputError,
// also for the first job larger than the cluster.
TraceOnCluster load_trace_on_cluster(const ScenarioOptions& options);

// Movable, not copyable: `fixed` points into the tables.
struct Scenario {
  // `speeds`: speeds of jobs by model; null: unknown.
  Scenario(Trace trace, const Window& window, ClusterSpec cluster, double cost_scale,
           std::shared_ptr<Speeds> speeds = nullptr);
  Scenario(Scenario&&) = default;
  Scenario(const Scenario&) = delete;

  // Restricts every policy to what the cluster allows.
  void allow(const AllowedActions& allows) { fixed.allows = allows; }

  // Sets the faults: the plan's recorded ones, and draws from its model between the first arrival
  // and `drawn_until_us`. Without `rng` the plan's own seed is used.
  void inject_faults(const FaultPlan& plan, const Rng& rng);
  void inject_faults(const FaultPlan& plan);
  // Returns the recorded faults and those drawn up to `until_us`, with the ends that
  // add_fault_ends() adds. A later `until_us` does not change the earlier draws.
  std::vector<Fault> faults_and_repairs_until(int64_t until_us) const {
    return add_fault_ends(unsorted_faults_until(until_us));
  }

  // The jobs as the simulator sees them: jobs with several stages are split into one job per stage.
  const Trace& simulated_trace() const { return stage_jobs ? *stage_jobs : trace; }
  // Returns the index in `trace` of the job to which simulated_trace() job `j` belongs.
  int32_t original_job_of(int32_t j) const {
    return stage_jobs ? job_of_stage[static_cast<size_t>(j)] : j;
  }
  // Merges the outcomes of stages into those of jobs, from the first start to the last end.
  Outcome merge_stages(Outcome outcome) const;
  // Merges run times of stages: each stage begins when the stages before it have ended.
  std::vector<int64_t> merge_stages(std::vector<int64_t> stage_us) const;

  std::vector<Fault> unsorted_faults_until(int64_t until_us) const;  // unsorted

  Trace trace;
  Window window;
  ClusterSpec cluster;
  double cost_scale = 1;
  double factor = 1;        // factor by which distances between arrivals were multiplied
  double congestion = 0;    // measured congestion; 0 if it was not measured
  double load = 0;          // offered_load()
  bool opens_test = false;  // whether the window reaches into a recorded trace's last fifth
  std::shared_ptr<Speeds> speeds;
  std::vector<int32_t> job_of_stage;  // (E)  index in `trace` of each job in `stage_jobs`
  std::optional<Trace> stage_jobs;    // the jobs split into stages, if any has several
  SpecTable spec;
  Workload workload;
  SimModel fixed;
  std::vector<int64_t> isolated_us;  // (N)  isolated_run_us() of `trace`
  FaultPlan faults;
  Rng fault_rng{0};
  // Time up to which faults are drawn; a longer replay needs further draws. kNever: the plan has no
  // fault model, or limits the time of its faults.
  int64_t drawn_until_us = kNever;
};

// Returns a copy whose arrivals differ by up to 10 minutes, and whose load differs by up to 4 %.
Scenario perturbed_replica_of(const Scenario& scenario, const Rng& rng);

// Returns `count` replicas, determined by `seed`. A single replica is the scenario itself.
std::vector<Scenario> replicas_of(const Scenario& scenario, int count, uint64_t seed);

}  // namespace yard
