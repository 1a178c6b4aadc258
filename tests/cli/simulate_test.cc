// `simulate`: what it prints, what it writes, and what it answers to bad input.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr const char* kSimulatedJobs =
    "job_id,submission_time,duration,num_gpu\n"
    "a,0,100,2\n"
    "b,10,50,4\n"
    "c,20,5,1\n";

// Expects exit code 2 and one line of errors which contains all of `said`.
void expect_simulate_refused(const Result& result, const std::vector<std::string>& said) {
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const std::string& part : said) EXPECT_THAT(result.err, HasSubstr(part));
}

TEST(Simulate, NotesSizingPoliciesWithoutElasticJobs) {
  const std::string simulate =
      "yardmaster simulate --trace synthetic:servers --cluster 4x2 --generate-jobs 100 --policy "
      "optimus,drf --set trace.drawn=true ";
  const Result rigid = shell(simulate + "--set trace.most=0"), elastic = shell(simulate);
  EXPECT_EQ(rigid.code + elastic.code, 0) << rigid.err << elastic.err;
  EXPECT_THAT(rigid.err, HasSubstr("note: optimus sets the size of elastic jobs"));
  EXPECT_THAT(rigid.err, Not(HasSubstr("drf sets")));
  EXPECT_THAT(elastic.err, Not(HasSubstr("sets the size")));
}

TEST(Simulate, PrintsOneJsonDocument) {
  const Folder folder;
  folder.write("jobs.csv", kSimulatedJobs);
  const Result result = shell(
      "yardmaster simulate --trace jobs.csv --cluster 1x4 --policy fifo,srtf --json "
      "--jobs-out jobs-out.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  ASSERT_EQ(json["runs"].size(), 2u);
  for (const Json& run : json["runs"]) {
    for (const char* key :
         {"policy", "rules", "placement", "information", "jobs", "finished", "sum_jct_s",
          "mean_jct_s", "p50_jct_s", "p95_jct_s", "p99_jct_s", "mean_wait_s", "makespan_s",
          "utilisation", "preemptions", "events", "decisions", "wall_s"}) {
      EXPECT_TRUE(run.contains(key)) << key;
    }
    EXPECT_EQ(run["jobs"], 3);
    EXPECT_EQ(run["finished"], 3);
  }
  // fifo: a runs until 100 s, b from 100 to 150 s, c from 150 to 155 s.
  EXPECT_EQ(json["runs"][0]["sum_jct_s"], 100 + 140 + 135);
  EXPECT_EQ(json["runs"][0]["information"], "blind");
  EXPECT_EQ(json["runs"][1]["information"], "oracle");
  EXPECT_EQ(json["cluster"]["gpus"], 4);
  EXPECT_EQ(json["trace"]["skipped"], 0);

  const std::string csv = read_file("jobs-out.csv");
  const auto lines = split(csv, '\n');
  ASSERT_EQ(lines.size(), 8u);  // a header, two runs of three jobs, the end
  EXPECT_EQ(lines[2], "fifo,b,4,10,100,150,90,140,0,0,finished");
}

TEST(Simulate, PrintsBoundsSeparately) {
  const Folder folder;
  folder.write("jobs.csv", kSimulatedJobs);
  const Result result =
      shell("yardmaster simulate --trace jobs.csv --cluster 1x4 --policy srtf,fifo");
  ASSERT_EQ(result.code, 0) << result.err;
  const size_t fifo = result.out.find("\nfifo "),
               bounds = result.out.find("\noracles, which see true run times"),
               srtf = result.out.find("\nsrtf ");
  EXPECT_LT(fifo, bounds);
  EXPECT_LT(bounds, srtf);
  EXPECT_NE(srtf, std::string::npos);
}

TEST(Simulate, RunsTiresiasRules) {
  const Result result = shell(
      "yardmaster simulate --trace synthetic:xv --cluster 8x8 --rules tiresias "
      "--policy fifo --placement yarn --json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["runs"][0]["sum_jct_s"], 32014621);
}

TEST(Simulate, PublishedRulesSkipCpuJobsIfAllowed) {
  const Folder folder;
  folder.write("jobs.csv",
               "job_id,submit_s,run_s,gpus,groups\n"
               "a,0,100,2,\n"
               "b,10,50,0,\"[{\"\"role\"\":\"\"worker\"\",\"\"cpu_milli\"\":1000}]\"\n");
  const std::string base = "yardmaster simulate --trace jobs.csv --cluster 1x8 ";
  for (const std::string rules :
       {"--rules tiresias --policy dlas-gpu --placement count", "--rules lucid --policy tiresias",
        "--rules blox --policy fifo", "--rules rlscheduler --policy fcfs"}) {
    expect_simulate_refused(shell(base + rules), {"jobs.csv:3", "at least 1 GPU", "'b'"});
    const Result result = shell(base + rules + " --skip-unusable --json");
    ASSERT_EQ(result.code, 0) << rules << result.err;
    EXPECT_THAT(result.err, HasSubstr("left out: 1 x no GPUs, the first at jobs.csv:3"));
    EXPECT_EQ(Json::parse(result.out)["trace"]["skipped"], 1);
  }
  EXPECT_EQ(shell(base + "--policy fifo").code, 0) << "the default rules support them";
}

TEST(Simulate, ReportsUndefinedLoad) {
  const Folder folder;
  folder.write("jobs.csv", "job_id,submit_s,run_s,gpus\na,5,100,2\nb,5,100,2\n");
  const std::string command = "yardmaster simulate --trace jobs.csv --cluster 1x4 --policy fifo";
  EXPECT_THAT(shell(command).out, HasSubstr("load n/a"));
  EXPECT_TRUE(Json::parse(shell(command + " --json").out)["trace"]["load"].is_null());
}

TEST(Simulate, NotesMissingLimits) {
  const Folder folder;
  folder.write("none.csv", "job_id,submit_s,run_s,gpus\na,0,100,2\n");
  folder.write("some.csv", "job_id,submit_s,run_s,gpus,limit_s\na,0,100,2,\nb,0,100,2,300\n");
  const auto said = [](const std::string& trace, const std::string& command) {
    const Result result = shell("yardmaster " + command + " --cluster 1x4 --trace " + trace);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  const char* note = "easy uses the limits of jobs, but no job of this trace has one";
  EXPECT_THAT(said("none.csv", "simulate --policy fifo,easy"), HasSubstr(note));
  EXPECT_THAT(said("none.csv", "evaluate --candidate easy --against fifo"), HasSubstr(note));
  EXPECT_EQ(said("none.csv", "simulate --policy fifo,greedy"), "");
  EXPECT_EQ(said("some.csv", "simulate --policy fifo,easy"), "");
}

TEST(Simulate, RunsOtherPublishedRulesWithTheirSettings) {
  const auto sum = [](const std::string& rules) {
    const Result result =
        shell("yardmaster simulate --trace synthetic:xv --cluster 8x8 --json --rules " + rules);
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out)["runs"][0]["sum_jct_s"];
  };
  EXPECT_EQ(sum("lucid --policy srtf"), 5007151);
  EXPECT_NE(sum("lucid --policy srtf --set preempt_s=0"), 5007151);
  EXPECT_EQ(sum("blox --policy fifo --set rules.round_s=300"), sum("blox --policy fifo"));
  expect_simulate_refused(
      shell("yardmaster simulate --trace synthetic:xv --cluster 8x8 --rules blox "
            "--policy fifo --set rounds=60"),
      {"rounds", "round_s"});
}

constexpr const char* kSteps =
    "A3C\tcmd\tfolder\t--max-steps\t0\t100\t1\t1\t-1\t5\n"
    "A3C\tcmd\tfolder\t--max-steps\t0\t720\t1\t1\t-1\t5\n";

TEST(Simulate, RulesThatUseMeasurementsRequireThem) {
  const Folder folder;
  folder.write("jobs.trace", kSteps);
  folder.write("thr.json", R"x({"v100": {"('A3C', 1)": {"null": 2}}})x");
  const std::string gavel =
      "yardmaster simulate --trace jobs.trace --cluster 1x4 --rules gavel --policy fifo --json ";
  expect_simulate_refused(shell(gavel), {"gavel", "--throughputs"});
  const Result result = shell(gavel + "--throughputs thr.json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json run = Json::parse(result.out)["runs"][0];
  EXPECT_EQ(run["sum_jct_s"], 50 + 360);
  EXPECT_EQ(run["placement"], "count");
  expect_simulate_refused(shell(gavel + "--throughputs none.json"), {"none.json"});
  expect_simulate_refused(shell(gavel + "--throughputs thr.json --placement yarn"),
                          {"yarn", "count"});
  expect_simulate_refused(shell(gavel + "--throughputs thr.json --set rond_s=60"),
                          {"rond_s", "round_s"});

  folder.write("work.csv", "name,time,application,num_replicas,batch_size\nx,0,ncf,1,8\n");
  folder.write("rates.csv",
               "job,placement,epoch,goodput,next_progress,completion_epoch\nx,1,0,1,100,0\n");
  const std::string pollux =
      "yardmaster simulate --trace work.csv --cluster 1x4 --rules pollux --policy tiresias --json ";
  expect_simulate_refused(shell(pollux), {"pollux", "--rates"});
  const Result rounds = shell(pollux + "--rates rates.csv");
  ASSERT_EQ(rounds.code, 0) << rounds.err;
  EXPECT_EQ(Json::parse(rounds.out)["runs"][0]["sum_jct_s"], 60 + 30 + 100);
}

TEST(Simulate, MeasurementsGiveRunTimesUnderOtherRules) {
  const Folder folder;
  folder.write("jobs.trace", kSteps);
  folder.write("thr.json", R"x({"v100": {"('A3C', 1)": {"null": 2}}})x");
  const std::string base = "yardmaster simulate --trace jobs.trace --cluster 1x4 --policy fifo ";
  expect_simulate_refused(shell(base), {"jobs.trace", "--throughputs"});
  const Result result = shell(base + "--throughputs thr.json --json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["runs"][0]["sum_jct_s"], 50 + 360);
  folder.write("none.json", R"x({"v100": {"('LM', 1)": {"null": 2}}})x");
  expect_simulate_refused(
      shell(base + "--throughputs none.json"),
      {"jobs.trace:1", "('A3C', 1)", "first of 2 such jobs", "--skip-unusable"});
}

TEST(Simulate, NotesMeasurementsWithoutEffect) {
  const Folder folder;
  folder.write("jobs.csv", kSimulatedJobs);
  folder.write("m.txt", "no measurements");
  for (const std::string option : {"--throughputs", "--rates"}) {
    const Result result = shell(
        "yardmaster simulate --trace jobs.csv --cluster 1x4 --policy fifo " + option + " m.txt");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "note: jobs.csv: " + option +
                              " m.txt has no effect: no job takes its run time from this file\n");
  }
}

// Copies of the window's jobs keep the cluster busy, but are no jobs of the trace.
TEST(Simulate, NotesUnscoredCopies) {
  const Folder folder;
  folder.write("jobs.csv", kSimulatedJobs);
  const std::string run = "yardmaster simulate --trace jobs.csv --cluster 1x4 --policy fifo ";
  const Result with = shell(run + "--from 0");
  EXPECT_THAT(with.out, HasSubstr("jobs.csv (3 jobs, 3 scored) on 1x4"));
  EXPECT_EQ(with.err,
            "note: 9 unscored copies of the window's 3 jobs follow it, so that the last scored "
            "jobs meet a full cluster\n");
  EXPECT_EQ(Json::parse(shell(run + "--from 0 --json").out)["trace"]["jobs_copied"], 9);
  const Result without = shell(run);
  EXPECT_THAT(without.out, HasSubstr("jobs.csv (3 jobs, 3 scored) on 1x4"));
  EXPECT_EQ(without.err, "");
}

TEST(Simulate, RunsRlSchedulerRules) {
  const Folder folder;
  folder.write("jobs.csv",
               "job_id,submission_time,duration,num_gpu\n"
               "1,0,100,3\n2,10,50,4\n3,20,70,1\n");
  const std::string base =
      "yardmaster simulate --trace jobs.csv --cluster 4x1 --rules rlscheduler --json ";
  const auto sum = [](const Result& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    return Json::parse(result.out)["runs"][0]["sum_jct_s"].get<int>();
  };
  EXPECT_EQ(sum(shell(base + "--policy fcfs")), 100 + 140 + 200);
  EXPECT_EQ(sum(shell(base + "--policy fcfs --set backfill=1")), 100 + 140 + 70);
  EXPECT_EQ(sum(shell(base + "--policy sjf,smallest --set rules.backfill=0")), 100 + 140 + 200);
  expect_simulate_refused(shell(base + "--policy fcfs --set backfill=2"), {"backfill", "2"});
}

TEST(Simulate, SettingsReachOnlyPolicyAndGenerator) {
  const std::string base =
      "yardmaster simulate --trace synthetic:habits --generate-jobs 200 --cluster 2x8 --json ";
  const Result plain = shell(base + "--policy las");
  const Result set = shell(base + "--policy las --set las.limit_1_gpu_s=60");
  const Result load = shell(base + "--policy las --set trace.load=0.2");
  ASSERT_EQ(set.code, 0) << set.err;
  ASSERT_EQ(load.code, 0) << load.err;
  const auto sum = [](const Result& result) {
    return Json::parse(result.out)["runs"][0]["sum_jct_s"];
  };
  EXPECT_NE(sum(plain), sum(set));
  EXPECT_LT(sum(load), sum(plain));
  expect_simulate_refused(shell(base + "--policy las --set fifo.x=1"), {"fifo.x", "las"});
  expect_simulate_refused(shell(base + "--policy las --set las.limt=1"), {"limt", "limit_1_gpu_s"});
  expect_simulate_refused(shell(base + "--policy las --set las.limit_1_gpu_s=much"), {"much"});
}

TEST(Simulate, RejectsUnknownNames) {
  const Folder folder;
  folder.write("jobs.csv", kSimulatedJobs);
  const std::string base = "yardmaster simulate --trace jobs.csv --cluster 1x4 ";
  expect_simulate_refused(shell(base + "--policy nobody"), {"nobody", "fifo"});
  expect_simulate_refused(shell(base + "--policy fifo --placement nowhere"),
                          {"nowhere", "first-fit"});
  expect_simulate_refused(shell(base + "--policy fifo --rules none"), {"none", "tiresias"});
  expect_simulate_refused(shell(base + "--policy fifo --information some"), {"some", "blind"});
  expect_simulate_refused(shell(base + "--policy srtf --information blind"), {"srtf", "blind"});
  expect_simulate_refused(shell(base + "--policy fifo --bogus"), {"--bogus", "--help"});
  expect_simulate_refused(shell(base), {"--policy"});
  expect_simulate_refused(shell(base + "--policy fifo,fifo"), {"fifo", "twice"});
  expect_simulate_refused(shell(base + "--policy fifo --cost-scale -1"), {"--cost-scale", "-1"});
  expect_simulate_refused(shell(base + "--policy fifo --congestion 0"), {"--congestion"});
  expect_simulate_refused(shell(base + "--policy fifo --jobs-from 9"), {"--jobs-from", "9"});
  expect_simulate_refused(shell(base + "--policy tuned.yaml"), {"tuned.yaml"});
  expect_simulate_refused(shell(base + "--policy checkpoint:none"), {"none"});
  expect_simulate_refused(shell("yardmaster simulate --trace jobs.csv --cluster 0x4 --policy fifo"),
                          {"0x4"});
  expect_simulate_refused(shell("yardmaster simulate --trace none.csv --cluster 1x4 --policy fifo"),
                          {"none.csv", "No such file"});
}

TEST(Simulate, RefusesBrokenTracesAndWritesNothing) {
  const Folder folder;
  folder.write("negative.csv", std::string(kSimulatedJobs) + "d,30,-5,1\ne,40,-6,1\n");
  folder.write("large.csv", std::string(kSimulatedJobs) + "d,30,5,64\ne,40,6,32\n");
  gzFile packed = gzopen("cut.csv.gz", "wb");
  std::string many = kSimulatedJobs;
  for (int i = 0; i < 2000; ++i)
    many += std::to_string(i) + "," + std::to_string(i * 7) + ",50,1\n";
  gzwrite(packed, many.data(), static_cast<unsigned>(many.size()));
  gzclose(packed);
  const std::string whole_gzip = [] {
    std::ifstream file("cut.csv.gz", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  folder.write("cut.csv.gz", whole_gzip.substr(0, whole_gzip.size() / 2));
  const std::string rest = " --cluster 1x8 --policy fifo --jobs-out out.csv --timeline t.json";
  const auto run = [&](const std::string& trace) {
    return shell("yardmaster simulate --trace " + trace + rest);
  };
  expect_simulate_refused(run("negative.csv"), {"negative.csv:5", "-5", "2 unusable rows"});
  expect_simulate_refused(run("cut.csv.gz"), {"cut.csv.gz", "truncated"});
  expect_simulate_refused(run("large.csv"),
                          {"large.csv:5", "64", "2 such jobs", "--skip-unusable"});
  EXPECT_FALSE(folder.has("out.csv"));
  EXPECT_FALSE(folder.has("t.json"));
  EXPECT_EQ(folder.leftovers(), 0);

  const Result skipped = run("large.csv --skip-unusable --json");
  ASSERT_EQ(skipped.code, 0) << skipped.err;
  const Json json = Json::parse(skipped.out);
  EXPECT_EQ(json["trace"]["skipped"], 2);
  EXPECT_EQ(json["runs"][0]["jobs"], 3);
  EXPECT_THAT(skipped.err, HasSubstr("left out: 2"));
  EXPECT_TRUE(folder.has("out.csv"));
  EXPECT_EQ(Json::parse(read_file("t.json"))["traceEvents"].empty(), false);
}

TEST(Simulate, FullDiskFailsAndKeepsTheOldFile) {
  const Folder folder;
  folder.write("out.csv", "old\n");
  const std::string command =
      "yardmaster simulate --trace synthetic:xv --cluster 8x8 --policy fifo ";
  const Result full = shell(command + ">/dev/full");
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("standard output"));
  // 4 KiB are too small for 480 rows.
  const Result small = shell("trap '' XFSZ; ulimit -f 8; " + command + "--jobs-out out.csv");
  EXPECT_EQ(small.code, 1);
  EXPECT_THAT(small.err, HasSubstr("out.csv"));
  EXPECT_THAT(small.out, HasSubstr("fifo"));  // the result was printed at least
  EXPECT_EQ(read_file("out.csv"), "old\n");
  EXPECT_EQ(folder.leftovers(), 0);
}

TEST(Simulate, ClosedPipeDoesNotPreventFileOutput) {
  const Folder folder;
  const Result gone = shell(
      "(yardmaster simulate --trace synthetic:xv --cluster 8x8 --policy fifo --jobs-out out.csv; "
      "echo $? > code) | true");
  EXPECT_EQ(read_file("code"), "0\n") << "the run itself has completed";
  EXPECT_EQ(gone.err, "");
  EXPECT_TRUE(folder.has("out.csv"));
  EXPECT_EQ(folder.leftovers(), 0);
}

TEST(Simulate, TiresiasTimelinesContainAllWork) {
  const Folder folder;
  for (const std::string placement : {"yarn", "count"}) {
    const Result result = shell(
        "yardmaster simulate --trace synthetic:xv --cluster 8x8 --rules tiresias --policy fifo "
        "--timeline t.json --jobs-out out.csv --placement " +
        placement);
    ASSERT_EQ(result.code, 0) << result.err;
    int64_t requested_us = 0, held_us = 0;
    const std::string csv = read_file("out.csv");
    for (const std::string_view line : split(csv, '\n')) {
      const auto fields = split(line, ',');
      if (fields[0] != "fifo") continue;
      requested_us +=
          *parse_int(fields[2]) * (*parse_seconds_us(fields[5]) - *parse_seconds_us(fields[4]));
    }
    const Json json = Json::parse(read_file("t.json"));
    for (const Json& event : json["traceEvents"]) {
      if (event["ph"] == "X") held_us += event["dur"].get<int64_t>();
    }
    EXPECT_EQ(held_us, requested_us) << placement;
  }
}

// Sends the signal only once the handler is installed, that is, once the shell has become the
// program.
TEST(Simulate, InterruptedRunWritesNothing) {
  const Folder folder;
  ASSERT_EQ(shell("yardmaster trace generate synthetic:habits --jobs 500000 --out big.csv").code,
            0);
  for (const char* command :
       {"tune --policy las --trace synthetic:habits --cluster 8x8 --budget 1000000 --out t.yaml",
        "trace convert big.csv --out t.csv",
        "trace generate --like big.csv --to 100% --jobs 4000000 --out t.csv"}) {
    const Result result =
        shell(std::string("yardmaster ") + command +
              " & P=$!\n"
              "while kill -0 $P 2>/dev/null && ! { grep -qs yardmaster-sim /proc/$P/comm &&\n"
              "  grep -qs 'SigCgt:.*[2367abef]$' /proc/$P/status; }; do sleep 0.01; done\n"
              "kill -INT $P; wait $P");
    EXPECT_EQ(result.code, 130) << command << result.err;
    EXPECT_EQ(result.err, "yardmaster: interrupted\n") << command;
    for (const char* file : {"t.csv", "t.yaml"}) EXPECT_FALSE(folder.has(file));
  }
}

// Faults are drawn for as long as jobs run, here far beyond the last arrival.
TEST(Faults, AreDrawnWhileJobsRun) {
  const Folder folder;
  folder.write("jobs.csv", "job_id,submit_s,run_s,gpus\na,0,7200000,1\n");
  const std::string play =
      "yardmaster simulate --trace jobs.csv --cluster 1x1 --policy fifo --json "
      "--set faults.gpu_mtbf_h=20 ";
  int64_t failures = 0;
  double hours = 0;
  for (int seed = 1; seed <= 6; ++seed) {
    const Result result = shell(play + "--seed " + std::to_string(seed));
    ASSERT_EQ(result.code, 0) << result.err;
    const Json run = Json::parse(result.out)["runs"][0];
    failures += run["failures"].get<int64_t>();
    hours += run["makespan_s"].get<double>() / 3600;
  }
  // On average 20 h up and 4 h down. The standard deviation is 3 %.
  EXPECT_NEAR(static_cast<double>(failures), hours / 24, 0.12 * hours / 24);
  const Result cut = shell(play + "--set faults.until_h=100");
  ASSERT_EQ(cut.code, 0) << cut.err;
  EXPECT_LT(Json::parse(cut.out)["runs"][0]["failures"], 15);
  // The GPU is slower than assumed. Outputs must not include a replay which was discarded.
  folder.write("slow.yaml",
               "gpu_types: {s: {speed: 0.01}}\nnodes: [{count: 1, gpus: 1, type: s}]\n");
  const Result slow = shell(
      "yardmaster simulate --trace jobs.csv --cluster slow.yaml --policy fifo --json "
      "--set faults.gpu_mtbf_h=2000 --timeline t.json --metrics all");
  ASSERT_EQ(slow.code, 0) << slow.err;
  const Json run = Json::parse(slow.out)["runs"][0];
  EXPECT_NEAR(run["failures"], run["makespan_s"].get<double>() / 3600 / 2004, 60);
  EXPECT_NEAR(run["gpu_hours"]["all"].get<double>(), run["makespan_s"].get<double>() / 3600, 1e-3);
  // Most seeds have no fault within the assumed time, and about ten within the real one.
  for (int seed = 1; seed <= 5; ++seed) {
    const Result rare = shell(
        "yardmaster simulate --trace jobs.csv --cluster slow.yaml --policy fifo --json "
        "--set faults.gpu_mtbf_h=20000 --seed " +
        std::to_string(seed));
    ASSERT_EQ(rare.code, 0) << rare.err;
    EXPECT_GT(Json::parse(rare.out)["runs"][0]["failures"], 0) << "seed " << seed;
  }
}

// A preempting policy starts jobs early; the time stopped afterwards counts as a wait, too.
TEST(Whatif, WaitIncludesTimeStopped) {
  const Folder folder;
  folder.write("log.csv",
               "job_id,submit_s,run_s,gpus,logged_start_s,logged_end_s\n"
               "a,0,1000,4,0,1000\nb,10,100,4,1000,1100\n");
  const Result result =
      shell("yardmaster whatif --sacct log.csv --cluster 1x4 --policy fifo,srtf --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json out = Json::parse(result.out);
  EXPECT_EQ(out["logged"]["mean_wait_s"], 495);
  EXPECT_EQ(out["logged"]["mean_jct_s"], 495 + 550);
  EXPECT_EQ(out["runs"][0]["mean_wait_s"], 495);
  // The second job waits 10 s for the save, the first 10 + 100 + 30 s.
  EXPECT_EQ(out["runs"][1]["mean_wait_s"], (140 + 10) / 2.0);
  EXPECT_EQ(out["runs"][1]["mean_jct_s"], (140 + 10) / 2.0 + 550);
}

TEST(Whatif, ReadsSlurmLogAndInfersItsCluster) {
  const std::string log = "tests/data/sacct-22.05.txt";  // of a real Slurm
  const Result result = shell("yardmaster whatif --sacct " + log + " --json");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json out = Json::parse(result.out);
  EXPECT_TRUE(out["cluster_inferred"]);
  EXPECT_EQ(out["cluster"]["text"], "4x8:a100") << "one job requests this type";
  EXPECT_GT(out["cluster"]["gpus"], 0);
  EXPECT_GE(out["logged"]["mean_wait_s"], 0);
  ASSERT_EQ(out["runs"].size(), 5u);
  EXPECT_EQ(out["runs"][0]["policy"], "easy");
  EXPECT_EQ(shell("yardmaster whatif --sacct " + log + " --policy fifo").code, 0);
  expect_simulate_refused(shell("yardmaster whatif --sacct none.txt"), {"none.txt"});
  const Folder folder;
  folder.write("jobs.csv", "job_id,submit_s,run_s,gpus\na,0,10,1\n");
  expect_simulate_refused(shell("yardmaster whatif --sacct jobs.csv"), {"jobs.csv", "start"});
  folder.write("idle.csv",
               "job_id,submit_s,run_s,gpus,logged_start_s,logged_end_s\na,0,10,1,0,10\n");
  EXPECT_THAT(shell("yardmaster whatif --sacct idle.csv --policy fifo").out,
              HasSubstr("no job waited in the log"));
}

}  // namespace
}  // namespace yard::testing
