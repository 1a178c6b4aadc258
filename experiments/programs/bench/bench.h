// Shared by the benchmarks. A result is a JSON object, with its ratio to a reference measured in
// the same run, so that ratios are robust on noisy machines.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "experiments/scenario/scenario.h"

namespace yard::bench {

using Json = nlohmann::ordered_json;

// Wall-clock seconds of `work`.
double seconds(const std::function<void()>& work);
// The least of `runs` measurements, which other processes disturb least.
double best_seconds(int runs, const std::function<void()>& work);

// The folder of this executable, ending with a slash.
std::string folder_of_this_program();

// Runs a program of the same folder and adds its results. If it is not in this build, prints a note
// and skips it. Throws RunError if it fails.
void run_bench_program(Json& results, const std::string& program, const std::string& command);

// Adds a result. `ratio`: `value` relative to `against`. Returns the result, to which the caller
// can add further keys.
Json& add_result(Json& results, const std::string& name, double value, const char* unit,
                 double ratio, const std::string& against, const char* better = "lower");

// Generates jobs by `synthetic:habits`. `settings`: of the generator, as "load=2".
Scenario generated_habit_scenario(const std::string& cluster, int jobs,
                                  const std::vector<std::string>& settings = {});

// Each of these benchmarks adds its figures to `results`.
void bench_replay(
    Json& results);  // replays of 10,000 jobs, and runs of the slow reference simulator
void bench_100k_jobs(Json& results);               // 100,000 jobs on 10,000 GPUs
void bench_million_jobs(Json& results);            // 1,000,000 jobs on 100,000 GPUs
void bench_time_per_event_growth(Json& results);   // time per event as jobs and GPUs grow
void bench_select_environment(Json& results);      // decisions per second of the task `select`
void bench_dispatcher_environment(Json& results);  // decisions per second of the dispatcher's task
void bench_pilot_decision_time(Json& results);     // decision time of the policy pilot
void bench_memory(Json& results);                  // bytes of states and environments
void bench_inference(Json& results);               // native forward pass of a network

}  // namespace yard::bench
