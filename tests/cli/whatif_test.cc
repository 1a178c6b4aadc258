// whatif as an operator runs it: small logs by hand, and a month of a real log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A log of 4 GPUs: small jobs arrive steadily, and each tenth job needs all GPUs.
std::string queue_log(int jobs, bool limits, int times = 1) {
  std::ostringstream out;
  out << "job_id,submit_s,run_s,gpus,limit_s,user,logged_start_s,logged_end_s\n";
  for (int i = 0; i < jobs; ++i) {
    const bool large = i % 10 == 9;
    const int submit = times * 100 * i, run = times * (large ? 200 : 250 + 40 * (i % 7));
    out << "j" << i << ',' << submit << ',' << run << ',' << (large ? 4 : 1) << ',';
    if (limits) out << 2 * run;
    out << ',' << (large ? "grace" : "ada") << ',' << submit + 50 << ',' << submit + 50 + run
        << '\n';
  }
  return out.str();
}

Json whatif(const std::string& options) {
  const Result result = shell("yardmaster whatif --json " + options);
  EXPECT_EQ(result.code, 0) << result.err;
  return Json::parse(result.out);
}

void expect_whatif_refused(const std::string& options, const std::vector<std::string>& said) {
  SCOPED_TRACE(options);
  const Result result = shell("yardmaster whatif " + options);
  EXPECT_EQ(result.code, 2) << result.out;
  for (const std::string& part : said) EXPECT_THAT(result.err, HasSubstr(part));
}

// Mean waits from a --jobs-out file, by policy and GPUs: computed independently of whatif.
struct Mean {
  double sum = 0, longest = 0;
  int64_t jobs = 0;
};
std::map<std::pair<std::string, std::string>, Mean> means_of(const std::string& file) {
  std::map<std::pair<std::string, std::string>, Mean> out;
  std::istringstream in(read_file(file));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line,
            "policy,job_id,gpus,submit_s,start_s,end_s,wait_s,jct_s,preemptions,restarts,state");
  while (std::getline(in, line)) {
    const auto cells = split(line, ',');
    const double wait = parse_double(cells[6]).value_or(NAN);
    for (const std::string& gpus : {std::string(cells[2]), std::string("all")}) {
      Mean& mean = out[{std::string(cells[0]), gpus}];
      mean.sum += wait;
      mean.longest = std::max(mean.longest, wait);
      ++mean.jobs;
    }
  }
  return out;
}

TEST(Whatif, NamesLosersDespiteABetterMean) {
  const Folder folder;
  folder.write("log.csv", queue_log(300, true));
  const Json out = whatif("--sacct log.csv --cluster 1x4 --policy fifo,greedy --jobs-out jobs.csv");
  EXPECT_EQ(out["baseline"], "fifo");
  EXPECT_LT(out["runs"][1]["ratio"], 0.9);
  const Json& verdict = out["verdicts"][0];
  EXPECT_EQ(verdict["longer_sizes"], Json({"4"}));
  EXPECT_EQ(verdict["longer_users"], 1);
  EXPECT_EQ(verdict["users"], 2);
  EXPECT_EQ(verdict["longer_longest_wait"], true);
  auto means = means_of("jobs.csv");
  const Mean &before = means[{"fifo", "4"}], &after = means[{"greedy", "4"}];
  EXPECT_EQ(before.jobs, 30);
  EXPECT_NEAR(out["by_size"][1]["policies"][1]["ratio"], after.sum / before.sum, 1e-9);
  EXPECT_NEAR(out["runs"][1]["max_wait_s"], (means[{"greedy", "all"}].longest), 1e-6);
  const Result text = shell("yardmaster whatif --sacct log.csv --cluster 1x4 --policy fifo,greedy");
  EXPECT_THAT(text.out, HasSubstr(verdict["text"].get<std::string>().substr(0, 60)));
  EXPECT_THAT(text.out, HasSubstr("LONGER"));
  EXPECT_THAT(text.out,
              HasSubstr("fifo in place of the site's own scheduler: simulated mean wait"));
}

TEST(Whatif, ListsLimitationsOfTheLogFirst) {
  const Folder folder;
  folder.write("log.csv", queue_log(60, false));
  const Result result = shell("yardmaster whatif --sacct log.csv --policy easy,fifo,conservative");
  ASSERT_EQ(result.code, 0) << result.err;
  const size_t lacks = result.out.find("Limitations of the log, and assumptions:");
  ASSERT_NE(lacks, result.out.npos) << result.out;
  EXPECT_LT(lacks, result.out.find("mean wait s"));
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("the cluster is inferred: "), HasSubstr("no job has a time limit"),
                    HasSubstr("easy uses the limits of jobs"), HasSubstr("equal those of fifo"),
                    HasSubstr("a wait is counted from submit_s"),
                    HasSubstr("no job has a partition or queue")));
  EXPECT_THAT(result.out,
              HasSubstr("fifo instead of easy: every job has the same wait as under easy"));
  EXPECT_THAT(result.err, Not(HasSubstr("limits"))) << "printed once";
  const Json all_limitations = whatif("--sacct log.csv --policy easy,fifo,conservative")["lacks"];
  EXPECT_THAT(
      all_limitations.dump(),
      AllOf(HasSubstr("easy uses the limits of jobs, but no job of this trace has one: results "
                      "equal those of fifo"),
            HasSubstr("conservative uses the limits of jobs, but no job of this trace has one: "
                      "run times are estimated")));
  folder.write("eligible.txt",
               "JobID|User|Partition|Submit|Eligible|Start|End|Timelimit|State|ReqTRES|Priority\n"
               "1|u|gpu|2024-05-06T10:00:00|2024-05-06T10:00:00|2024-05-06T10:05:00|"
               "2024-05-06T12:05:00|1-00:00:00|COMPLETED|cpu=4,gres/gpu=8,node=1|7\n");
  EXPECT_THAT(shell("yardmaster whatif --sacct eligible.txt --cluster 1x8 --policy easy").out,
              Not(HasSubstr("Limitations of the log")));
  EXPECT_THAT(shell("yardmaster whatif --sacct eligible.txt --cluster 1x8 --policy easy --set "
                    "trace.arrival=Submit")
                  .out,
              HasSubstr("trace.arrival=Submit: jobs arrive at submission"));
}

TEST(Whatif, EveryCommandNotesThatEasyWithoutLimitsIsFifo) {
  const Folder folder;
  folder.write("none.csv", queue_log(60, false));
  folder.write("some.csv", queue_log(60, true));
  for (const std::string& command :
       std::vector<std::string>{"simulate --policy fifo,easy --trace",
                                "evaluate --candidate easy --against fifo --trace",
                                "whatif --policy fifo,easy --sacct"}) {
    SCOPED_TRACE(command);
    const auto said = [&](const std::string& log) {
      const Result result = shell("yardmaster " + command + " " + log + " --cluster 1x4");
      std::string both = result.out + result.err;  // whatif wraps its lines
      std::ranges::replace(both, '\n', ' ');
      return both;
    };
    EXPECT_THAT(said("none.csv"), HasSubstr("equal those of fifo"));
    EXPECT_THAT(said("some.csv"), Not(HasSubstr("equal those of fifo")));
  }
  const Json out = whatif("--sacct none.csv --cluster 1x4 --policy easy,fifo");
  EXPECT_EQ(out["runs"][1]["same"], true) << "without limits easy is fifo";
}

// With an order other than that of arrival, easy is not fifo.
TEST(Whatif, EasyByPriorityIsNotReportedAsFifo) {
  const Folder folder;
  folder.write("log.csv", queue_log(60, false));
  const Result result =
      shell("yardmaster whatif --sacct log.csv --policy fifo,easy --set easy.order=priority");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("easy uses the limits of jobs"));
  EXPECT_THAT(result.out, Not(HasSubstr("equal those of fifo")));
}

TEST(Whatif, SeparatesPreemptivePolicies) {
  const Folder folder;
  folder.write("log.csv", queue_log(200, true, 60));
  const std::string run = "--sacct log.csv --cluster 1x4 --policy easy,las,greedy,srtf ";
  const Json out = whatif(run);
  EXPECT_FALSE(out["runs"][0]["needs_checkpointing"]);
  EXPECT_TRUE(out["runs"][1]["needs_checkpointing"]);
  EXPECT_GT(out["runs"][1]["preemptions"], 0);
  EXPECT_GT(out["runs"][1]["preempted_jobs"], 0);
  EXPECT_FALSE(out["runs"][2]["needs_checkpointing"]);
  EXPECT_TRUE(out["runs"][3]["bound"]);
  EXPECT_THAT(std::string(out["verdicts"][0]["text"]), HasSubstr("needs checkpointing"));
  const std::string text = shell("yardmaster whatif " + run).out;
  const size_t starts = text.find("\ngreedy"), stops = text.find("need checkpointing"),
               las = text.find("\nlas"), bounds = text.find("which see true run times"),
               srtf = text.find("\nsrtf");
  EXPECT_LT(starts, stops);
  EXPECT_LT(stops, las);
  EXPECT_LT(las, bounds);
  EXPECT_LT(bounds, srtf);
  // On a cluster without preemption, no policy needs checkpointing.
  const Json held = whatif(run + "--allow start");
  for (const Json& one : held["runs"]) {
    EXPECT_EQ(one["preemptions"], 0) << one["policy"];
    EXPECT_FALSE(one["needs_checkpointing"]) << one["policy"];
  }
}

TEST(Whatif, ExplainsWhyKnownRunTimesAreNoBound) {
  const Folder folder;
  folder.write("log.csv", queue_log(60, true));
  folder.write("two.yaml",
               "gpu_types: {quick: {speed: 2}, slow: {speed: 1}}\n"
               "nodes: [{count: 1, gpus: 4, type: quick}, {count: 1, gpus: 4, type: slow}]\n");
  const std::string run = "--sacct log.csv --policy easy,srtf --cluster ";
  const Json plain = whatif(run + "1x4"), mixed = whatif(run + "two.yaml");
  EXPECT_TRUE(plain["no_bound"].is_null());
  EXPECT_TRUE(mixed["runs"][1]["knows_run_times"]);
  EXPECT_FALSE(mixed["runs"][1]["bound"]);
  EXPECT_THAT(std::string(mixed["no_bound"]), HasSubstr("GPU types"));
  EXPECT_THAT(std::string(mixed["verdicts"][0]["text"]),
              HasSubstr("It gives no bound here because of GPU"));
  for (const char* cluster : {"1x4", "two.yaml"}) {
    const Result text = shell("yardmaster whatif --report page.html " + run + cluster);
    EXPECT_THAT(text.out, HasSubstr("which see true run times"));
    EXPECT_THAT(text.out, Not(HasSubstr("a bound"))) << "jobs of four GPUs";
    EXPECT_THAT(read_file("page.html"), Not(HasSubstr("bounds, which")));
  }
}

// A log with start and run times is enough for waits and for the cluster's size.
TEST(Whatif, InfersTheClusterWithoutLoggedEnds) {
  const Folder folder;
  folder.write("log.txt",
               "JobID|Submit|Start|Elapsed|State|ReqTRES\n"
               "1|2024-05-06T10:00:00|2024-05-06T10:05:00|02:00:00|COMPLETED|gres/gpu=4,node=1\n"
               "2|2024-05-06T10:00:00|2024-05-06T11:05:00|02:00:00|COMPLETED|gres/gpu=4,node=1\n");
  EXPECT_EQ(whatif("--sacct log.txt --policy fifo")["cluster"]["gpus"], 8);
}

TEST(Whatif, AcceptsTunedFilesAndShortNames) {
  const Folder folder;
  folder.write("log.csv", queue_log(100, true));
  folder.write("tuned.yaml", "policy: easy\nsettings: {placement: best-fit}\n");
  const Json out = whatif(
      "--sacct log.csv --cluster 1x4 --policy easy,mine=tuned.yaml,fast=las,slow=las "
      "--set slow.placement=consolidate --jobs-out jobs.csv");
  EXPECT_EQ(out["runs"][1]["policy"], "mine");
  EXPECT_EQ(out["runs"][2]["policy"], "fast");
  EXPECT_EQ(out["runs"][3]["policy"], "slow");
  EXPECT_EQ((means_of("jobs.csv").count({"mine", "all"})), 1u);
}

TEST(Whatif, RejectsInvalidOptionsBeforePlaying) {
  const Folder folder;
  folder.write("log.csv", queue_log(20, true));
  const std::string log = "--sacct log.csv --cluster 1x4 ";
  expect_whatif_refused(log + "--policy fifo,easy,fifo",
                        {"--policy", "each name once", "'fifo' twice"});
  expect_whatif_refused(log + "--policy a=fifo,a=easy", {"each name once", "'a' twice"});
  expect_whatif_refused(log + "--policy a=", {"policy 'a='", "a policy after '='"});
  expect_whatif_refused(log + "--policy srtf,fifo", {"the site's own policy first", "'srtf'"});
  expect_whatif_refused(log + "--policy nosuch", {"nosuch"});
  expect_whatif_refused(log + "--policy fifo --report nosuch/page.html", {"nosuch"});
  expect_whatif_refused(log + "--policy fifo --jobs-out nosuch/jobs.csv", {"nosuch"});
  expect_whatif_refused(log + "--policy fifo --json-out nosuch/out.json", {"nosuch"});
  expect_whatif_refused(log + "--policy fifo --report log.csv",
                        {"--report", "a file other than that of --sacct"});
  expect_whatif_refused(log + "--policy fifo --report a --json-out a", {"a file other than"});
  folder.write("cpus.csv",
               "job_id,submit_s,run_s,gpus,logged_start_s,logged_end_s\na,0,10,0,0,10\n");
  expect_whatif_refused("--sacct cpus.csv --policy fifo",
                        {"cpus.csv", "trace.gpus_per_node=N", "no row that counts GPUs"});
  EXPECT_EQ(folder.leftovers(), 0);
}

TEST(Whatif, PageAndDocumentAgree) {
  const Folder folder;
  folder.write("log.csv", queue_log(300, true));
  const Result result = shell(
      "yardmaster whatif --sacct log.csv --cluster 1x4 --policy fifo,greedy,las,srtf "
      "--report page.html --json-out out.json --json");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_file("out.json"), result.out);
  const std::string page = read_file("page.html");
  EXPECT_THAT(page, HasSubstr("<h1>greedy instead of fifo: mean wait"));
  EXPECT_LT(page.find("<h2>Verdict"), page.find("<h2>Provenance"));
  EXPECT_THAT(page, HasSubstr(Json::parse(result.out)["trace"]["sha256"].get<std::string>()));
}

// `report` shows what the page of whatif shows, and each input's headline names the input.
TEST(Whatif, RunFolderAndReportHaveAllResults) {
  const Folder folder;
  folder.write("log.csv", queue_log(300, true));
  const Result result = shell(
      "yardmaster whatif --sacct log.csv --cluster 1x4 --policy fifo,greedy,las --out w "
      "&& yardmaster report w --out again.html && cp w/evaluations/whatif.json b.json "
      "&& yardmaster report w b.json --out both.html");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("report: w/report.html"));
  EXPECT_THAT(read_file("w/report.html"), HasSubstr("<h1>greedy instead of fifo: mean wait"));
  EXPECT_EQ(means_of("w/evaluations/jobs.csv").size(), 3 * 3U) << "1, 4 and all, of 3 policies";
  const std::string again = read_file("again.html");
  for (const char* said :
       {"<h2>Verdict", "Limitations of the log", "a wait is counted from submit_s",
        "jobs need checkpointing", "<li>las: ", "By job size", "4 GPUs, 30 jobs", "By user",
        "grace, 30 jobs"}) {
    EXPECT_THAT(again, HasSubstr(said));
  }
  EXPECT_THAT(read_file("both.html"), HasSubstr("<p class='headline'>w: greedy instead of fifo"));
}

// At most 8 GPUs were ever held.
constexpr const char* kFourJobs =
    "JobID|User|Partition|Submit|Eligible|Start|End|Elapsed|Timelimit|State|NNodes|AllocTRES|"
    "Priority\n"
    "1|ada|gpu|2024-05-06T10:00:00|2024-05-06T10:00:00|2024-05-06T10:00:00|2024-05-06T11:00:00|"
    "01:00:00|02:00:00|COMPLETED|1|billing=4,gres/gpu=4,node=1|5\n"
    "2|ada|gpu|2024-05-06T10:10:00|2024-05-06T10:10:00|2024-05-06T11:00:00|2024-05-06T12:00:00|"
    "01:00:00|02:00:00|COMPLETED|1|billing=8,gres/gpu=8,node=1|5\n"
    "3|bob|gpu|2024-05-06T10:20:00|2024-05-06T10:20:00|2024-05-06T12:00:00|2024-05-06T12:30:00|"
    "00:30:00|02:00:00|COMPLETED|1|billing=4,gres/gpu=4,node=1|5\n"
    "4|bob|gpu|2024-05-06T10:30:00|2024-05-06T10:30:00|2024-05-06T12:00:00|2024-05-06T13:00:00|"
    "01:00:00|02:00:00|COMPLETED|1|billing=4,gres/gpu=4,node=1|5\n";

// Copies of jobs would compete with the scored ones and change the verdict.
TEST(Whatif, WindowSimulatesOnlyJobsOfTheLog) {
  const Folder folder;
  folder.write("a.txt", kFourJobs);
  const std::string run = "--sacct a.txt --policy fifo,greedy,las --cluster 1x8 ";
  for (const char* window : {"", "--from 0", "--from 0 --to 2024-05-07"}) {
    SCOPED_TRACE(window);
    const Json out = whatif(run + window);
    EXPECT_EQ(out["runs"][0]["mean_wait_s"], 3600);
    EXPECT_EQ(out["runs"][1]["mean_wait_s"], 1800);
    EXPECT_EQ(out["runs"][1]["ratio"], 0.5);
    EXPECT_NEAR(out["runs"][2]["mean_wait_s"], 2013, 1);
    EXPECT_EQ(out["trace"]["jobs_played"], 4);
    EXPECT_EQ(out["trace"]["jobs_copied"], 0);
    EXPECT_THAT(out["lacks"].dump(), Not(HasSubstr("GPUs at once")));
    EXPECT_THAT(out["lacks"].dump(), Not(HasSubstr("in the window"))) << "all jobs are in it";
  }
  const Json inferred = whatif("--sacct a.txt --policy fifo --from 0");
  EXPECT_EQ(inferred["cluster"]["text"], "1x8");
  EXPECT_THAT(inferred["lacks"].dump(), Not(HasSubstr("GPUs at once")));
  EXPECT_THAT(whatif("--sacct a.txt --policy fifo --cluster 1x8 --to +1300")["trace"].dump(),
              AllOf(HasSubstr("\"jobs_played\":4"), HasSubstr("\"jobs_scored\":3")))
      << "the log's next job, though it is in the last fifth";
}

// A requeued job: 95 s of mean wait to the first start, and 1,195 s after it.
TEST(Whatif, NotesThatLostRunsAreNotSimulated) {
  const Folder folder;
  folder.write("log.csv",
               "job_id,submit_s,run_s,gpus,logged_start_s,logged_end_s\n"
               "1,0,600,8,60,3050\n2,3000,600,8,3130,3730\n");
  const Json out = whatif("--sacct log.csv --cluster 1x8 --policy fifo");
  EXPECT_EQ(out["logged"]["mean_wait_s"], 1290);
  EXPECT_THAT(out["lacks"].dump(),
              HasSubstr("1 of 2 jobs took longer from start to end than its run time (requeued or "
                        "suspended): this adds 1195 s to the mean logged wait, but is not "
                        "simulated, so the ratio to the log is too low"));
}

TEST(Whatif, RejectsALogWhoseJobsRanForNoTime) {
  const Folder folder;
  folder.write("log.csv",
               "job_id,submit_s,run_s,gpus,logged_start_s,logged_end_s,status\n"
               "1,0,0,8,60,60,COMPLETED\n");
  expect_whatif_refused(
      "--sacct log.csv --policy fifo",
      {"log.csv: expected --cluster, or jobs that ran for more than 0 s on GPUs, got "
       "only jobs that ended as soon as they had started"});
}

// Names in Latin-1, as in old logs.
TEST(Whatif, PageIsValidUtf8) {
  const Folder folder;
  folder.write("log.csv",
               "job_id,submit_s,run_s,gpus,user,logged_start_s,logged_end_s\n"
               "1,0,600,8,Jos\xE9,60,660\n2,30,600,8,Zo\xC3\xAB,660,1260\n");
  const Result result =
      shell("yardmaster whatif --sacct log.csv --cluster 1x8 --policy fifo,greedy --report p.html");
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string page = read_file("p.html");
  EXPECT_NO_THROW(static_cast<void>(Json(page).dump())) << "dump() rejects what is not UTF-8";
  EXPECT_THAT(page, AllOf(HasSubstr("Jos\xEF\xBF\xBD"), HasSubstr("Zo\xC3\xAB")));
}

// A month of TACC's Lonestar6, whole nodes of three GPUs each: the mean improves by two fifths, and
// large jobs wait longer.
TEST(Whatif, NamesLosersInAMonthOfLonestar6) {
  YARD_NEEDS_TRACES();
  const std::string log = (traces_dir() / "tacc-ls6-a100" / "ls6-a100.log.gz").string();
  const std::string at = std::filesystem::absolute(log).string();
  const Folder folder;
  const Json out = whatif("--sacct " + at +
                          " --skip-unusable --cluster 84x3 --set trace.gpus_per_node=3 "
                          "--from 2023-01-01 --to 2023-02-01 --policy easy,greedy,fifo "
                          "--jobs-out jobs.csv");
  EXPECT_LT(out["runs"][1]["ratio"], 0.65);
  EXPECT_NEAR(out["runs"][0]["max_wait_s"], 59171, 3600);
  EXPECT_NEAR(out["runs"][1]["max_wait_s"], 144311, 3600);
  const Json& verdict = out["verdicts"][0];
  EXPECT_EQ(verdict["policy"], "greedy");
  EXPECT_EQ(verdict["longer_longest_wait"], true);
  EXPECT_THAT(std::string(verdict["text"]), HasSubstr("jobs of exactly 24 GPUs (3."));
  EXPECT_GT(verdict["longer_users"], 0);
  // Computed from the jobs: exactly the losing sizes with at least 20 jobs are listed.
  auto means = means_of("jobs.csv");
  for (const char* policy : {"greedy", "fifo"}) {
    SCOPED_TRACE(policy);
    const Json& named = out["verdicts"][std::string(policy) == "greedy" ? 0 : 1]["longer_sizes"];
    for (const auto& [key, mean] : means) {
      if (key.first != policy || key.second == "all" || mean.jobs < 20) continue;
      const bool loses = mean.sum > 1.1 * means[{"easy", key.second}].sum;
      EXPECT_EQ(std::count(named.begin(), named.end(), key.second) > 0, loses) << key.second;
    }
  }
}

}  // namespace
}  // namespace yard::testing
