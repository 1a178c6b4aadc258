// Timelines and dumps: trace events are valid, a lane has one job at a time, all of the work is
// there. Dumps are checked against states worked out by hand.
#include "experiments/replay/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "env/base/core/error.h"
#include "env/sim/metrics/meter.h"
#include "experiments/replay/dump.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"
#include "tests/experiments/scenarios.h"
#include "tests/support/random_world.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Played {
  Json events;
  yard::Run run;
  double saving_gpu_s = 0;
};

Played played(const Scenario& scenario, const std::string& policy) {
  std::string text;
  Timeline timeline(scenario, [&](std::string_view piece) { text += piece; });
  timeline.begin(policy);
  Waits waits(scenario, PlacementRule::kBestFit,
              [&](const Wait& wait) { timeline.add_wait(wait); });
  UsageMeter meter(scenario.cluster, scenario.trace);
  RunOptions how;
  how.watch = [&](const SimModel& fixed, const SimState& state) {
    timeline.record_state(fixed, state);
    waits.record_state(fixed, state);
    meter.record_state(fixed, state);
  };
  Played out;
  out.run = run_policy(scenario, policy, how);
  waits.end(out.run.outcome.end_us);
  timeline.end(out.run.outcome.end_us);
  timeline.finish();
  out.events = Json::parse(text)["traceEvents"];
  out.saving_gpu_s = meter.end(out.run.outcome.end_us)->time.saving;
  return out;
}

// Checks every event against the Trace Event Format.
void expect_valid(const Json& events) {
  std::map<std::pair<int64_t, std::string>, int64_t> open;  // async spans, by process and id
  for (const Json& e : events) {
    const std::string ph = e.at("ph");
    ASSERT_TRUE(e.at("pid").is_number_integer());
    ASSERT_TRUE(e.at("name").is_string());
    if (ph == "M") {
      ASSERT_TRUE(e.at("args").is_object());
      continue;
    }
    ASSERT_GE(e.at("ts").get<int64_t>(), 0);
    if (ph == "X") {
      ASSERT_GT(e.at("dur").get<int64_t>(), 0);
      ASSERT_TRUE(e.at("tid").is_number_integer());
    } else if (ph == "C") {
      ASSERT_TRUE(e.at("args").is_object());
    } else {
      ASSERT_TRUE(ph == "b" || ph == "e") << ph;
      const std::pair key{e.at("pid").get<int64_t>(),
                          e.at("cat").get<std::string>() + e.at("id").dump()};
      open[key] += ph == "b" ? 1 : -1;
      ASSERT_GE(open[key], 0);
      ASSERT_LE(open[key], 1);
    }
  }
  for (const auto& [key, count] : open) EXPECT_EQ(count, 0);
}

TEST(Timeline, LanesHoldOneJobAtATimeAndAllWork) {
  ScenarioOptions options;
  options.trace = "synthetic:habits";
  options.cluster = "4x8";
  options.generate_jobs = 60;
  const Scenario scenario = load_scenario(options);
  const Played it = played(scenario, "las");
  expect_valid(it.events);
  std::map<int64_t, int64_t> free_from;
  std::map<std::string, int64_t> sum_us;
  int64_t lanes = 0, processes = 0;
  for (const Json& event : it.events) {
    lanes += event["name"] == "thread_name";
    processes += event["name"] == "process_name";
    if (event["ph"] != "X") continue;
    int64_t& from_us = free_from[event["tid"]];
    EXPECT_GE(event["ts"].get<int64_t>(), from_us);
    from_us = event["ts"].get<int64_t>() + event["dur"].get<int64_t>();
    sum_us[event["cat"]] += event["dur"].get<int64_t>();
    // A GPU's lane belongs to the process of its node.
    EXPECT_EQ(event["pid"].get<int64_t>(), 1 + event["tid"].get<int64_t>() / 8);
  }
  EXPECT_EQ(lanes, scenario.cluster.total_gpus());
  EXPECT_EQ(processes, 1 + 4);
  EXPECT_EQ(sum_us["run"] + sum_us["start"], it.run.outcome.held_time_us);
  EXPECT_GT(sum_us["start"], 0);
  EXPECT_NEAR(static_cast<double>(sum_us["save"]) / 1e6, it.saving_gpu_s, 1e-3);
}

TEST(Timeline, HandlesSharesAndFaults) {
  int64_t shared_lane_events = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const RandomWorld made = random_world(Rng(seed));
    const Scenario scenario = scenario_of(made);
    const Played it = played(scenario, "greedy");
    expect_valid(it.events);
    std::map<int64_t, int64_t> free_from;
    for (const Json& event : it.events) {
      if (event["ph"] != "X") continue;
      int64_t& from_us = free_from[event["tid"]];
      EXPECT_GE(event["ts"].get<int64_t>(), from_us) << "seed " << seed << event;
      from_us = event["ts"].get<int64_t>() + event["dur"].get<int64_t>();
      shared_lane_events += event["tid"].get<int64_t>() >= scenario.cluster.total_gpus();
    }
  }
  EXPECT_GT(shared_lane_events, 0) << "some jobs share a GPU";
}

TEST(Timeline, ShowsWaitsWithTheirReasons) {
  const Scenario scenario = scenario_of(jobs_of({{0, 4, 100}, {10, 2, 50}}), load_cluster("1x4"));
  const Played it = played(scenario, "fifo");
  Json waits = Json::array();
  for (const Json& event : it.events) {
    if (event.value("cat", "") == "wait") waits.push_back(event);
  }
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0]["name"], "too-few-gpus");
  EXPECT_EQ(waits[0]["ts"], 10 * kSecond);
  EXPECT_EQ(waits[0]["args"]["job"], "b");
  EXPECT_EQ(waits[0]["args"]["detail"], "needs 2 GPUs; 0 free");
  EXPECT_EQ(waits[1]["ts"], 100 * kSecond);
}

// Returns the dumped states at these times.
Json dumps(const Scenario& scenario, const std::string& policy, const std::vector<int64_t>& at_us) {
  StateDumper moments(at_us);
  moments.begin();
  RunOptions how;
  how.watch = [&](const SimModel&, const SimState& state) { moments.count_decision(state); };
  const yard::Run run = run_policy(scenario, policy, how);
  moments.end(run.outcome.end_us);
  moments.check("--dump-at");
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  how.watch = [&](const SimModel& fixed, const SimState& state) {
    moments.dump_if_due(scenario, fixed, state, PlacementRule::kBestFit, out);
  };
  run_policy(scenario, policy, how);
  return Json::parse(out.dump());
}

TEST(Dump, DescribesTheWholeState) {
  std::vector<Job> jobs = jobs_of({{0, 3, 1000}, {10, 2, 100}, {20, 4, 50}});
  const Scenario scenario = scenario_of(jobs, load_cluster("1x4:v100+1x2:v100"));
  const Json states = dumps(scenario, "fifo", {15 * kSecond, 110 * kSecond + 500'000});
  ASSERT_EQ(states.size(), 2u);
  const Json& at15 = states[0];
  EXPECT_EQ(at15["at_s"], 15);
  EXPECT_EQ(at15["since_s"], 10);
  EXPECT_EQ(at15["free_gpus"], 1);
  ASSERT_EQ(at15["nodes"].size(), 2u);
  EXPECT_EQ(at15["nodes"][0]["type"], "v100");
  EXPECT_EQ(at15["nodes"][0]["gpus"][2]["jobs"], Json({"a"}));
  EXPECT_EQ(at15["nodes"][0]["gpus"][3]["state"], "free");
  EXPECT_EQ(at15["nodes"][1]["gpus"][0]["jobs"], Json({"b"}));
  ASSERT_EQ(at15["jobs"].size(), 2u);
  EXPECT_EQ(at15["jobs"][0]["phase"], "running");
  EXPECT_EQ(at15["jobs"][0]["ran_s"], 15);
  EXPECT_EQ(at15["jobs"][1]["done_s"], 5);
  EXPECT_EQ(at15["jobs"][1]["places"][0]["node"], at15["nodes"][1]["node"]);
  EXPECT_EQ(at15["jobs"][1]["places"][0]["gpus"], Json({0, 1}));

  const Json& at110 = states[1];
  EXPECT_EQ(at110["since_s"], 110);
  ASSERT_EQ(at110["jobs"].size(), 2u);
  EXPECT_EQ(at110["jobs"][1]["job_id"], "c");
  EXPECT_EQ(at110["jobs"][1]["phase"], "waiting");
  EXPECT_EQ(at110["jobs"][1]["reason"], "too-few-gpus");
  EXPECT_EQ(at110["jobs"][1]["detail"], "needs 4 GPUs; 3 free");

  try {
    dumps(scenario, "fifo", {5000 * kSecond});
    FAIL() << "the replay ends before";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("0 to 1050"));
    EXPECT_THAT(error.what(), HasSubstr("5000"));
  }
}

TEST(Dump, EveryGpuIsAccountedFor) {
  std::set<std::string> gpu_states, phases;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    const RandomWorld made = random_world(Rng(seed));
    const Scenario scenario = scenario_of(made);
    const int64_t end_us = run_policy(scenario, "las", {}).outcome.end_us;
    std::vector<int64_t> at_us;
    const int64_t from_us = scenario.trace.jobs.front().submit_us;
    for (int i = 0; i < 60; ++i) at_us.push_back(from_us + (end_us - from_us) / 60 * i);
    for (const Json& state : dumps(scenario, "las", at_us)) {
      int32_t free = 0, down = 0;
      std::map<std::string, int64_t> held;  // GPUs, or parts of them, by job
      for (const Json& node : state["nodes"]) {
        int32_t here = 0;
        for (const Json& gpu : node["gpus"]) {
          const std::string what = gpu["state"];
          gpu_states.insert(what);
          here += what == "free" || what == "vacated";
          down += what == "down";
          for (const Json& job : gpu.value("jobs", Json::array())) ++held[job];
        }
        EXPECT_EQ(node["free_gpus"], here);
        free += here;
      }
      EXPECT_EQ(state["free_gpus"], free);
      EXPECT_EQ(state["down_gpus"], down);
      for (const Json& job : state["jobs"]) {
        phases.insert(job["phase"]);
        int64_t gpus = 0;
        for (const Json& place : job.value("places", Json::array())) {
          gpus += static_cast<int64_t>(place["gpus"].size());
        }
        EXPECT_EQ(held[job["job_id"]], gpus);
        EXPECT_EQ(job.contains("reason"), !job.contains("places"));
      }
    }
  }
  EXPECT_THAT(gpu_states, ::testing::IsSupersetOf({"free", "held", "shared", "down"}));
  EXPECT_THAT(phases, ::testing::IsSupersetOf({"waiting", "running", "starting", "blocked"}));
}

}  // namespace
}  // namespace yard::testing
