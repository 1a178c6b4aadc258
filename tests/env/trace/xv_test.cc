// The generated cross-validation workload: its totals and hashes, and the published files row by
// row if they are available.
#include <gtest/gtest.h>

#include <string>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/require.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

// Computed by another program from the same formula; sha256 covers lines `id,gpus,submit,run`.
struct Expected {
  int jobs;
  int64_t gpus, submit_s, run_s;
  const char* sha256;
};

const Expected kExpected[] = {
    {480, 1740, 48385080, 3681823,
     "8ee1c5a864cdd3bf09aad41373ea9d0aa3de34d765a8f9cc185e09a590c10291"},
    {2000, 6830, 837927715, 15186305,
     "3e69905c5bc0481e871fe0a7e0ccbdf6f38457610a6af9bee9c7c1faeed07b5e"},
    {10000, 34718, 21158254386, 81035764,
     "f0ff0f6e0dcd3a3931f071709d497c3e9e3ada1592a6b91db692680fbae1fe85"},
};

TEST(Xv, SumsAndHashesMatchTheFormula) {
  for (const Expected& expected : kExpected) {
    SCOPED_TRACE(expected.jobs);
    const Trace trace = load_trace("synthetic:xv", {.jobs = expected.jobs});
    ASSERT_EQ(trace.jobs.size(), static_cast<size_t>(expected.jobs));
    int64_t gpus = 0, submit_us = 0, run_us = 0;
    std::string lines;
    for (const Job& job : trace.jobs) {
      gpus += job.gpus;
      submit_us += job.submit_us;
      run_us += job.run_us;
      lines += job.id + "," + std::to_string(job.gpus) + "," +
               std::to_string(job.submit_us / kUsPerS) + "," +
               std::to_string(job.run_us / kUsPerS) + "\n";
    }
    EXPECT_EQ(gpus, expected.gpus);
    EXPECT_EQ(submit_us, expected.submit_s * kUsPerS);
    EXPECT_EQ(run_us, expected.run_s * kUsPerS);
    EXPECT_EQ(sha256_hex(lines), expected.sha256);
  }
}

TEST(Xv, HasAFixedSizeAndNoSeedOrSettings) {
  EXPECT_EQ(load_trace("synthetic:xv", {}).jobs.size(), 480u);
  const Trace one = load_trace("synthetic:xv", {.seed = 1});
  const Trace two = load_trace("synthetic:xv", {.seed = 2});
  EXPECT_EQ(one.jobs.back().run_us, two.jobs.back().run_us);
  EXPECT_THROW(load_trace("synthetic:xv", {.jobs = -1}), InputError);
  LoadOptions options;
  options.settings.set("load", "1", "command line");
  EXPECT_THROW(load_trace("synthetic:xv", options), InputError);
}

TEST(Xv, EqualsThePublishedFiles) {
  YARD_NEEDS_XVAL();
  for (const auto& [file, count] : {std::pair{"xv480.csv", 480}, std::pair{"xv10k.csv", 10000}}) {
    SCOPED_TRACE(file);
    const Trace read = load_trace(testing::xval_dir() / file, {});
    const Trace made = load_trace("synthetic:xv", {.jobs = count});
    ASSERT_EQ(read.jobs.size(), made.jobs.size());
    for (size_t j = 0; j < read.jobs.size(); ++j) {
      ASSERT_EQ(read.jobs[j].id, made.jobs[j].id);
      ASSERT_EQ(read.jobs[j].submit_us, made.jobs[j].submit_us) << j;
      ASSERT_EQ(read.jobs[j].run_us, made.jobs[j].run_us) << j;
      ASSERT_EQ(read.jobs[j].gpus, made.jobs[j].gpus) << j;
      ASSERT_EQ(read.jobs[j].name, made.jobs[j].name) << j;
    }
  }
}

}  // namespace
}  // namespace yard
