// Jobs from Helios' load by the minute: rows computed by hand. Counts recomputed from the jobs must
// equal the published ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/lines.h"
#include "env/base/text/text.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/require.h"

namespace yard {
namespace {

constexpr int64_t kMinuteUs = 60'000'000;

// Small jobs: running, pending, GPUs of both; then the same of large jobs.
std::string load_of(const std::vector<std::string>& minutes) {
  std::string text =
      "time,gpu_utilization,idle_gpu_num,running_job_num_less_8,pending_job_num_less_8,"
      "running_gpu_num_less_8,pending_gpu_num_less_8,running_job_num_noless_8,"
      "pending_job_num_noless_8,running_gpu_num_noless_8,pending_gpu_num_noless_8\n";
  for (size_t m = 0; m < minutes.size(); ++m) {
    text += "2020-05-01 00:0" + std::to_string(m) + ":00,0,0," + minutes[m] + "\n";
  }
  return text;
}

Trace parse(const std::vector<std::string>& minutes) {
  return parse_trace(load_of(minutes), "vc.csv", {});
}

// Returns "id gpus submitted started ended status" of each job, in minutes, one per line.
std::string jobs_text(const Trace& trace) {
  std::vector<std::string> lines;
  for (const Job& job : trace.jobs) {
    lines.push_back(job.id + " " + std::to_string(job.gpus) + " " +
                    std::to_string(job.submit_us / kMinuteUs) + " " +
                    std::to_string(job.logged_start_us / kMinuteUs) + " " +
                    std::to_string((job.logged_start_us + job.run_us) / kMinuteUs) +
                    (job.status.empty() ? "" : " " + job.status));
  }
  std::ranges::sort(lines);
  return join(lines, "\n");
}

TEST(HeliosLoad, CountChangesBecomeJobs) {
  // Two small jobs end one after the other. A large one waits and replaces another.
  const Trace trace = parse({"2,0,4,0, 1,0,8,0", "1,0,2,0, 1,1,8,16", "0,0,0,0, 1,0,16,0"});
  EXPECT_EQ(trace.format, "helios-load");
  EXPECT_EQ(jobs_text(trace),
            "l1 8 0 0 2 began earlier\n"
            "l2 16 1 2 2 still ran\n"
            "s1 2 0 0 2 began earlier\n"
            "s2 2 0 0 1 began earlier");
}

TEST(HeliosLoad, EndedJobIsTheLastWithTheFreedGpus) {
  // Requests for 1, 4 and 1 GPUs arrive; then 4 are freed, then 1.
  const Trace trace = parse({"1,0,1,0, 0,0,0,0", "2,0,5,0, 0,0,0,0", "3,0,6,0, 0,0,0,0",
                             "2,0,2,0, 0,0,0,0", "1,0,1,0, 0,0,0,0"});
  EXPECT_EQ(jobs_text(trace),
            "s1 1 0 0 4 still ran\n"
            "s2 4 1 1 3\n"
            "s3 1 2 2 4");
}

TEST(HeliosLoad, GpuChangeAloneIsAnEndAndAStart) {
  const Trace trace = parse({"1,0,1,0, 0,0,0,0", "1,0,3,0, 0,0,0,0"});
  EXPECT_EQ(jobs_text(trace), "s1 1 0 0 1 began earlier\ns2 3 1 1 1 still ran");
}

TEST(HeliosLoad, NewJobsShareGpusEvenlyInWholeNodes) {
  const Trace trace = parse({"1,0,1,0, 0,0,0,0", "4,0,8,0, 3,0,32,0", "0,0,0,0, 0,2,0,20"});
  EXPECT_EQ(jobs_text(trace),
            "l1 8 1 1 2\nl2 16 1 1 2\nl3 8 1 1 2\n"
            "s1 1 0 0 2 began earlier\ns2 2 1 1 2\ns3 3 1 1 2\ns4 2 1 1 2");
  ASSERT_EQ(trace.skipped.size(), 1u);
  EXPECT_EQ(trace.skipped[0].reason, "never started");
  EXPECT_EQ(trace.skipped[0].count, 2);
}

TEST(HeliosLoad, RowsOutOfOrderAreRefused) {
  std::string text = load_of({"1,0,1,0, 0,0,0,0", "0,0,0,0, 0,0,0,0"});
  text += "2020-05-01 00:01:00,0,0,0,0,0,0,0,0,0,0\n";
  try {
    parse_trace(text, "vc.csv", {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr(
                                  "vc.csv:4: column 1 (time): expected a time after the previous"));
  }
}

// Returns the number of jobs in the file.
size_t check_counts(const std::filesystem::path& path) {
  constexpr int64_t kMayS = 1'588'291'200;  // 2020-05-01, of the first row
  constexpr size_t kMinutes = 44'640;
  const Trace trace = load_trace(path, {});
  const int64_t zero_us = (trace.epoch_unix_s.value_or(0) - kMayS) * 1'000'000;
  struct Minute {
    int64_t running = 0, waiting = 0, gpus = 0;
  };
  std::vector<Minute> changes(kMinutes + 1);
  const auto at = [&](int64_t us) { return static_cast<size_t>((zero_us + us) / kMinuteUs); };
  for (const Job& job : trace.jobs) {
    const size_t start = at(job.logged_start_us);
    const size_t end = job.status == "still ran" ? kMinutes : at(job.logged_end_us);
    changes[at(job.submit_us)].waiting += 1, changes[start].waiting -= 1;
    changes[start].running += 1, changes[end].running -= 1;
    changes[start].gpus += job.gpus, changes[end].gpus -= job.gpus;
  }
  Lines lines = Lines::of_file(path);
  std::string_view line;
  EXPECT_TRUE(lines.next(line));
  std::map<std::string_view, size_t> columns;
  const std::string head(line);
  for (const std::string_view name : split(head, ',')) columns.emplace(name, columns.size());
  Minute now;
  int64_t wrong_running = 0, wrong_waiting = 0, wrong_gpus = 0, gpus = 0;
  for (size_t m = 0; lines.next(line); ++m) {
    const auto fields = split(line, ',');
    const auto of = [&](const char* name) { return *parse_int(fields[columns.at(name)]); };
    now.running += changes[m].running;
    now.waiting += changes[m].waiting;
    now.gpus += changes[m].gpus;
    wrong_running += now.running != of("running_job_num_less_8") + of("running_job_num_noless_8");
    wrong_waiting += now.waiting != of("pending_job_num_less_8") + of("pending_job_num_noless_8");
    const int64_t ran = of("running_gpu_num_less_8") + of("running_gpu_num_noless_8");
    wrong_gpus += std::abs(now.gpus - ran);
    gpus += ran;
  }
  EXPECT_EQ(wrong_running, 0);
  // Jobs which never started are left out.
  EXPECT_LE(wrong_waiting, trace.skipped.empty() ? 0 : 200);
  EXPECT_LT(static_cast<double>(wrong_gpus) / static_cast<double>(gpus), 0.03);
  return trace.jobs.size();
}

TEST(HeliosLoad, JobsReproduceThePublishedCounts) {
  YARD_NEEDS_TRACES();
  size_t jobs = 0, files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::traces_dir() / "helios-earth-load/earth")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("vc")) continue;
    SCOPED_TRACE(name);
    jobs += check_counts(entry.path());
    ++files;
  }
  EXPECT_EQ(files, 16u);
  EXPECT_EQ(jobs, 38'807u);
}

}  // namespace
}  // namespace yard
