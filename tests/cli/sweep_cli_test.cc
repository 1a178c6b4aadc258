// `sweep`: its table, the best trial, resumption after kills, and wrong search spaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "env/base/files/file.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class Sweep : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
    folder_.write("tiny.yaml",
                  "trace: synthetic:habits\ncluster: 2x8\ntrace_jobs: 400\nepisode_jobs: 40\n"
                  "num_envs: 4\ngroup: 2\nhidden: 8\nthreads: 1\nvalidate_windows: 1\n"
                  "validate_jobs: 40\nvalidate_every: 1\nupdates: 4\n");
    folder_.write(
        "sweep.yaml",
        "train: tiny.yaml\ntrials: 4\nhalving: 2\nfirst_updates: 1\nseed: 5\n"
        "space:\n  learning_rate: {log: [1e-4, 1e-1]}\n  update_epochs: {integer: [1, 3]}\n"
        "  minibatch_size: {choice: [64, 256]}\n  clip_coef: {uniform: [0.1, 0.3]}\n");
  }
  static Json result(const std::string& folder) {
    return Json::parse(read_file(folder + "/sweep.json"));
  }
  Folder folder_;
};

// Returns the validation score after the first update. The row before is the untrained network's.
double first_score(const std::string& run) {
  std::istringstream metrics(read_file(run + "/metrics.csv"));
  std::string header, row, name, cell;
  std::getline(metrics, header);
  std::getline(metrics, row);
  EXPECT_THAT(row, ::testing::StartsWith("0,"));
  std::getline(metrics, row);
  std::istringstream names(header), cells(row);
  while (std::getline(names, name, ',') && std::getline(cells, cell, ',')) {
    if (name == "validation/ratio") return std::stod(cell);
  }
  ADD_FAILURE() << "no validation in " << header;
  return 0;
}

TEST_F(Sweep, GivesTheBetterHalfTwiceTheUpdates) {
  const Result swept = shell("yardmaster sweep sweep.yaml --out s --json");
  ASSERT_EQ(swept.code, 0) << swept.err;
  EXPECT_THAT(swept.err,
              HasSubstr("rungs of 1, 2, 4 updates for 4, 2, 1 trials: 8 updates in all"));
  EXPECT_THAT(swept.err, HasSubstr("ETA"));
  const Json out = result("s");
  EXPECT_EQ(Json::parse(swept.out), out);
  EXPECT_EQ(out["complete"], true);
  std::multiset<int> updates;
  std::set<std::string> rates;
  double worst_promoted = 0, best_stopped = 1e9;
  for (const Json& t : out["trials"]) {
    updates.insert(t["updates"].get<int>());
    rates.insert(t["settings"]["learning_rate"].get<std::string>());
    const double lr = std::stod(t["settings"]["learning_rate"].get<std::string>());
    EXPECT_GE(lr, 1e-4);
    EXPECT_LE(lr, 1e-1);
    EXPECT_TRUE(fs::exists("s/trials/" + t["run"].get<std::string>() + "/checkpoints/best"));
    const double first = first_score("s/trials/" + t["run"].get<std::string>());
    if (t["updates"] == 1) {
      best_stopped = std::min(best_stopped, first);
    } else {
      worst_promoted = std::max(worst_promoted, first);
    }
  }
  EXPECT_EQ(updates, (std::multiset<int>{1, 1, 2, 4}));
  EXPECT_EQ(rates.size(), 4u) << "four draws";
  EXPECT_EQ(out["best"]["updates"], 4);
  EXPECT_LE(worst_promoted, best_stopped);

  // Nothing is left to do; the result is the same.
  const Result again = shell("yardmaster sweep --resume s --json");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out), out);
}

TEST_F(Sweep, ResumesIdenticallyAfterKills) {
  ASSERT_EQ(shell("yardmaster sweep sweep.yaml --out whole").code, 0);
  const Result killed = shell(
      "yardmaster sweep sweep.yaml --out s & pid=$!; "
      "while kill -0 $pid && [ ! -e s/trials/00001 ]; do sleep 0.02; done; kill -9 $pid; wait "
      "$pid");
  EXPECT_EQ(killed.code, 137);
  const Result stopped =
      shell("yardmaster sweep --resume s & pid=$!; sleep 0.7; kill -INT $pid; wait $pid");
  EXPECT_TRUE(stopped.code == 130 || stopped.code == 0) << stopped.err;
  const Result resumed = shell("yardmaster sweep --resume s");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(result("s")["trials"], result("whole")["trials"]);
}

// Trials which cannot learn all have the untrained network's score, and none is the best.
TEST_F(Sweep, IndistinguishableTrialsAreReported) {
  folder_.write("sweep.yaml",
                "train: tiny.yaml\ntrials: 3\nhalving: 1\nset: {updates: 1, learning_rate: 0, "
                "validate_windows: 3}\nspace: {clip_coef: {uniform: [0.1, 0.3]}}\n");
  const Result swept = shell("yardmaster sweep sweep.yaml --out s");
  ASSERT_EQ(swept.code, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("All 3 trials have the same score"));
  EXPECT_THAT(swept.out, HasSubstr("no significant improvement over the untrained network"));
  const Json out = result("s");
  EXPECT_EQ(out["differ"], false);
  EXPECT_EQ(out["learned"], false);
  EXPECT_THAT(out["verdict"].get<std::string>(), HasSubstr("no significant improvement"));
  for (const Json& t : out["trials"]) {
    EXPECT_EQ(t["score"], t["untrained_score"]);
    EXPECT_EQ(t["ratio_untrained"], 1);
  }
}

// With a single window there is no interval by which to tell the trials apart.
TEST_F(Sweep, OneWindowCannotDistinguishTrials) {
  folder_.write("sweep.yaml",
                "train: tiny.yaml\ntrials: 3\nhalving: 1\nset: {updates: 1}\n"
                "space: {margin_log2: {uniform: [0, 10]}}\n");
  const Result swept = shell("yardmaster sweep sweep.yaml --out s");
  ASSERT_EQ(swept.code, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("One window cannot distinguish the 3 trials"));
  const Json out = result("s");
  EXPECT_EQ(out["differ"], false);
  EXPECT_EQ(out["learned"], false);
}

// Rungs are rounded up to validations, as docs/guides/tune.md states.
TEST_F(Sweep, RoundedRungsAreReported) {
  folder_.write(
      "sweep.yaml",
      "train: tiny.yaml\ntrials: 9\nhalving: 3\nfirst_updates: 1\nset: {updates: 9, "
      "validate_every: 2}\nspace: {learning_rate: {log: [1e-3, 3e-1]}}\nminutes: 0.0001\n");
  const Result swept = shell("yardmaster sweep sweep.yaml --out s");
  EXPECT_THAT(swept.err,
              HasSubstr("rungs of 1, 3 updates rounded up to multiples of validate_every=2: "
                        "rungs of 2, 4, 9 updates for 9, 3, 1 trials"));
}

TEST_F(Sweep, FailedTrialIsReportedAndOthersContinue) {
  folder_.write("sweep.yaml",
                "train: tiny.yaml\ntrials: 3\nseed: 3\nhalving: 1\nset: {updates: 1}\n"
                "space:\n  generator: {choice: [load=1.2, no_such=1]}\n");
  const Result swept = shell("yardmaster sweep sweep.yaml --out s");
  ASSERT_EQ(swept.code, 0) << swept.err;
  int failed = 0;
  const Json out = result("s");
  for (const Json& t : out["trials"]) failed += t["failed"].get<bool>();
  EXPECT_GT(failed, 0);
  EXPECT_LT(failed, 3);
  EXPECT_THAT(swept.err, HasSubstr(".log)"));
  EXPECT_THAT(swept.out, HasSubstr("failed"));
}

TEST_F(Sweep, InvalidSpaceGivesOneMessage) {
  const std::string head = "train: tiny.yaml\ntrials: 2\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {head, "space"},
      {head + "space: {learning_rate: {gauss: [0, 1]}}\n", "gauss"},
      {head + "space: {learning_rate: 3}\n", "learning_rate"},
      {head + "space: {learning_rate: {log: [0, 1]}}\n", "above 0"},
      {head + "space: {learning_rate: {uniform: [1, 0]}}\n", "min, max"},
      {head + "space: {learning_rate: {uniform: [0, 1, 2]}}\n", "min, max"},
      {head + "space: {update_epochs: {integer: [1, 2.5]}}\n", "min, max"},
      {head + "space: {learning_rate: {uniform: [2, 3]}}\n", "learning_rate"},
      {head + "space: {no_such: {uniform: [2, 3]}}\n", "no_such"},
      {head + "space: {updates: {integer: [2, 3]}}\n", "updates"},
      {head + "set: {no_such: 1}\nspace: {learning_rate: {log: [0.1, 1]}}\n", "no_such"},
      {head + "halving: 0.5\nspace: {learning_rate: {log: [0.1, 1]}}\n", "halving"},
      {head + "bogus: 1\nspace: {learning_rate: {log: [0.1, 1]}}\n", "bogus"},
      {"trials: 2\nspace: {learning_rate: {log: [0.1, 1]}}\n", "train"},
      {"train: none.yaml\nspace: {learning_rate: {log: [0.1, 1]}}\n", "none.yaml"},
  };
  for (const auto& [text, named] : cases) {
    folder_.write("wrong.yaml", text);
    const Result refused = shell("yardmaster sweep wrong.yaml --out s");
    EXPECT_EQ(refused.code, 2) << text << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(named)) << text;
    EXPECT_FALSE(folder_.has("s")) << text;
  }
  EXPECT_EQ(shell("yardmaster sweep").code, 2);
  EXPECT_EQ(shell("yardmaster sweep --resume nowhere").code, 2);
  EXPECT_EQ(shell("yardmaster sweep sweep.yaml --resume s").code, 2);
}

}  // namespace
}  // namespace yard::testing
