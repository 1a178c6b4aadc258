// The commands list, trace, evaluate, tune and predict, and options which several commands share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(Commands, EachHasHelp) {
  for (const std::string command : {"simulate", "evaluate", "tune", "list", "trace", "cluster"}) {
    const Result result = shell("yardmaster " + command + " --help");
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_THAT(result.out, HasSubstr("--help")) << command;
    EXPECT_EQ(result.err, "") << command;
  }
}

TEST(Commands, UnknownCommandIsRejected) {
  const Result result = shell("yardmaster bogus");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("bogus"));
}

TEST(List, ShowsRegisteredNames) {
  for (const std::string kind : {"policies", "traces", "clusters", "rules"}) {
    const Result table = shell("yardmaster list " + kind);
    ASSERT_EQ(table.code, 0) << table.err;
    const Result result = shell("yardmaster list " + kind + " --json");
    const Json rows = Json::parse(result.out)[kind];
    EXPECT_GE(rows.size(), 2u);
    for (const Json& row : rows) {
      for (const char* key : {"name", "information", "source", "fidelity"}) {
        EXPECT_TRUE(row.contains(key)) << kind << " " << key;
      }
      EXPECT_THAT(table.out, HasSubstr(row["name"].get<std::string>()));
    }
  }
  EXPECT_EQ(shell("yardmaster list everything").code, 2);
}

TEST(List, ShowsOneEntryWithItsSettings) {
  for (const std::string kind : {"policies", "traces", "clusters", "rules", "agents"}) {
    if (kind == "agents" && !trainer_built()) continue;
    const Json rows = Json::parse(shell("yardmaster list " + kind + " --json").out)[kind];
    for (const Json& row : rows) {
      const std::string name = row["name"];
      const Result one = shell("yardmaster list " + kind + " '" + name + "'");
      ASSERT_EQ(one.code, 0) << one.err;
      for (const Json& setting : row.value("settings", Json::array())) {
        for (const char* key : {"key", "default", "range", "help"}) {
          EXPECT_THAT(one.out, HasSubstr(setting[key].get<std::string>())) << name;
        }
      }
      if (&row != &rows[0]) continue;
      const Result json = shell("yardmaster list " + kind + " '" + name + "' --json");
      EXPECT_EQ(Json::parse(json.out)[kind], Json::array({row}));
    }
    const Result unknown = shell("yardmaster list " + kind + " nosuch");
    EXPECT_EQ(unknown.code, 2);
    EXPECT_THAT(unknown.err, HasSubstr("expected one of"));
  }
  EXPECT_THAT(shell("yardmaster list policies las").out, HasSubstr("--set las.KEY=VALUE"));
}

TEST(Trace, GenerateConvertAndDescribeAgree) {
  const Folder folder;
  ASSERT_EQ(
      shell("yardmaster trace generate synthetic:habits --jobs 200 --seed 3 --out a.csv").code, 0);
  ASSERT_EQ(shell("yardmaster trace convert a.csv --out b.csv").code, 0);
  EXPECT_EQ(read_file("a.csv"), read_file("b.csv"));
  const Json made = Json::parse(
      shell("yardmaster trace describe synthetic:habits --jobs 200 --seed 3 --json").out);
  const Json read = Json::parse(shell("yardmaster trace describe b.csv --json").out);
  for (const char* key : {"jobs", "users", "last_submit_s", "gpu_hours", "run_s", "jobs_by_gpus"}) {
    EXPECT_EQ(made[key], read[key]) << key;
  }
  EXPECT_EQ(read["format"], "yardmaster");
  EXPECT_EQ(shell("yardmaster trace describe b.csv").code, 0);
  EXPECT_EQ(shell("yardmaster trace generate b.csv --out c.csv").code, 2);
  EXPECT_FALSE(folder.has("c.csv"));
}

TEST(Trace, LikeComparesWithALaterPart) {
  const Folder folder;
  const std::string like =
      "yardmaster trace generate --like synthetic:habits --samples 1 --json --to 60%";
  const Json later =
      Json::parse(shell(like + " --against-from 60% --against-to 80%").out)["fidelity"];
  const Json same = Json::parse(shell(like).out)["fidelity"];
  const auto jobs = [](const Json& fidelity) { return fidelity["figures"][0]; };
  EXPECT_EQ(jobs(later)["fitted"], jobs(same)["real"]);
  EXPECT_LT(jobs(later)["real"], jobs(later)["fitted"]);
  EXPECT_LT(jobs(later)["generated"], jobs(later)["fitted"]);  // as long as the later part
  EXPECT_TRUE(later["distances"][0].contains("fitted"));
  EXPECT_TRUE(same["distances"][0].contains("halves"));
  for (const char* option : {"--against-from 60%", "--samples 2", "--json", "--to 50%"}) {
    const Result without =
        shell("yardmaster trace generate synthetic:habits --out a.csv " + std::string(option));
    EXPECT_EQ(without.code, 2) << option;
    EXPECT_THAT(without.err, HasSubstr("only with --like TRACE"));
  }
}

TEST(Trace, MissingRunTimesAreNullUntilMeasured) {
  const Folder folder;
  folder.write("jobs.trace", "A3C\tcmd\t--max-steps\t0\t100\t5\t1\n");
  folder.write("thr.json", R"x({"v100": {"('A3C', 1)": {"null": 2}}})x");
  const auto describe = [](const std::string& options) {
    const Result result = shell("yardmaster trace describe jobs.trace --json " + options);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out);
  };
  EXPECT_EQ(describe("")["format"], "gavel");
  for (const char* unknown : {"run_s", "gpu_hours"}) EXPECT_TRUE(describe("")[unknown].is_null());
  EXPECT_EQ(describe("--throughputs thr.json")["gpu_hours"], 50 / 3600.0);
  EXPECT_EQ(describe("--throughputs thr.json")["run_s"]["max"], 50);
  EXPECT_EQ(shell("yardmaster trace convert jobs.trace --throughputs thr.json --out a.csv").code,
            0);
  EXPECT_THAT(read_file("a.csv"), HasSubstr("\n0,5,50,1,"));
}

TEST(Trace, ConvertsToTheFormatOfTheExtension) {
  const Folder folder;
  ASSERT_EQ(shell("yardmaster trace generate synthetic:habits --jobs 50 --out a.jsonl").code, 0);
  ASSERT_EQ(shell("yardmaster trace convert a.jsonl --out b.csv").code, 0);
  ASSERT_EQ(shell("yardmaster trace convert b.csv --out c.jsonl").code, 0);
  EXPECT_EQ(read_file("a.jsonl"), read_file("c.jsonl"));
  EXPECT_EQ(read_file("a.jsonl").front(), '{');
  EXPECT_EQ(shell("yardmaster trace convert b.csv --out d.json").code, 2);
  EXPECT_FALSE(folder.has("d.json"));
}

TEST(Simulate, InvalidSettingErrorsStateTheExpectedForm) {
  const Folder folder;
  const std::string run =
      "yardmaster simulate --trace synthetic:habits --generate-jobs 20 --cluster 2x8 --policy "
      "easy ";
  const Result key = shell(run + "--set order=sjf");
  EXPECT_EQ(key.code, 2);
  EXPECT_THAT(key.err, HasSubstr("--set order=sjf: expected P.key=value, P one of: easy, trace"));
  const Result dash = shell(run + "--json-out -");
  EXPECT_EQ(dash.code, 2);
  EXPECT_THAT(dash.err,
              HasSubstr("--json-out: expected a file (--json prints to standard output)"));
  EXPECT_FALSE(folder.has("-"));
}

TEST(Trace, GenerateAcceptsPrefixedKeys) {
  const Folder folder;
  const std::string make = "yardmaster trace generate synthetic:habits --jobs 20 --out ";
  ASSERT_EQ(shell(make + "a.csv --set load=0.5").code, 0);
  ASSERT_EQ(shell(make + "b.csv --set trace.load=0.5").code, 0);
  EXPECT_EQ(read_file("a.csv"), read_file("b.csv"));
}

TEST(Trace, InvalidNumbersGiveShortErrors) {
  const Folder folder;
  const std::string make = "yardmaster trace generate synthetic:habits --out a.csv ";
  const std::string play =
      "yardmaster simulate --trace synthetic:habits --cluster 2x8 "
      "--policy fifo ";
  for (const std::string& command :
       {make + "--jobs 0", make + "--seed -1", make + "--seed 99999999999999999999",
        std::string("yardmaster trace describe synthetic:habits --jobs 0"), play + "--seed -1",
        play + "--generate-jobs 0", play + "--jobs-from 99999999999999999999",
        play + "--jobs-count 1.5"}) {
    const Result result = shell(command);
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.err, HasSubstr("expected a whole number from ")) << command;
    const std::string given = command.substr(command.rfind(' ') + 1);
    EXPECT_THAT(result.err, HasSubstr("got '" + given + "'")) << command;
    EXPECT_LT(result.err.size(), 200u) << command;
  }
  EXPECT_EQ(shell(make + "--jobs 1 --seed 18446744073709551615").code, 0);
}

TEST(Trace, UnsupportedExtensionIsRejected) {
  const Folder folder;
  const Result result = shell("yardmaster trace generate synthetic:habits --out x.parquet");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("'.parquet'"));
  EXPECT_FALSE(folder.has("x.parquet"));
}

TEST(Trace, DescribesContentsAndSkippedRows) {
  const Folder folder;
  write_file_atomic("pods.csv",
                    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
                    "creation_time,deletion_time,scheduled_time\n"
                    "a,1000,1,1,500,T4,LS,Running,0,110,10\n"
                    "b,1000,1,2,1000,,BE,Failed,100,220,120\n"
                    "c,1000,1,0,0,,BE,Failed,200,210,200\n"
                    "d,1000,1,1,1000,,BE,Pending,200,210,\n");
  const Json all = Json::parse(shell("yardmaster trace describe pods.csv --json").out);
  EXPECT_EQ(all["jobs"], 3);
  EXPECT_EQ(all["skipped"], 1);
  EXPECT_EQ(all["skipped_by_reason"][0]["reason"], "never placed");
  EXPECT_EQ(all["skipped_by_reason"][0]["first"], "pods.csv:5");
  EXPECT_EQ(all["jobs_by_gpus"], Json::parse(R"({"0":1,"1":1,"2":1})"));
  EXPECT_EQ(all["jobs_on_gpu_shares"], 1);
  EXPECT_EQ(all["jobs_on_named_types"], 1);
  EXPECT_EQ(all["tenants"], 2);
  EXPECT_EQ(all["logged_wait_s"]["max"], 20);
  EXPECT_EQ(all["end_states"]["Failed"], 2);
  EXPECT_DOUBLE_EQ(all["gpu_hours"], 250.0 / 3600) << "half a GPU for 100 s, two for 100 s";
  EXPECT_EQ(all["deadlines"], nullptr);

  // A setting's key may be given with its prefix, as in other commands.
  const Json some = Json::parse(
      shell("yardmaster trace describe pods.csv --set trace.pods=gpu --cluster-gpus 2 --json").out);
  EXPECT_EQ(some["jobs"], 2);
  EXPECT_DOUBLE_EQ(some["load"], 250.0 / 100 / 2);
  EXPECT_THAT(shell("yardmaster trace describe pods.csv --set pods=gpu").out,
              HasSubstr("1 x never placed, the first at pods.csv:5"));
  EXPECT_EQ(shell("yardmaster trace describe pods.csv --set gpus=all").code, 2);
}

TEST(Evaluate, PrintsEveryFieldAndOpensNoTestSplit) {
  const Folder folder;
  const Result result = shell(
      "yardmaster evaluate --candidate las --against fifo,greedy --trace synthetic:habits "
      "--generate-jobs 300 --cluster 2x8 --replicas 2 --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["cells"].size(), 1u);
  for (const char* key : {"trace",
                          "cluster",
                          "congestion",
                          "load",
                          "rules",
                          "cost_scale",
                          "policy",
                          "information",
                          "jobs",
                          "unfinished",
                          "conclusive",
                          "mean_jct_s",
                          "p99_jct_s",
                          "ratio",
                          "lo",
                          "hi",
                          "ratio_hindsight",
                          "oracle_gap_closed",
                          "p99_ratio",
                          "largest_class",
                          "largest_class_jct_ratio",
                          "max_wait_ratio",
                          "preemptions_ratio",
                          "seeds",
                          "blocks",
                          "replicas",
                          "baseline",
                          "best_hindsight",
                          "hindsight_count",
                          "oracle",
                          "headroom",
                          "headroom_hindsight",
                          "test_openings"}) {
    EXPECT_TRUE(json["cells"][0].contains(key)) << key;
  }
  EXPECT_EQ(json["summary"].size(), 1u);
  EXPECT_FALSE(folder.has("evaluations"));
}

TEST(Evaluate, PlacementAppliesToPoliciesThatAcceptIt) {
  const Folder folder;
  const std::string base =
      "yardmaster evaluate --trace synthetic:habits --generate-jobs 200 --cluster 4x8 --replicas 1 "
      "--candidate fifo --json ";
  const auto mean_jct_s = [&](const std::string& options) {
    const Result result = shell(base + options);
    EXPECT_EQ(result.code, 0) << result.err;
    const Json row = Json::parse(result.out)["cells"][0];
    EXPECT_FALSE(row["oracle"].is_null()) << "bounds play with their usual placement";
    return row["mean_jct_s"].get<double>();
  };
  EXPECT_EQ(mean_jct_s("--placement consolidate"), mean_jct_s("--set fifo.placement=consolidate"));
  EXPECT_NE(mean_jct_s("--placement consolidate"), mean_jct_s("--placement first-fit"));
  const Result named = shell(base + "--placement consolidate --against tetris");
  EXPECT_EQ(named.code, 2);
}

// Only a project keeps a log of test openings. A user's file has no test split, and nothing is
// written into the working directory, even if a log is there.
TEST(Evaluate, UserTraceHasNoTestSplit) {
  const Folder folder;
  ASSERT_EQ(shell("yardmaster trace generate synthetic:habits --jobs 300 --out jobs.csv").code, 0);
  std::filesystem::create_directory("evaluations");
  folder.write("evaluations/test_log.jsonl", "");
  const std::string base =
      "yardmaster evaluate --candidate las --against fifo --trace jobs.csv --cluster 16x8 "
      "--replicas 1 --from 80% ";
  const Result result = shell(base + "--json");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["cells"][0]["test_openings"], 0);
  EXPECT_EQ(shell(base).out.find("test split"), std::string::npos);
  EXPECT_EQ(read_file("evaluations/test_log.jsonl"), "");
}

TEST(Evaluate, ReportsSkippedRows) {
  const Folder folder;
  folder.write("a.csv",
               "job_id,submit_s,run_s,gpus,owner\n1,0,9,1,x\n2,1,-5,1,x\n3,2,9,1,x\n4,3,9,1,x\n");
  const Result result = shell(
      "yardmaster evaluate --candidate las --against fifo --trace a.csv --cluster 1x2 --replicas 1 "
      "--skip-unusable");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("left out: 1 x "));
  EXPECT_THAT(result.err, HasSubstr("the first at a.csv:3"));
  EXPECT_THAT(result.err, HasSubstr("note: a.csv: columns that are not used: owner"));
}

TEST(Evaluate, RejectsContradictoryOptions) {
  const std::string root = std::filesystem::current_path().string();
  const Folder folder;
  const std::string base = "yardmaster evaluate --trace synthetic:habits --cluster 2x8 ";
  const std::string pilot = root + "/checkpoints/pilot";
  for (const std::string& wrong :
       {std::string(), std::string("--candidate las,las"), std::string("--checkpoint x,x"),
        "--checkpoint " + pilot + "," + pilot + "/",
        "--candidate checkpoint:" + pilot + " --checkpoint " + pilot,
        "--checkpoint " + root + "/checkpoints/meta-1," + root + "/checkpoints/harmony-1",
        std::string("--candidate las --json-out nowhere/x.json"), std::string("--candidate nobody"),
        std::string("--candidate las --against srtf"), std::string("--candidate las --replicas 0"),
        std::string("--checkpoint no-such-folder"),
        std::string("--candidate las --validate-from 10%")}) {
    const Result result = shell(base + wrong);
    EXPECT_EQ(result.code, 2) << wrong << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

TEST(Tune, WritesAPolicyForEachAndTheBest) {
  const Folder folder;
  const Result result = shell(
      "yardmaster tune --policy las,srsf-history --budget 12 --trace synthetic:habits "
      "--generate-jobs 200 --cluster 2x8 --out best.yaml --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["tuned"].size(), 2u);
  for (const Json& tuned : json["tuned"]) {
    EXPECT_EQ(tuned["evaluated"], 12);
    EXPECT_LE(tuned["ratio"].get<double>(), 1);
  }
  const Result played = shell(
      "yardmaster simulate --policy best.yaml,best.las.yaml,best.srsf-history.yaml --json "
      "--trace synthetic:habits --generate-jobs 200 --cluster 2x8");
  ASSERT_EQ(played.code, 0) << played.err;
  EXPECT_EQ(Json::parse(played.out)["runs"].size(), 3u);
  EXPECT_EQ(shell("yardmaster tune --policy fifo --trace synthetic:habits --cluster 2x8").code, 2);
  EXPECT_EQ(
      shell("yardmaster tune --policy las --budget 0 --trace synthetic:habits --cluster 2x8").code,
      2);
}

TEST(Tune, PoolsSeveralCongestions) {
  const Result result = shell(
      "yardmaster tune --policy las --budget 6 --replicas 1 --congestion 0.5,2 --json "
      "--trace synthetic:habits --generate-jobs 300 --cluster 2x8");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["cells"].size(), 2u);
  EXPECT_LT(json["cells"][0]["congestion"].get<double>(),
            json["cells"][1]["congestion"].get<double>());
  EXPECT_EQ(json["tuned"][0]["cells"].size(), 2u);
}

TEST(Predict, ReportsIntervalCoverage) {
  const std::string workload = " --trace synthetic:habits --generate-jobs 400 --cluster 2x8";
  const Result result = shell("yardmaster predict --every 600 --json" + workload);
  ASSERT_EQ(result.code, 0) << result.err;
  const Json all = Json::parse(result.out)["coverage"][0];
  EXPECT_EQ(all["jobs"], "all");
  EXPECT_GT(all["asked"].get<int>(), 100);
  EXPECT_LT(all["within_50"].get<double>(), all["within_90"].get<double>());
  EXPECT_THAT(shell("yardmaster predict" + workload).out, ::testing::HasSubstr("in 90 %"));
  EXPECT_EQ(shell("yardmaster predict --every 0" + workload).code, 2);
  EXPECT_EQ(shell("yardmaster predict --policy fifo --rules tiresias" + workload).code, 2);
  EXPECT_EQ(shell("yardmaster predict --policy nobody" + workload).code, 2);
}

TEST(Commands, ClusterPermissionsApplyToAllPolicies) {
  const Folder folder;
  const std::string play =
      "yardmaster simulate --trace synthetic:mixed --cluster mixed-9 --policy las-skew,joint "
      "--json ";
  const auto runs = [&](const std::string& options) {
    const Result result = shell(play + options);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out)["runs"];
  };
  for (const Json& run : runs("")) EXPECT_GT(run["preemptions"], 0);
  for (const Json& run : runs("--allow start,preempt")) {
    EXPECT_GT(run["preemptions"], 0);
    EXPECT_EQ(run["moves"], 0);
    EXPECT_GE(run["rapid_repreemptions"], 0);
  }
  for (const Json& run : runs("--allow start")) EXPECT_EQ(run["preemptions"], 0);
  EXPECT_GT(shell(play + "--metrics all").out.size(), 0u);
  for (const auto& [options, message] :
       {std::pair("--allow stop", "start, preempt or move"),
        std::pair("--allow start,move", "preempt together with move"),
        std::pair("--cluster-scale 0", "--cluster-scale"),
        std::pair("--load-scale -1", "--load-scale")}) {
    const Result result = shell(play + options);
    EXPECT_EQ(result.code, 2) << options;
    EXPECT_THAT(result.err, ::testing::HasSubstr(message));
  }
  const Result other = shell(
      "yardmaster simulate --trace synthetic:habits --generate-jobs 20 --cluster 2x8 --rules "
      "tiresias --policy dlas --allow start");
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, ::testing::HasSubstr("--allow"));
}

TEST(Commands, GapIsRelativeToTheOptimalSchedule) {
  const Folder folder;
  const Result result =
      shell("yardmaster gap --policy srtf,fifo --gpus 1 --instances 40 --seed 3 --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json gaps = Json::parse(result.out)["gaps"];
  EXPECT_NEAR(gaps[0]["mean"].get<double>(), 0, 1e-9) << "optimal on one GPU";
  EXPECT_EQ(gaps[0]["optimal"], 40);
  EXPECT_GT(gaps[1]["mean"], 0.01);
  EXPECT_LT(gaps[1]["optimal"], 40);
  EXPECT_THAT(shell("yardmaster gap --policy fifo --instances 5").out,
              ::testing::HasSubstr("mean gap"));
  for (const char* wrong : {"--policy nobody", "--policy fifo --gpus 65", "--policy fifo --gpus 0",
                            "--policy fifo --instances 0", ""}) {
    EXPECT_EQ(shell(std::string("yardmaster gap ") + wrong).code, 2) << wrong;
  }
}

// An unset shell variable must not suppress an output.
TEST(Commands, EmptyArgumentIsRejected) {
  for (const std::string command :
       {"simulate --trace synthetic:habits --cluster 2x8 --policy fifo --jobs-out ''",
        "train --out ''", "evaluate --trace '' --cluster 8x8"}) {
    const Result r = shell("yardmaster " + command);
    EXPECT_EQ(r.code, 2) << command;
    EXPECT_THAT(r.err, ::testing::HasSubstr("empty argument")) << command;
  }
  const Result r =
      shell("yardmaster simulate --trace synthetic:habits --cluster 2x8 --policy fifo --seed -1");
  EXPECT_EQ(r.code, 2);
}

}  // namespace
}  // namespace yard::testing
