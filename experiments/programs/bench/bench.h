// What the benchmarks share: a figure is a line of JSON, set beside something measured in the same
// run, so that a noisy machine spoils no ratio.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace yard::bench {

using Json = nlohmann::ordered_json;

double seconds(const std::function<void()>& work);
// The best of several runs: what the machine can do when nobody disturbs it.
double best_seconds(int runs, const std::function<void()>& work);

// Ends with a slash.
std::string folder_of_this_program();

// Adds the results of a program beside this one; a build without it is said so.
void bench_child(Json& results, const std::string& program, const std::string& command);

// Each adds its figures to `results`.
void bench_replay(Json& results);     // published rules and traces, beside the slow reference
void bench_scale(Json& results);      // a hundred thousand jobs on ten thousand GPUs
void bench_million(Json& results);    // a million on a hundred thousand
void bench_growth(Json& results);     // time per event as jobs and GPUs grow
void bench_select(Json& results);     // decisions of the plainest task
void bench_dispatch(Json& results);   // decisions of the dispatcher's task
void bench_joint(Json& results);      // how long the flagship thinks
void bench_memory(Json& results);     // bytes of states and worlds
void bench_inference(Json& results);  // a trained network

}  // namespace yard::bench
