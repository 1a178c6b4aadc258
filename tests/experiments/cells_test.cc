// Files of cells: what is read, what is refused, and that a cell's hash changes with everything
// which affects a score.
#include "experiments/evaluate/cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "experiments/evaluate/cell_runner.h"
#include "tests/support/require.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TempFile;

constexpr const char* kTraces = R"(
traces:
  a: {file: a.csv, format: itp, sha256: aa, cluster: 2x8}
  b: {file: b.csv, sha256: bb, cluster: 4x8}
)";

constexpr const char* kGroups = R"(
groups:
  early: {traces: [a], from: 60%, to: 80%, congestions: [1, 3]}
  late: {traces: [a, b], from: 80%, to: 100%, congestions: [1, 3], choose_on: early, cost_scale: 4}
)";

CellFile read(const std::string& text) {
  const TempFile file("cells.yaml", text);
  return read_cells(file.path());
}

std::string read_error(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> names(const std::vector<CellSpec>& cells) {
  std::vector<std::string> out;
  for (const CellSpec& cell : cells) out.push_back(cell.name);
  return out;
}

TEST(Cells, AreTheProductOfGroupsTracesAndCongestions) {
  const CellFile file =
      read(std::string("replicas: 6\nagainst: [las, tuned/x.yaml]\n") + kTraces + kGroups);
  EXPECT_THAT(names(file.cells), ElementsAre("early/a/x1", "early/a/x3", "late/a/x1", "late/a/x3",
                                             "late/b/x1", "late/b/x3"));
  const CellSpec& cell = file.cells[3];
  EXPECT_EQ(cell.scenario.congestion, 3);
  EXPECT_EQ(cell.scenario.cost_scale, 4);
  EXPECT_EQ(cell.scenario.format, "itp");
  EXPECT_EQ(cell.scenario.cluster, "2x8");
  EXPECT_EQ(cell.scenario.window.from, "80%");
  EXPECT_EQ(cell.replicas, 6);
  EXPECT_EQ(file.cells[0].scenario.cost_scale, 1);
  EXPECT_TRUE(file.cells[0].chosen_on.empty());
  ASSERT_EQ(file.against.size(), 2u);
  EXPECT_EQ(file.against[0], "las");
  EXPECT_THAT(file.against[1], ::testing::EndsWith("/tuned/x.yaml")) << "relative to the file";
}

TEST(Cells, BaselineIsChosenOnItsOwnTraceElseOnAll) {
  const CellFile file = read(std::string(kTraces) + R"(
groups:
  late: {traces: [a, b], congestions: [1, 3], choose_on: early}
  early: {traces: [a], congestions: [3, 1]}
)");
  const auto chosen_on = [&](const std::string& name) {
    return select_cells(file, {name}).front().chosen_on;
  };
  EXPECT_THAT(chosen_on("late/a/x3"), ElementsAre("early/a/x3"));
  EXPECT_THAT(chosen_on("late/b/x1"), ElementsAre("early/a/x1"));
  EXPECT_THAT(names(validation_cells(file, select_cells(file, {"late/b/x1"}))),
              ElementsAre("early/a/x1"));
}

TEST(Cells, AGroupMayVaryTheCluster) {
  const CellFile file = read(std::string(kTraces) + R"(
groups:
  plain: {traces: [a]}
  start: {traces: [a], allows: [start], choose_on: plain}
  requeue: {traces: [a], allows: [preempt, start]}
  other: {traces: [a], cluster_scale: 0.5, load_scale: 2}
)");
  std::vector<ScenarioOverrides> varied;
  for (const CellSpec& cell : file.cells) varied.push_back(cell.scenario.variation);
  EXPECT_EQ(varied[0], ScenarioOverrides{});
  EXPECT_EQ(varied[1].allows, (AllowedActions{.preempt = false, .move = false}));
  EXPECT_EQ(varied[2].allows, (AllowedActions{.preempt = true, .move = false}));
  EXPECT_EQ(varied[3].cluster, 0.5);
  EXPECT_EQ(varied[3].load, 2);
  EXPECT_EQ(text_of(varied[1]), "start");
  EXPECT_EQ(text_of(varied[2]), "start+preempt");
  EXPECT_EQ(text_of(varied[3]), "cluster x 0.5, load x 2");
}

TEST(Cells, AreSelectedByGroupTraceOrName) {
  const CellFile file = read(std::string(kTraces) + kGroups);
  EXPECT_EQ(select_cells(file, {}).size(), 6u);
  EXPECT_EQ(select_cells(file, {"late"}).size(), 4u);
  EXPECT_THAT(names(select_cells(file, {"late/b", "early/a/x3"})),
              ElementsAre("early/a/x3", "late/b/x1", "late/b/x3"));
  for (const char* unknown : {"la", "late/c", "late/b/x2", ""}) {
    EXPECT_THROW(select_cells(file, {unknown}), InputError) << unknown;
  }
}

TEST(Cells, UnknownNamesAreReportedByTheirPart) {
  CellFile file;
  file.path = "f.yaml";
  for (const char* name : {"early/a/x1", "early/a/x3", "early/b/x1", "late/a/x1"}) {
    file.cells.emplace_back().name = name;
  }
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      select_cells(file, {name});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal("earl"), "--only: expected one of early, late in f.yaml, got 'earl'");
  EXPECT_EQ(refusal("early/c/x1"),
            "--only: expected one of early/a, early/b in f.yaml, got 'early/c/x1'");
  EXPECT_EQ(refusal("early/a/x2"),
            "--only: expected one of early/a/x1, early/a/x3 in f.yaml, got 'early/a/x2'");
  EXPECT_EQ(refusal("late/a/x1/z"),
            "--only: expected one of late/a/x1 in f.yaml, got 'late/a/x1/z'");
  EXPECT_EQ(refusal("early/a"), "");
}

TEST(Cells, ContradictionsAreRejected) {
  const std::string traces = kTraces, groups = kGroups;
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {traces, "groups by name"},
      {groups, "traces by name"},
      {traces + "groups:\n  g: {from: 60%}", "a list of trace names"},
      {traces + "groups:\n  g: {traces: [c]}", "a name in `traces` of the file, got 'c'"},
      {traces + "groups:\n  g: {traces: [a, a]}", "each name in traces once"},
      {traces + "groups:\n  g: {traces: [a], congestions: [-1]}", "numbers from 0"},
      {traces + "groups:\n  g: {traces: [a], congestions: []}", "at least one"},
      {traces + "groups:\n  g: {traces: [a], replicas: 0}", "replicas as a whole number"},
      {traces + "groups:\n  g: {traces: [a], choose_on: g}", "another group, got 'g'"},
      {traces + "groups:\n  g: {traces: [a], choose_on: h}", "another group, got 'h'"},
      {traces + "groups:\n  g: {traces: [a], congestion: 3}", "congestion"},
      {traces + "groups:\n  g/h: {traces: [a]}", "a name of letters"},
      {traces + "groups:\n  g: {traces: [a], congestions: [2], choose_on: h}\n"
                "  h: {traces: [a], congestions: [1]}",
       "a group with the same congestions"},
      {traces + "groups:\n  g: {traces: [a], allows: [stop]}",
       "start, preempt or move, got 'stop'"},
      {traces + "groups:\n  g: {traces: [a], allows: [preempt]}", "start, optionally with preempt"},
      {traces + "groups:\n  g: {traces: [a], allows: [start, move]}", "preempt together with move"},
      {traces + "groups:\n  g: {traces: [a], cluster_scale: 0}", "cluster_scale as a number"},
      {"traces:\n  a: {synthetic: rings, file: a.csv, cluster: 1x8}\n" + groups,
       "either a file or `synthetic`"},
      {"traces:\n  a: {file: a.csv, sha256: a, seed: 3, cluster: 1x8}\n" + groups,
       "only with `synthetic`, got 'seed'"},
      {"traces:\n  a: {synthetic: rings, settings: {mix: x}, cluster: 1x8}\n" + groups, "mix"},
      {"traces:\n  a: {file: a.csv, cluster: 1x8}\n" + groups, "sha256 of a trace"},
      {"traces:\n  a: {file: a.csv, sha256: a}\n" + groups, "cluster of a trace"}};
  for (const auto& [text, message] : wrong) {
    EXPECT_THAT(read_error(text), HasSubstr(message)) << text;
    EXPECT_THAT(read_error(text), HasSubstr("cells.yaml")) << text;
  }
}

TEST(Cells, TraceWithAnotherHashIsRejected) {
  const TempFile trace("t.csv", "job_id,submission_time,duration,num_gpu\na,0,600,1\n");
  CellSpec cell;
  cell.name = "g/t/x1";
  cell.scenario.trace = trace.path();
  cell.sha256 = sha256_hex(read_file(trace.path()));
  check_input_sha256({cell});
  cell.sha256 = "0123";
  EXPECT_THROW(check_input_sha256({cell}), InputError);
  cell.scenario.trace += ".gone";
  EXPECT_THROW(check_input_sha256({cell}), InputError);
}

TEST(Cells, HashCoversWhatAffectsAScore) {
  CellSpec cell;
  cell.name = "g/t/x1";
  cell.scenario.cluster = "2x8";
  cell.scenario.congestion = 1;
  const std::string hash = hash_of(cell);
  CellSpec renamed = cell;
  renamed.name = "h/t/x1";
  renamed.scenario.trace = "elsewhere.csv";
  renamed.chosen_on = {"g/t/x1"};
  EXPECT_EQ(hash_of(renamed), hash);
  std::set<std::string> hashes = {hash};
  const auto changed = [&](auto change) {
    CellSpec other = cell;
    change(other);
    return hashes.insert(hash_of(other)).second;
  };
  EXPECT_TRUE(changed([](CellSpec& c) { c.sha256 = "b"; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.cluster = "4x8"; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.congestion = 3; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.cost_scale = 4; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.window.from = "60%"; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.window.to = "60%"; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.window.warmup = "5"; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.replicas = 2; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.seed = 2; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.max_blocks = 12; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.skip_unusable = true; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.variation.allows.move = false; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.variation.allows.preempt = false; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.variation.cluster = 2; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.variation.load = 2; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.models.set("draw", "true", "test"); }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.profiles = "a", c.profiles_sha256 = "b"; }));
  EXPECT_TRUE(changed([](CellSpec& c) { c.scenario.profiles = "a", c.profiles_sha256 = "c"; }));
}

// A generator with other settings makes another trace with another hash, though its name is the
// same.
TEST(Cells, GeneratorSettingsChangeTheHash) {
  const CellFile file = read(R"(
traces:
  one: {synthetic: rings, settings: {mix: 1, load: 0.5}, jobs: 60, seed: 7, cluster: rings-8}
  two: {synthetic: rings, settings: {mix: 2, load: 0.5}, jobs: 60, seed: 7, cluster: rings-8}
groups:
  mixes: {traces: [one, two], congestions: [0, 2]}
)");
  EXPECT_THAT(names(file.cells),
              ElementsAre("mixes/one/x0", "mixes/one/x2", "mixes/two/x0", "mixes/two/x2"));
  const CellSpec &one = file.cells[0], &two = file.cells[2];
  EXPECT_NE(hash_of(one), hash_of(two));
  check_input_sha256(file.cells);
  TraceOnClusterCache sources;
  const TraceOnCluster& first = sources.of(one.scenario);
  EXPECT_EQ(&first, &sources.of(file.cells[1].scenario));
  EXPECT_NE(&first, &sources.of(two.scenario));
  EXPECT_EQ(first.trace.jobs.size(), 60u);
  const Scenario as_it_is = scenario_of(one, first);
  EXPECT_EQ(as_it_is.factor, 1);
  EXPECT_NE(as_it_is.fixed.speed.kind_by_all_reduce, nullptr)
      << "on rings-8 schedulers choose the exchange";
  EXPECT_FALSE(as_it_is.opens_test);
}

// Several files of measurements, each with its hash.
TEST(Cells, MayHaveSeveralProfiles) {
  const std::string groups = "groups:\n  early: {traces: [a], from: 60%, to: 80%}\n";
  const auto with = [&](const std::string& profiles) {
    return "traces:\n  a: {file: a.csv, sha256: aa, cluster: 2x8, " + profiles + "}\n" + groups;
  };
  const CellSpec one = read(with("profiles: /p.json, profiles_sha256: cc")).cells[0];
  EXPECT_EQ(one.profiles_sha256, "cc");
  const CellSpec two =
      read(with("profiles: [/p.json, /q.txt], profiles_sha256: [cc, dd]")).cells[0];
  EXPECT_EQ(two.scenario.profiles, "/p.json,/q.txt");
  EXPECT_EQ(two.profiles_sha256, "cc,dd");
  EXPECT_NE(hash_of(one), hash_of(two));
  EXPECT_THAT(read_error(with("profiles: [/p.json, /q.txt], profiles_sha256: [cc]")),
              HasSubstr("one hash for each of 2 profiles"));
  EXPECT_NE(read_error(with("profiles: [], profiles_sha256: []")), "");
}

// The project's own cells: their number, their traces, and that windows before the test split end
// before it.
TEST(Cells, ProjectCellsAreComplete) {
  YARD_NEEDS_TRACES();
  const CellFile file = read_cells("experiments/cells.yaml");
  EXPECT_EQ(select_cells(file, {"validate"}).size(), 15u);
  EXPECT_EQ(select_cells(file, {"test"}).size(), 15u);
  EXPECT_EQ(select_cells(file, {"unseen"}).size(), 9u);
  EXPECT_EQ(select_cells(file, {"mixed-train", "mixed-validate", "mixed-test"}).size(), 18u);
  check_input_sha256(file.cells);
  TraceOnClusterCache sources;
  std::set<std::string> checked;
  for (CellSpec cell : file.cells) {
    const WindowOptions& window = cell.scenario.window;
    if (cell.scenario.congestion != 1) continue;  // other congestions have the same jobs
    if (cell.scenario.variation.any() && cell.name.ends_with("-test")) {
      EXPECT_FALSE(cell.chosen_on.empty()) << cell.name;
    }
    cell.scenario.variation.allows = {};
    cell.scenario.variation.load = 1;
    const std::string same = cell.scenario.trace + cell.scenario.profiles + window.from +
                             window.to + text_of(cell.scenario.variation);
    if (!checked.insert(same).second) continue;
    cell.scenario.congestion.reset();
    const Scenario scenario = scenario_of(cell, sources.of(cell.scenario));
    const std::string group = cell.name.substr(0, cell.name.find('/'));
    const bool closed =
        group.ends_with("train") || group.ends_with("validate") || group.starts_with("tune");
    EXPECT_NE(scenario.opens_test, closed) << cell.name;
    int32_t largest = 0;
    for (const Job& job : scenario.trace.jobs) largest = std::max(largest, job.gpus);
    // A halved cluster is checked at full size, a doubled one at its own: jobs too large for the
    // full cluster may fit the doubled one.
    const double whole =
        scenario.cluster.total_gpus() / std::min(1.0, cell.scenario.variation.cluster);
    EXPECT_GE(whole, 2 * largest) << cell.name;
    if (group.ends_with("unseen") || group.ends_with("test")) {
      EXPECT_FALSE(cell.chosen_on.empty()) << cell.name;
    }
  }
}

}  // namespace
}  // namespace yard
