// `train` and `verify`: run folders, refusals, Ctrl-C, and resumption.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "tests/cli/program.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// A training of a second or two.
constexpr const char* kTrainConfig =
    "trace: synthetic:habits\ncluster: 2x8\ntrace_jobs: 400\nepisode_jobs: 40\nnum_envs: 4\n"
    "group: 2\nhidden: 8\nthreads: 1\nvalidate_windows: 2\nvalidate_jobs: 40\nvalidate_every: 1\n";

class Train : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!trainer_built()) GTEST_SKIP() << "built without LibTorch";
    folder_.write("tiny.yaml", kTrainConfig);
  }
  Folder folder_;
};

// But for the footer, which has the time of writing.
void expect_page_of_report(const std::string& run) {
  const Result differs =
      shell("yardmaster report " + run + " --out again.html && diff -I '^<footer>' again.html " +
            run + "/report.html");
  EXPECT_EQ(differs.code, 0) << differs.out.substr(0, 500) << differs.err;
}

TEST_F(Train, WritesARunFolderWithACheckpointThatVerifies) {
  const Result trained = shell("yardmaster train tiny.yaml --set updates=2 --out run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.out, "run/checkpoints/best\n");
  EXPECT_THAT(read_file("run/config.yaml"), HasSubstr("updates: 2"));
  for (const char* name :
       {"model.safetensors", "golden.safetensors", "model.onnx", "manifest.json"}) {
    EXPECT_TRUE(folder_.has("run/checkpoints/best/" + std::string(name))) << name;
    EXPECT_TRUE(folder_.has("run/checkpoints/last/" + std::string(name))) << name;
  }
  const Json manifest = Json::parse(read_file("run/checkpoints/last/manifest.json"));
  EXPECT_EQ(manifest["agent"], "dispatcher");
  EXPECT_EQ(manifest["provenance"]["updates"], 2);
  EXPECT_EQ(manifest["provenance"]["settings"]["hidden"], "8");
  EXPECT_GT(manifest["scores"][0]["validation_ratio"], 0.1);

  EXPECT_THAT(read_file("run/report.html"), HasSubstr("Learning curve"));
  expect_page_of_report("run");

  const Result verified = shell("yardmaster verify --checkpoint run/checkpoints/last --json");
  EXPECT_EQ(verified.code, 0) << verified.err;
  const Json figures = Json::parse(verified.out);
  EXPECT_EQ(figures["ok"], true);
  EXPECT_GT(figures["golden_states"], 0);
  EXPECT_LT(figures["native_max_difference"], 1e-4);
  EXPECT_LT(figures["libtorch_max_difference"], 1e-4);

  std::string weights = read_file("run/checkpoints/last/model.safetensors");
  weights[weights.size() - 2] = static_cast<char>(weights[weights.size() - 2] ^ 4);
  write_file_atomic("run/checkpoints/last/model.safetensors", weights);
  const Result corrupt = shell("yardmaster verify --checkpoint run/checkpoints/last");
  EXPECT_EQ(corrupt.code, 2);
  EXPECT_THAT(corrupt.err, HasSubstr("model.safetensors"));
  EXPECT_EQ(shell("yardmaster verify --checkpoint nowhere").code, 2);
}

// Returns a value of metrics.csv; NaN if the row has none.
double metric(const std::string& run, int step, const std::string& column) {
  const std::string code = "import csv; r=[x for x in csv.DictReader(open('" + run +
                           "/metrics.csv')) if x['step']=='" + std::to_string(step) +
                           "']; print(r[0].get('" + column + "') or 'nan' if r else 'nan')";
  return std::stod(shell("python3 -c \"" + code + "\"").out);
}

// The untrained network, drawn in the same way, is validated first, as update 0. All results of a
// training are given relative to it.
TEST_F(Train, TheUntrainedNetworkIsUpdateZero) {
  const Result still =
      shell("yardmaster train tiny.yaml --set updates=2 --set learning_rate=0 --out still");
  ASSERT_EQ(still.code, 0) << still.err;
  EXPECT_THAT(still.err, HasSubstr("update 0, the untrained network with the same sampling"));
  EXPECT_THAT(still.err,
              HasSubstr("(mean JCT divided by that of srsf-history on 2 validation windows)"));
  EXPECT_THAT(still.err, HasSubstr("training had no effect"));
  EXPECT_GT(metric("still", 0, "validation/ratio"), 0);
  EXPECT_TRUE(std::isnan(metric("still", 0, "charts/learning_rate"))) << "no update has been made";
  for (const int update : {1, 2}) {
    EXPECT_EQ(metric("still", update, "validation/ratio"), metric("still", 0, "validation/ratio"));
    EXPECT_EQ(metric("still", update, "validation/ratio_untrained"), 1);
  }
  EXPECT_TRUE(folder_.has("still/checkpoints/untrained/manifest.json"));
  EXPECT_EQ(shell("yardmaster verify --checkpoint still/checkpoints/untrained").code, 0);

  const Result trained =
      shell("yardmaster train tiny.yaml --set updates=2 --set learning_rate=0.1 --out run");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(metric("run", 0, "validation/ratio"), metric("still", 0, "validation/ratio"));
  const Json scores = Json::parse(read_file("run/checkpoints/last/manifest.json"))["scores"][0];
  EXPECT_EQ(scores["untrained_validation_ratio"], metric("run", 0, "validation/ratio"));
  EXPECT_NEAR(scores["ratio_untrained"].get<double>(),
              metric("run", 2, "validation/ratio_untrained"), 1e-9);

  // `evaluate` finds a checkpoint's untrained network with the run folder and without it.
  fs::rename("still/checkpoints/last", "alone");
  const auto evaluated = [](const std::string& checkpoint) {
    const Result r = shell(
        "yardmaster evaluate --trace synthetic:habits --cluster 2x8 --generate-jobs 200 "
        "--replicas 1 --against fifo --json --checkpoint " +
        checkpoint);
    EXPECT_EQ(r.code, 0) << r.err;
    return Json::parse(r.out)["cells"][0];
  };
  const Json alone = evaluated("alone");
  EXPECT_EQ(alone["ratio_untrained"], 1);
  EXPECT_EQ(alone["untrained"]["mean_jct_s"], alone["mean_jct_s"]);
  const Json learned = evaluated("run/checkpoints/last");
  EXPECT_EQ(learned["untrained"]["mean_jct_s"], alone["mean_jct_s"]);
  EXPECT_NEAR(learned["ratio_untrained"].get<double>(),
              learned["mean_jct_s"].get<double>() / alone["mean_jct_s"].get<double>(), 1e-9);
}

TEST_F(Train, ZeroUpdatesValidateOnlyTheUntrainedNetwork) {
  const Result r = shell("yardmaster train tiny.yaml --set updates=0 --out run");
  ASSERT_EQ(r.code, 0) << r.err;
  EXPECT_GT(metric("run", 0, "validation/ratio"), 0);
  EXPECT_EQ(shell("yardmaster verify --checkpoint run/checkpoints/best").code, 0);
  EXPECT_EQ(read_file("run/checkpoints/best/model.safetensors"),
            read_file("run/checkpoints/untrained/model.safetensors"));
  EXPECT_EQ(Json::parse(read_file("run/run.json"))["state"], "done");
}

TEST_F(Train, VerifiesWithOnnxRuntimeIfInstalled) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=1 --out run").code, 0);
  const std::string verify = "yardmaster verify --checkpoint run/checkpoints/last";
  const std::string without = "YARD_ONNX_PYTHON=/nowhere/python " + verify;
  const Result blind = shell(without);
  EXPECT_EQ(blind.code, 0) << blind.err;
  EXPECT_THAT(blind.out, HasSubstr("onnx: not checked (/nowhere/python"));
  const Json parsed = Json::parse(shell(without + " --json").out);
  EXPECT_EQ(parsed["onnx_max_difference"], nullptr);
  EXPECT_THAT(parsed["onnx"], HasSubstr("not checked"));
  const Result required = shell(without + " --require-onnx");
  EXPECT_EQ(required.code, 1);
  EXPECT_THAT(required.err, HasSubstr("not checked"));

  // A checkpoint without model.onnx is given one; nothing else in it changes.
  const fs::path folder = "run/checkpoints/last";
  const std::string manifest = read_file(folder / "manifest.json");
  const std::string model = read_file(folder / "model.onnx");
  auto old = nlohmann::ordered_json::parse(manifest);
  old["sha256"].erase("model.onnx");
  write_file_atomic(folder / "manifest.json", old.dump(2) + "\n");
  fs::remove(folder / "model.onnx");
  EXPECT_THAT(shell(verify).out, HasSubstr("no model.onnx"));
  EXPECT_EQ(shell(verify + " --write-onnx").code, 0);
  EXPECT_EQ(read_file(folder / "manifest.json"), manifest);
  EXPECT_EQ(read_file(folder / "model.onnx"), model);

  const Json seen = Json::parse(shell(verify + " --json").out);
  YARD_NEEDS(onnx, seen["onnx_max_difference"].is_number(), seen["onnx"].get<std::string>());
  EXPECT_LT(seen["onnx_max_difference"], 1e-4);
  EXPECT_EQ(shell(verify + " --require-onnx").code, 0);
}

TEST_F(Train, LearnsFromCellsAndNamesUnreachableOnes) {
  ASSERT_EQ(shell("yardmaster trace generate synthetic:habits --jobs 600 --out a.csv").code, 0);
  const auto cells = [&](const std::string& congestions) {
    folder_.write("cells.yaml", "congestions: [" + congestions + "]\ntraces:\n  a: {file: a.csv, " +
                                    "sha256: " + sha256_hex(read_file("a.csv")) +
                                    ", cluster: 2x8}\ngroups:\n"
                                    "  train: {traces: [a], to: 60%}\n"
                                    "  validate: {traces: [a], from: 60%, to: 90%}\n");
  };
  folder_.write("on.yaml",
                "cells: cells.yaml\nonly: [train]\nvalidate_on: [validate]\ndraws: 2\n"
                "episode_jobs: 40\nnum_envs: 4\ngroup: 2\nhidden: 8\nthreads: 1\nupdates: 1\n"
                "validate_windows: 2\nvalidate_jobs: 40\nvalidate_every: 1\n");
  cells("1, 999");
  const Result some = shell("yardmaster train on.yaml --out run");
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_THAT(some.err, HasSubstr("cell train/a/x999"));
  EXPECT_THAT(some.err, HasSubstr("left out"));
  const Json parsed = Json::parse(read_file("run/checkpoints/last/manifest.json"))["provenance"];
  EXPECT_EQ(parsed["grounds"].size(), 2u);  // draws of the remaining cell
  EXPECT_EQ(parsed["left_out"].size(), 2u);
  EXPECT_GT(Json::parse(read_file("run/checkpoints/last/cost.json"))["training_core_s"], 0);
  cells("999");
  const Result none = shell("yardmaster train on.yaml --out none");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("cell train/a/x999: --congestion: expected"));
  EXPECT_FALSE(folder_.has("none"));
}

TEST_F(Train, RuleIsVerifiedByItsDecisions) {
  folder_.write("rule.yaml", "policy: joint\nsettings: {gpu_exponent: 0.7}\n");
  ASSERT_EQ(shell("yardmaster pack --policy rule.yaml --checkpoint rule").code, 0);
  const Result same = shell("yardmaster verify --checkpoint rule --json");
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(Json::parse(same.out)["ok"], true);
  std::string manifest = read_file("rule/manifest.json");
  const std::string key = "\"decisions\": ";
  const size_t at = manifest.find(key);
  ASSERT_NE(at, std::string::npos);
  manifest.insert(at + key.size(), "9");
  write_file_atomic("rule/manifest.json", manifest);
  const Result other = shell("yardmaster verify --checkpoint rule");
  EXPECT_EQ(other.code, 1) << other.err;
  EXPECT_THAT(other.out, HasSubstr("DIFFERENT"));
}

TEST_F(Train, RejectsInvalidArguments) {
  struct Case {
    std::string arguments, named;
  };
  const std::vector<Case> cases = {
      {"tiny.yaml --set no_such_key=1", "no_such_key"},
      {"tiny.yaml --set updates=-1", "updates"},
      {"tiny.yaml --set learning_rate=fast", "learning_rate"},
      {"tiny.yaml --set learner=luck", "learner"},
      {"tiny.yaml --set network=luck", "network"},
      {"tiny.yaml --set agent=luck", "agent"},
      {"tiny.yaml --set num_steps=8", "unknown key 'num_steps'"},
      {"tiny.yaml --set lr=0", "which is called 'learning_rate'"},
      {"tiny.yaml --set num_envs=5", "group = 2"},
      {"tiny.yaml --set learner=ppo --set gae_lambda=2", "gae_lambda"},
      {"tiny.yaml --ranks 3", "3 ranks"},
      {"tiny.yaml --ranks 0", "ranks"},
      {"tiny.yaml --until 0", "until"},
      {"tiny.yaml --set trace=missing.csv", "missing.csv"},
      {"tiny.yaml --set cells=some.yaml", "with cells"},
      {"missing.yaml", "missing.yaml"},
      {"", "CONFIG.yaml"},
      {"--resume nowhere", "nowhere"},
      {"tiny.yaml --resume nowhere", "both"},
      {"tiny.yaml --bogus", "bogus"},
      {"tiny.yaml --utnil 5", "did you mean `--until`?"},
      {"tiny.yaml --set agent=dispacher", "did you mean `dispatcher`?"},
      {"tiny.yaml --set learner=grup", "did you mean `group`?"},
      {"tiny.yaml --out", "train: expected a value after --out, got none"},
  };
  for (const Case& c : cases) {
    const Result result = shell("yardmaster train " + c.arguments);
    EXPECT_EQ(result.code, 2) << c.arguments << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr(c.named)) << c.arguments;
    EXPECT_EQ(result.out, "") << c.arguments;
  }
  EXPECT_FALSE(folder_.has("runs")) << "nothing half-written";
  EXPECT_EQ(folder_.leftovers(), 0);
}

// Episodes are cut to the length of the trace; columns may have other names.
TEST_F(Train, LimitsEpisodesToTheTraceAndRenamesColumns) {
  std::string jobs = "JobName,arrival,run_s,gpus,queue\n";
  for (int j = 0; j < 60; ++j) {
    jobs += "j" + std::to_string(j) + "," + std::to_string(30 * j) + "," +
            std::to_string(60 + 40 * (j % 7)) + "," + std::to_string(1 << (j % 4)) + ",q\n";
  }
  folder_.write("jobs.csv", jobs);
  const std::string command =
      "yardmaster train tiny.yaml --set trace=jobs.csv --set episode_jobs=5000 --set updates=1 ";
  const Result trained = shell(command +
                               "--columns job_id=JobName,submit_s=arrival --out run "
                               "--set cluster=2x8:nosuchgpu");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("note: episodes have 48 jobs, all that the training part "
                                     "has, instead of 5000 (episode_jobs)"));
  for (const char* said : {"columns that are not used: queue", "GPU type 'nosuchgpu' is unknown",
                           "note: validation windows have 12 jobs, all that are held out, instead "
                           "of 40 (validate_jobs)",
                           "note: trace_jobs 400 has no effect: it is the length of a generated "
                           "trace, and jobs.csv is a file"}) {
    EXPECT_THAT(trained.err, HasSubstr(said));
  }
  EXPECT_THAT(read_file("run/config.yaml"), HasSubstr("columns: "));
  const Result unnamed = shell(command + "--out other");
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_THAT(unnamed.err, HasSubstr("--columns job_id=JobName,submit_s=arrival"));
}

TEST_F(Train, ResumesIdenticallyAfterCtrlC) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=20 --out whole").code, 0);
  // Waits for the first update, however slow the machine. The resumed run gives the same weights.
  const Result stopped = shell(
      "yardmaster train tiny.yaml --set updates=20 --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; kill "
      "-INT $pid; wait $pid");
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_THAT(stopped.err, HasSubstr("--resume run"));
  EXPECT_FALSE(folder_.has("run/checkpoints/last") || folder_.has("run/report.html"));
  const Result resumed = shell("yardmaster train --resume run");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read_file("run/checkpoints/last/model.safetensors"),
            read_file("whole/checkpoints/last/model.safetensors"));
  EXPECT_EQ(read_file("run/checkpoints/last/golden.safetensors"),
            read_file("whole/checkpoints/last/golden.safetensors"));
  expect_page_of_report("run");
  EXPECT_EQ(shell("yardmaster verify --checkpoint run/checkpoints/best").code, 0);
}

// Returns the columns of metrics.csv which do not depend on the machine's speed.
std::string metrics_without_time(const std::string& run) {
  return shell("python3 -c \"import csv,sys; r=list(csv.reader(open('" + run +
               "/metrics.csv'))); k=[i for i,c in enumerate(r[0]) if 'SPS' not in c]; "
               "print([[row[i] for i in k] for row in r])\"")
      .out;
}

// After three kills at random moments the run ends with the same weights and figures.
TEST_F(Train, ResumesIdenticallyAfterKills) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=30 --out whole").code, 0);
  const Result killed = shell(
      "yardmaster train tiny.yaml --set updates=30 --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; "
      "sleep 0.0$(date +%N | cut -c1-2); kill -9 $pid; wait $pid");
  ASSERT_EQ(killed.code, 137) << killed.err;
  for (int again = 0; again < 2; ++again) {
    shell(
        "yardmaster train --resume run & pid=$!; sleep 0.$(date +%N | cut -c1-2); "
        "kill -9 $pid; wait $pid");
  }
  const Result resumed = shell("yardmaster train --resume run");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto cost = [](const std::string& of) {
    return Json::parse(read_file("run/checkpoints/" + of))["training_core_s"].get<double>();
  };
  EXPECT_GT(cost("last/cost.json"), 0);
  EXPECT_EQ(cost("best/cost.json"),
            cost("last/cost.json"));  // all of it counts for the best
  for (const char* name :
       {"last/model.safetensors", "last/golden.safetensors", "best/model.safetensors",
        "training_state/adam.pt", "training_state/worlds-0.bin", "training_state/counters.json"}) {
    EXPECT_TRUE(read_file("run/checkpoints/" + std::string(name)) ==
                read_file("whole/checkpoints/" + std::string(name)))
        << name;
  }
  EXPECT_EQ(metrics_without_time("run"), metrics_without_time("whole"));
}

// The second Ctrl-C comes while the first one is handled, or after it. Either way the run stays
// intact.
TEST_F(Train, SecondCtrlCLosesNothing) {
  const Result stopped = shell(
      "yardmaster train tiny.yaml --set updates=400 --out run & pid=$!; "
      "while kill -0 $pid && [ ! -e run/checkpoints/training_state ]; do sleep 0.02; done; "
      "kill -INT $pid; kill -INT $pid; wait $pid");
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_EQ(folder_.leftovers(), 0);
  EXPECT_EQ(shell("yardmaster train --resume run --until 5").code, 0);
}

TEST_F(Train, FullDiskGivesOneMessageAndTheRunResumes) {
  // States and checkpoints exceed 40 blocks of 512 or 1024 bytes; all other files are smaller.
  const Result full = shell("ulimit -f 40; yardmaster train tiny.yaml --set updates=3 --out run");
  EXPECT_EQ(full.code, 1) << full.err;
  EXPECT_THAT(full.err, HasSubstr("File too large"));
  EXPECT_THAT(full.err, HasSubstr("run/checkpoints/"));
  EXPECT_THAT(full.err, Not(HasSubstr(".yard-"))) << "a name that is internal to the program";
  EXPECT_EQ(folder_.leftovers(), 0);
  EXPECT_EQ(Json::parse(read_file("run/run.json"))["state"], "failed");

  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=6 --until 2 --out later").code, 0);
  EXPECT_EQ(shell("ulimit -f 40; yardmaster train --resume later").code, 1);
  ASSERT_EQ(shell("yardmaster train --resume later").code, 0);
  EXPECT_EQ(folder_.leftovers(), 0);
}

TEST_F(Train, ExistingFolderIsRejectedFirst) {
  fs::create_directory("taken");
  folder_.write("taken/thesis.tex", "years of work");
  const Result taken = shell("yardmaster train tiny.yaml --out taken");
  EXPECT_EQ(taken.code, 2);
  EXPECT_THAT(taken.err, HasSubstr("something else"));
  EXPECT_THAT(taken.err, Not(HasSubstr("reading")));
}

TEST_F(Train, WorkloadWithoutDecisionsIsRejected) {
  folder_.write("dl2.yaml",
                "agent: dl2\nnetwork: job-scorer\ntrace: synthetic:servers\ncluster: 4x2\n"
                "trace_jobs: 200\nepisode_jobs: 20\nnum_envs: 4\ngroup: 2\nthreads: 1\n"
                "updates: 1\nvalidate_windows: 1\nvalidate_jobs: 50\n");
  const Result rigid =
      shell("yardmaster train dl2.yaml --out rigid --set 'generator=[most=0,drawn=true]'");
  EXPECT_EQ(rigid.code, 2);
  EXPECT_THAT(rigid.err, HasSubstr("jobs that need a decision by the agent"));
  EXPECT_FALSE(folder_.has("rigid")) << "training never began";
  EXPECT_EQ(shell("yardmaster train dl2.yaml --out elastic").code, 0);
}

TEST_F(Train, CheckpointPathNeedsItsPrefix) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=1 --out run").code, 0);
  const Result plain = shell(
      "yardmaster simulate --trace synthetic:habits --generate-jobs 50 --cluster 2x8 --policy "
      "run/checkpoints/best");
  EXPECT_EQ(plain.code, 2);
  EXPECT_THAT(plain.err, HasSubstr("checkpoint:run/checkpoints/best"));
}

TEST_F(Train, StopBetweenValidationsSavesTheState) {
  ASSERT_EQ(
      shell("yardmaster train tiny.yaml --set updates=4 validate_every=2 --until 3 --out run").code,
      0);
  EXPECT_TRUE(folder_.has("run/report.html"));
  folder_.write("run/report.html", "notes");
  const Result resumed = shell("yardmaster train --resume run");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("run/report.html: expected no file, or a page"));
  EXPECT_EQ(read_file("run/report.html"), "notes") << "a file of the user's own";
  EXPECT_THAT(read_file("run/log.txt"), HasSubstr("resumed after update 3"));
}

// An interrupted run advises a resume command without these settings.
TEST_F(Train, SettingsOfAResumedRunPersist) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=2 --out run").code, 0);
  ASSERT_EQ(shell("yardmaster train --resume run --set updates=4 --until 3").code, 0);
  EXPECT_THAT(read_file("run/log.txt"), HasSubstr("updates changed from 2 to 4"));
  ASSERT_EQ(shell("yardmaster train --resume run").code, 0);
  EXPECT_EQ(
      Json::parse(read_file("run/checkpoints/training_state/counters.json"))["counters"]["update"],
      4);
  const std::string kept = read_file("run/config.yaml"), ended = read_file("run/run.json");
  EXPECT_EQ(shell("yardmaster train --resume run --set seed=77 --set updates=6").code, 2);
  const Result fewer = shell("yardmaster train --resume run --set updates=3");
  EXPECT_EQ(fewer.code, 2);
  EXPECT_THAT(fewer.err, HasSubstr("at least 4"));
  EXPECT_EQ(read_file("run/config.yaml"), kept) << "rejected, and not saved";
  EXPECT_EQ(read_file("run/run.json"), ended);
}

TEST_F(Train, LeftoversOfKilledProcessesAreRemoved) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=2 --until 1 --out run").code, 0);
  fs::create_directory("run/checkpoints/.yard-1-2.tmp");
  folder_.write("run/.yard-1-3.tmp", "half");
  ASSERT_EQ(shell("yardmaster train --resume run").code, 0);
  EXPECT_EQ(folder_.leftovers(), 0);
}

TEST_F(Train, RejectsDamagedOrForeignStates) {
  ASSERT_EQ(shell("yardmaster train tiny.yaml --set updates=3 --until 1 --out run").code, 0);
  const auto refused = [&](const std::string& arguments, const char* named) {
    const Result result = shell("yardmaster train --resume run " + arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(named));
  };
  refused("--set hidden=16", "network.pt");
  refused("--set learner=ppo", "learner");
  refused("--set num_envs=8", "other or damaged environments");
  refused("--ranks 2", "ranks");
  const std::string file = "run/checkpoints/training_state/adam.pt", whole = read_file(file);
  write_file_atomic(file, whole.substr(0, whole.size() / 2));
  refused("", "adam.pt");
  write_file_atomic(file, whole);
  EXPECT_EQ(shell("yardmaster train --resume run").code, 0);
}

TEST_F(Train, KeepsLatestCheckpointsAndPrintsAProfile) {
  const Result trained =
      shell("yardmaster train tiny.yaml --set updates=5 --set keep=2 --out run --profile");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_FALSE(folder_.has("run/checkpoints/update-0000003"));
  EXPECT_TRUE(folder_.has("run/checkpoints/update-0000004/manifest.json"));
  EXPECT_TRUE(folder_.has("run/checkpoints/update-0000005/manifest.json"));
  EXPECT_THAT(trained.err, HasSubstr("environment"));
  const Json profile = Json::parse(read_file("run/profile.json"));
  double share = 0;
  for (const Json& stage : profile["stages"]) share += stage["share"].get<double>();
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_EQ(profile["stages"][0]["stage"], "environment");
  EXPECT_GT(profile["stages"][4]["seconds"], 0) << "validation";
}

TEST_F(Train, EveryLearnerTrains) {
  for (const char* settings : {"learner=ppo --set num_steps=16",
                               "learner=ppo --set num_steps=16 --set average_reward=true",
                               "learner=ppo --set relative_reward=true", "learner=clone",
                               "learner=group --set expert_kl_coef=0.1"}) {
    const Result trained = shell(
        "rm -rf run; yardmaster train tiny.yaml --out run --set updates=2 "
        "--set " +
        std::string(settings));
    EXPECT_EQ(trained.code, 0) << settings << ": " << trained.err;
  }
  EXPECT_THAT(read_file("run/metrics.csv"), HasSubstr("losses/expert_kl"));
}

// The repository's checkpoints must fit its code.

}  // namespace
}  // namespace yard::testing
