// What `simulate` reports of a replay beyond its table: figures computed by hand on small files,
// and figures of real traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr const char* kMetricsJobs =
    "job_id,submit_s,run_s,gpus,user,tenant,dues\n"
    "a,0,100,2,u,red,120:1\n"
    "b,10,50,4,v,blue,100:1\n"
    "c,20,5,1,u,red,\n";

constexpr const char* kCluster =
    "gpu_types:\n"
    "  v100: {busy_w: 300, idle_w: 50, price_per_h: 3.6}\n"
    "nodes:\n"
    "  - {count: 1, gpus: 4, type: v100}\n"
    "tenants:\n"
    "  - {name: red, quota_gpus: 2}\n";

// Expects exit code 2 and one line of errors which contains all of `said`.
void expect_metrics_refused(const Result& result, const std::vector<std::string>& said) {
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const std::string& part : said) EXPECT_THAT(result.err, HasSubstr(part));
}

// Returns the fields of a CSV without quotes, by row, without its header.
std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    auto& row = rows.emplace_back();
    for (const std::string_view field : split(line, ',')) row.emplace_back(field);
  }
  rows.erase(rows.begin());
  return rows;
}

Json runs_of(const std::string& arguments) {
  const Result result = shell("yardmaster simulate --json " + arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return result.code == 0 ? Json::parse(result.out)["runs"] : Json();
}

TEST(Metrics, MatchHandComputedValuesOfThreeJobs) {
  const Folder folder;
  folder.write("jobs.csv", kMetricsJobs);
  folder.write("lab.yaml", kCluster);
  // fifo: a holds 2 GPUs until 100 s, b all 4 until 150 s, c one until 155 s.
  const std::string base = "--trace jobs.csv --cluster lab.yaml --policy fifo ";
  const Json run = runs_of(base + "--metrics all --waits-out waits.csv")[0];
  const double gpu_h = 155 * 4 / 3600.0;
  EXPECT_NEAR(run["gpu_hours"]["all"], gpu_h, 1e-12);
  EXPECT_NEAR(run["gpu_hours"]["running"], (200 + 200 + 5) / 3600.0, 1e-12);
  EXPECT_NEAR(run["gpu_hours"]["idle"], (200 + 15) / 3600.0, 1e-12);
  EXPECT_NEAR(run["goodput"], 405.0 / 620, 1e-12);
  EXPECT_EQ(run["overhead"], 0);
  EXPECT_NEAR(run["energy_kwh"], (405 * 300 + 215 * 50) / 3.6e6, 1e-12);
  EXPECT_NEAR(run["cost"]["held"], 0.405, 1e-12);
  EXPECT_NEAR(run["cost"]["all"], 0.620, 1e-12);
  // Free: 2 GPUs for 100 s, 3 for 5 s. Of the tasks (2, 4 and 1 GPUs) only that of 4 cannot fit.
  EXPECT_NEAR(run["fragmentation"]["mean_free_gpus"], 215.0 / 155, 1e-12);
  EXPECT_NEAR(run["fragmentation"]["unusable"], 1.0 / 3, 1e-12);
  EXPECT_NEAR(run["fragmentation"]["partial"], 1, 1e-12);
  EXPECT_EQ(run["fragmentation"]["stranded"], 0);
  EXPECT_EQ(run["fragmentation"]["block"], 0);
  // x is GPU time run / GPU time of JCT: (200 + 5) / (200 + 135) of u, 200 / 560 of v.
  const double u = 205.0 / 335, v = 200.0 / 560;
  EXPECT_NEAR(run["fairness"]["jain_users"], (u + v) * (u + v) / (2 * (u * u + v * v)), 1e-12);
  EXPECT_EQ(run["deadlines"]["jobs"], 2);
  EXPECT_EQ(run["deadlines"]["met"], 1);
  EXPECT_EQ(run["deadlines"]["missed"], 1);
  EXPECT_EQ(run["deadlines"]["max_tardiness_s"], 40);  // b is due at 110 s
  ASSERT_EQ(run["tenants"].size(), 2u);
  EXPECT_EQ(run["tenants"][0]["tenant"], "blue");
  EXPECT_TRUE(run["tenants"][0]["quota_share"].is_null());
  EXPECT_NEAR(run["tenants"][1]["mean_gpus"], 205.0 / 155, 1e-12);
  EXPECT_NEAR(run["tenants"][1]["quota_share"], 205.0 / 155 / 2, 1e-12);
  EXPECT_TRUE(run["moved_bytes"].is_null()) << "unknown without profiles";

  EXPECT_EQ(read_file("waits.csv"),
            "policy,job_id,from_s,to_s,reason,detail,behind,from_time,to_time\n"
            "fifo,c,20,100,order,needs 1 GPUs; 2 free,b,,\n"
            "fifo,b,10,100,too-few-gpus,needs 4 GPUs; 2 free,a,,\n"
            "fifo,c,100,150,too-few-gpus,needs 1 GPUs; 0 free,b,,\n");
  ASSERT_EQ(run["waits"].size(), 2u);
  EXPECT_EQ(run["waits"][0]["reason"], "too-few-gpus");
  EXPECT_EQ(run["waits"][0]["jobs"], 2);
  EXPECT_EQ(run["waits"][0]["total_s"], 140);

  // Figures which need the state at every step are null without --metrics; the rest is the same.
  const Json plain = runs_of(base)[0];
  for (const char* key :
       {"gpu_hours", "goodput", "overhead", "fragmentation", "energy_kwh", "cost", "waits"}) {
    EXPECT_TRUE(plain[key].is_null()) << key;
  }
  EXPECT_EQ(plain["fairness"], run["fairness"]);
  EXPECT_EQ(plain["deadlines"], run["deadlines"]);
  EXPECT_EQ(plain["sum_jct_s"], run["sum_jct_s"]);
  // Figures whose input the files lack are null, too.
  folder.write("bare.csv", "job_id,submit_s,run_s,gpus\na,0,100,2\n");
  const Json bare = runs_of("--trace bare.csv --cluster 1x4 --policy fifo --metrics all")[0];
  for (const char* key : {"deadlines", "tenants", "energy_kwh", "cost", "moved_bytes"}) {
    EXPECT_TRUE(bare[key].is_null()) << key;
  }
}

TEST(Metrics, TablesShowAllRequestedMetrics) {
  const Folder folder;
  folder.write("jobs.csv", kMetricsJobs);
  folder.write("lab.yaml", kCluster);
  const Result all = shell(
      "yardmaster simulate --trace jobs.csv --cluster lab.yaml --policy fifo,las --metrics all");
  ASSERT_EQ(all.code, 0) << all.err;
  for (const char* part : {"GPU hours", "goodput", "fragmentation", "rho_mean", "deadlines",
                           "energy_kwh", "cost", "tenants, fifo", "1 of 1", "waiting, las"}) {
    EXPECT_THAT(all.out, HasSubstr(part));
  }
  const Result basic =
      shell("yardmaster simulate --trace jobs.csv --cluster lab.yaml --policy fifo,las");
  EXPECT_THAT(all.out, ::testing::StartsWith(basic.out.substr(0, 100)));
  EXPECT_EQ(basic.out.find("GPU hours"), std::string::npos);
}

TEST(Metrics, ContradictoryOptionsAreRejected) {
  const Folder folder;
  folder.write("jobs.csv", kMetricsJobs);
  const std::string base = "yardmaster simulate --trace jobs.csv --cluster 1x4 --policy fifo ";
  expect_metrics_refused(shell(base + "--metrics some"), {"--metrics", "some", "all"});
  expect_metrics_refused(shell(base + "--dump-at 5"), {"--dump-at", "--dump-out"});
  expect_metrics_refused(shell(base + "--dump-out d.json"), {"--dump-out", "--dump-at"});
  expect_metrics_refused(shell(base + "--dump-out d.json --dump-at 5,soon"), {"--dump-at", "soon"});
  expect_metrics_refused(shell(base + "--dump-out d.json --dump-at -1"), {"--dump-at", "-1"});
  expect_metrics_refused(shell(base + "--dump-out d.json --dump-at 5,156"),
                         {"--dump-at", "155", "156"});
  expect_metrics_refused(shell(base + "--waits-out none/w.csv"), {"none/w.csv"});
  expect_metrics_refused(shell(base + "--timeline ."), {"the path of a regular file"});
  EXPECT_FALSE(folder.has("d.json"));
  EXPECT_EQ(folder.leftovers(), 0);
}

TEST(Metrics, FullDiskLeavesNoPartialFile) {
  const Folder folder;
  folder.write("waits.csv", "old\n");
  const std::string command =
      "trap '' XFSZ; ulimit -f 8; yardmaster simulate --trace synthetic:xv --cluster 4x8 --policy "
      "fifo ";
  for (const char* file : {"waits.csv", "t.json"}) {
    const char* option = file[0] == 'w' ? "--waits-out " : "--timeline ";
    const Result result = shell(command + option + file);
    EXPECT_EQ(result.code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(file));
  }
  // The first file would fit; the second does not.
  EXPECT_EQ(shell(command + "--series-out s.csv --waits-out waits.csv").code, 1);
  EXPECT_EQ(read_file("waits.csv"), "old\n");
  for (const char* file : {"t.json", "s.csv"}) EXPECT_FALSE(folder.has(file));
  EXPECT_EQ(folder.leftovers(), 0);
}

TEST(Dump, TimeAfterOnePolicysEndIsShownForTheOther) {
  const Folder folder;
  folder.write("jobs.csv", "job_id,submit_s,run_s,gpus\na,0,100,4\nb,1,10,4\n");
  // fifo ends at 110 s. srtf preempts job a at 1 s, which costs 40 s, and ends at 150 s.
  const std::string play = "yardmaster simulate --trace jobs.csv --cluster 1x4 --dump-out d.json ";
  ASSERT_EQ(shell(play + "--policy fifo,srtf --dump-at 105,130").code, 0);
  const Json dumps = Json::parse(read_file("d.json"))["dumps"];
  ASSERT_EQ(dumps.size(), 2u);
  for (const Json& dump : dumps) EXPECT_EQ(dump["states"].size(), 2u);
  EXPECT_EQ(dumps[0]["states"][1]["finished"], 2);
  EXPECT_TRUE(dumps[0]["states"][1]["jobs"].empty());
  EXPECT_EQ(dumps[1]["states"][1]["jobs"].size(), 1u);
  expect_metrics_refused(shell(play + "--policy fifo --dump-at 130"),
                         {"--dump-at", "0 to 110", "130"});
}

// Waits include the time before the rule set's next round first considers a job.
TEST(Waits, CoverAllTimeBeforeStartsUnderRoundBasedRules) {
  const Folder folder;
  folder.write("jobs.csv",
               "job_id,submit_s,run_s,gpus\na,0.25,100,8\nb,10.5,500,8\nc,20,300,4\nd,333,50,4\n");
  for (const char* rules : {"blox", "tiresias", "accasim"}) {
    ASSERT_EQ(
        shell(std::string("yardmaster simulate --trace jobs.csv --cluster 1x8 --policy fifo "
                          "--waits-out w.csv --jobs-out j.csv --dump-at 350 --dump-out d.json "
                          "--rules ") +
              rules)
            .code,
        0)
        << rules;
    std::map<std::string, double> waited, started;
    for (const auto& row : rows_of(read_file("w.csv"))) {
      waited[row[1]] += std::stod(row[3]) - std::stod(row[2]);
      EXPECT_TRUE(row[4] != "next-round" || row[5].empty());
    }
    for (const auto& row : rows_of(read_file("j.csv"))) {
      EXPECT_NEAR(waited[row[1]], std::stod(row[4]) - std::stod(row[3]), 1e-6)
          << rules << ", job " << row[1];
    }
  }
}

TEST(Dump, GivesWaitReasonsUnderPublishedRules) {
  const Folder folder;
  const Result result = shell(
      "yardmaster simulate --trace synthetic:xv --cluster 2x8 --rules tiresias --policy dlas-gpu "
      "--placement yarn --dump-at 40000,80000 --dump-out d.json --waits-out w.csv --jobs-out j.csv "
      "--series-out s.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json dump = Json::parse(read_file("d.json"))["dumps"][0];
  EXPECT_EQ(dump["rules"], "tiresias");
  ASSERT_EQ(dump["states"].size(), 2u);
  int64_t waiting = 0;
  for (const Json& state : dump["states"]) {
    for (const Json& job : state["jobs"]) {
      EXPECT_EQ(job.contains("reason"), job["phase"] == "waiting");
      waiting += job["phase"] == "waiting";
    }
  }
  EXPECT_EQ(waiting, dump["states"][0]["waiting"].get<int64_t>() +
                         dump["states"][1]["waiting"].get<int64_t>());
  EXPECT_GT(waiting, 0);
  // Total wait equals total JCT minus total run time: nothing costs time in this run.
  double waited_s = 0, jct_s = 0;
  const std::string waits_csv = read_file("w.csv");
  for (const std::string_view line : split(waits_csv, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() < 6 || fields[0] == "policy") continue;
    waited_s +=
        static_cast<double>(*parse_seconds_us(fields[3]) - *parse_seconds_us(fields[2])) / 1e6;
  }
  const std::string jobs_csv = read_file("j.csv");
  for (const std::string_view line : split(jobs_csv, '\n')) {
    const auto fields = split(line, ',');
    if (fields.size() < 11 || fields[0] == "policy") continue;
    jct_s += static_cast<double>(*parse_seconds_us(fields[7])) / 1e6;
  }
  EXPECT_GT(waited_s, 0);
  EXPECT_LT(waited_s, jct_s);
  EXPECT_EQ(std::ranges::count(read_file("s.csv"), '\n'), 241);
}

TEST(RealTraces, FragmentationOfOpenbsPods) {
  const auto file = traces_dir() / "alibaba-openb-2023/openb_pod_list_gpushare40.csv.gz";
  YARD_NEEDS(data, std::filesystem::exists(file), file.string() + " is not there");
  // Arrivals are spaced as in FGD's experiments: pods come and stay until the cluster is full.
  const Json run = runs_of("--trace " + file.string() +
                           " --cluster openb --policy greedy --placement best-fit --metrics all "
                           "--skip-unusable --set trace.gap_s=1 --set trace.run_s=7000")[0];
  const Json& fragmentation = run["fragmentation"];
  for (const char* key : {"unusable", "partial", "stranded", "block"}) {
    EXPECT_GE(fragmentation[key], 0) << key;
    EXPECT_LE(fragmentation[key], 1) << key;
  }
  EXPECT_GT(fragmentation["unusable"], fragmentation["stranded"])
      << "GPUs that no job can use are of no use to the next job";
  EXPECT_GT(run["gpu_hours"]["unshared"], 0) << "shares leave a remainder";
  const Json& hours = run["gpu_hours"];
  EXPECT_NEAR(hours["running"].get<double>() + hours["starting"].get<double>() +
                  hours["unshared"].get<double>(),
              run["utilisation"].get<double>() * hours["all"].get<double>(), 1e-6);
}

TEST(RealTraces, DeadlinesOfElasticFlowAndChronus) {
  for (const char* name :
       {"elasticflow/philly_103959.csv.gz", "philly-2017/chronus/trace_job_Philly_SLO.csv.gz"}) {
    const auto file = traces_dir() / name;
    YARD_NEEDS(data, std::filesystem::exists(file), file.string() + " is not there");
    for (const Json& run : runs_of("--trace " + file.string() +
                                   " --cluster 8x8 --policy fifo,srtf --skip-unusable "
                                   "--jobs-from 0 --jobs-count 150")) {
      const Json& due = run["deadlines"];
      ASSERT_FALSE(due.is_null()) << name;
      EXPECT_EQ(due["jobs"].get<int>(),
                due["met"].get<int>() + due["missed"].get<int>() + due["open"].get<int>());
      EXPECT_GT(due["jobs"], 100);
      EXPECT_GT(due["missed"].get<int>(), 0) << "a deadline may be shorter than the run";
    }
  }
}

TEST(RealTraces, TenantsOfPhilly) {
  const auto file = traces_dir() / "philly-2017/philly.csv.gz";
  YARD_NEEDS(data, std::filesystem::exists(file), file.string() + " is not there");
  const Json run = runs_of("--trace " + file.string() +
                           " --cluster 16x8 --policy las --skip-unusable --jobs-from 5000 "
                           "--jobs-count 200 --metrics all")[0];
  ASSERT_GT(run["tenants"].size(), 5u);
  int64_t jobs = 0;
  double gpu_h = 0;
  for (const Json& tenant : run["tenants"]) {
    jobs += tenant["jobs"].get<int64_t>();
    gpu_h += tenant["gpu_hours"].get<double>();
  }
  EXPECT_EQ(jobs, run["jobs"]);
  const double held_h =
      run["gpu_hours"]["running"].get<double>() + run["gpu_hours"]["starting"].get<double>();
  EXPECT_LE(gpu_h, held_h * (1 + 1e-9));
  EXPECT_GT(run["fairness"]["jain_tenants"], 0);
  EXPECT_LE(run["fairness"]["jain_tenants"], 1);
}

}  // namespace
}  // namespace yard::testing
