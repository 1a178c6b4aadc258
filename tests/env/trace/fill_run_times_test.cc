// Files of measurements: what is read, errors for invalid ones, and the run times which they give
// to jobs.
#include "env/trace/profiles/fill_run_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "env/base/core/error.h"
#include "env/trace/formats/load_trace.h"
#include "env/trace/profiles/goodputs.h"
#include "env/trace/profiles/throughputs.h"
#include "tests/support/measurements.h"
#include "tests/support/require.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::written;

template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// --- throughputs

// Readable JSON: 'LM, 2' stands for "('LM', 2)", any other 'text' for "text".
std::string json_of(const std::string& text) {
  const std::regex kind("'([^',]+), ([0-9]+)'"), plain("'([^',]+)'");
  std::string out = std::regex_replace(text, kind, "\"(@$1@, $2)\"");
  out = std::regex_replace(out, plain, "\"$1\"");
  std::replace(out.begin(), out.end(), '@', '\'');
  return out;
}

std::string throughputs_file(const std::string& text) { return written("t.json", json_of(text)); }

std::string error_in(const std::string& text) {
  return error_of([&] { Throughputs::load(throughputs_file(text)); });
}

const std::string kTable =
    "{'v100': {'LM (batch size 5), 2': {'null': 8, 'A3C, 2': [0.0, 3]},"
    "          'A3C, 1': {'null': 2}, 'A3C, 2': {'null': 4}, 'Slow, 1': {'null': 0}},"
    " 'v100_unconsolidated': {'A3C, 1': {'null': 99}},"
    " 'k80': {'A3C, 1': {'null': 1}}}";

TEST(Throughputs, AreReadByTypeKindAndCoLocation) {
  const Throughputs table = Throughputs::load(throughputs_file(kTable));
  EXPECT_THAT(table.types(), ElementsAre("k80", "v100", "v100_unconsolidated"));
  EXPECT_EQ(table.isolated_throughput("v100", {"LM (batch size 5)", 2}), 8);
  EXPECT_EQ(table.isolated_throughput("v100", {"LM (batch size 5)", 1}), std::nullopt);
  EXPECT_EQ(table.isolated_throughput("p100", {"A3C", 1}), std::nullopt);
  EXPECT_EQ(table.isolated_throughput("v100", {"Slow", 1}), 0) << "measured: it does not run";
  const auto pair = table.colocated_throughputs("v100", {"LM (batch size 5)", 2}, {"A3C", 2});
  ASSERT_TRUE(pair);
  EXPECT_EQ(*pair, std::make_pair(0.0, 3.0));
  EXPECT_FALSE(table.colocated_throughputs("v100", {"A3C", 2}, {"LM (batch size 5)", 2}))
      << "not in the file";
}

TEST(Throughputs, KindIsModelBatchSizeAndGpus) {
  Job job;
  job.model = "A3C";
  job.gpus = 4;
  EXPECT_EQ(Throughputs::text_of(Throughputs::kind_of(job)), "('A3C', 4)");
  job.batch_size = 16;
  EXPECT_EQ(Throughputs::text_of(Throughputs::kind_of(job)), "('A3C (batch size 16)', 4)");
}

TEST(Throughputs, ErrorsNameFileAndKey) {
  EXPECT_THAT(error_in("{"), AllOf(HasSubstr("t.json: expected JSON"), HasSubstr("byte")));
  EXPECT_THAT(error_in("[1]"), HasSubstr("t.json: expected an object of GPU types"));
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_THAT(error_of([&] { Throughputs::load(written("t.json", deep)); }),
              HasSubstr("got a deeply nested list"))
      << "deeper than the stack is";
  EXPECT_THAT(error_in("{}"), HasSubstr("at least one GPU type"));
  EXPECT_THAT(error_in("{'v100': {'A3C': {}}}"),
              AllOf(HasSubstr("t.json: v100: expected a job type"), HasSubstr("'A3C'")));
  EXPECT_THAT(error_in("{'v100': {'A3C, 0': {}}}"), HasSubstr("a job type"));
  EXPECT_THAT(
      error_in("{'v100': {'A3C, 1': {'null': -1}}}"),
      HasSubstr("t.json: v100: ('A3C', 1): null: expected steps per second, at least 0, got "
                "-1"));
  EXPECT_THAT(error_in("{'v100': {'A3C, 1': {'null': 1e999}}}"), HasSubstr("too large"));
  EXPECT_THAT(error_in("{'v100': {'A3C, 1': {'A3C, 1': [1]}}}"),
              HasSubstr("v100: ('A3C', 1): ('A3C', 1): expected two numbers, got [1]"));
  EXPECT_THAT(error_of([] { Throughputs::load("no/such.json"); }), HasSubstr("no/such.json"));
}

TEST(Throughputs, ReadsPublishedFilesCompletely) {
  YARD_NEEDS_TRACES();
  struct Real {
    const char* path;
    double resnet50;  // batch size 64 on a V100, read from the file by hand
    int zero_alone;
  };
  for (const Real& real : {Real{"gavel/simulation_throughputs.json.gz", 4.39, 3},
                           Real{"gavel/physical_cluster_throughputs.json.gz", 4.53, 4},
                           Real{"shockwave/tacc_throughputs.json.gz", 0, 10}}) {
    SCOPED_TRACE(real.path);
    const Throughputs table = Throughputs::load(testing::traces_dir() / real.path);
    EXPECT_EQ(table.types().size(), 6u);
    if (real.resnet50 > 0) {
      EXPECT_NEAR(*table.isolated_throughput("v100", {"ResNet-50 (batch size 64)", 1}),
                  real.resnet50, 0.01);
    }
    int zero = 0, kinds = 0;
    for (const std::string& type : table.types()) {
      for (const char* model : {"ResNet-18 (batch size 16)",
                                "ResNet-18 (batch size 32)",
                                "ResNet-18 (batch size 64)",
                                "ResNet-18 (batch size 128)",
                                "ResNet-18 (batch size 256)",
                                "ResNet-50 (batch size 16)",
                                "ResNet-50 (batch size 32)",
                                "ResNet-50 (batch size 64)",
                                "ResNet-50 (batch size 128)",
                                "Transformer (batch size 16)",
                                "Transformer (batch size 32)",
                                "Transformer (batch size 64)",
                                "Transformer (batch size 128)",
                                "Transformer (batch size 256)",
                                "A3C",
                                "LM (batch size 5)",
                                "LM (batch size 10)",
                                "LM (batch size 20)",
                                "LM (batch size 40)",
                                "LM (batch size 80)",
                                "Recommendation (batch size 512)",
                                "Recommendation (batch size 1024)",
                                "Recommendation (batch size 2048)",
                                "Recommendation (batch size 4096)",
                                "Recommendation (batch size 8192)",
                                "CycleGAN"}) {
        for (const int gpus : {1, 2, 4, 8}) {
          const auto alone = table.isolated_throughput(type, {model, gpus});
          kinds += alone.has_value();
          zero += alone == 0.0;
        }
      }
    }
    EXPECT_EQ(kinds, 5 * 83 + 77);
    EXPECT_EQ(zero, real.zero_alone);
  }
}

// --- rates

const std::string kColumns = "job,placement,epoch,goodput,next_progress,completion_epoch\n";

std::string error_in_rates(const std::string& rows) {
  return error_of([&] { GoodputTable::load(written("r.csv", kColumns + rows)); });
}

TEST(GoodputTable, IsReadByJobPlacementAndEpoch) {
  const GoodputTable rates = GoodputTable::load(
      written("r.csv", kColumns + "a,4+2,1,2.5,30,1\na,4+2,0,0.5,10,1\na,6,1,4,30,1\n"));
  EXPECT_EQ(rates.find("b"), nullptr);
  const JobGoodputs* a = rates.find("a");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(rates.find("a#2"), a);
  EXPECT_THAT(a->next_progress, ElementsAre(10, 30));
  EXPECT_THAT(a->placements.at("4+2"), ElementsAre(0.5, 2.5));
  EXPECT_THAT(a->placements.at("6"), ElementsAre(0, 4)) << "0: not in the file";
  // Epoch 0 was measured only on two nodes, epoch 1 on one.
  EXPECT_DOUBLE_EQ(a->isolated_run_s_on_fewest_nodes(), 10 / 0.5 + 20 / 4.0);
}

TEST(GoodputTable, IsolatedRunTimeUsesTheFewestNodes) {
  const GoodputTable rates = GoodputTable::load(written(
      "r.csv", kColumns + "a,3+3,0,1,60,0\na,4+2,0,2,60,0\na,4+1+1,0,3,60,0\nb,2,1,1,60,1\n"));
  EXPECT_DOUBLE_EQ(rates.find("a")->isolated_run_s_on_fewest_nodes(), 30);
  EXPECT_EQ(rates.find("b")->isolated_run_s_on_fewest_nodes(), -1) << "an epoch is missing";
}

TEST(GoodputTable, ErrorsNameTheLine) {
  const std::string good = "a,4,0,1,10,1\n";
  struct Bad {
    const char* row;
    const char* message;
  };
  for (const Bad& bad :
       {Bad{"a,4,1,1,20", "6 fields, got 5"}, Bad{",4,1,1,20,1", "a job, got nothing"},
        Bad{"a,4+,1,1,20,1", "a placement like 4+2, got '4+'"},
        Bad{"a,4+0,1,1,20,1", "a placement like 4+2"},
        Bad{"a,4,-1,1,20,1", "epoch as a whole number from 0 to 9999, got '-1'"},
        Bad{"a,4,2,1,20,1", "an epoch of at most completion_epoch, got 2"},
        Bad{"a,4,1,0,20,1", "goodput from 1e-06 to 1e+12, got '0'"},
        Bad{"a,4,1,inf,20,1", "goodput from 1e-06 to 1e+12, got 'inf'"},
        Bad{"a,4,1,1,10,1", "next_progress that rises"},
        Bad{"a,2,0,1,11,1", "the same on every placement, got 11"},
        Bad{"a,4,1,1,20,2", "completion_epoch 1, as in the job's other rows, got 2"},
        Bad{"a,4,0,1,10,1", "each job, placement and epoch once"}}) {
    EXPECT_THAT(error_in_rates(good + bad.row + "\n"),
                AllOf(HasSubstr("r.csv:3: expected "), HasSubstr(bad.message)));
  }
  EXPECT_THAT(error_in_rates(""), HasSubstr("a header without rows"));
  EXPECT_THAT(error_of([] { GoodputTable::load(written("r.csv", "job,placement\n")); }),
              HasSubstr("r.csv:1: expected the columns"));
}

// --- run times

const char* const kGavel =
    "A3C\tcmd\tfolder\t--max-steps\t0\t120\t1\t1\t-1\t7\n"
    "LM (batch size 5)\tcmd\tfolder\t--steps\t1\t100\t2\t1\t-1\t5\n"
    "LM (batch size 5)\tcmd\tfolder\t--steps\t1\t100\t1\t1\t-1\t0\n"
    "Slow\tcmd\tfolder\t--steps\t1\t100\t1\t1\t-1\t0\n";

TEST(RunTimeModel, AreStepsOverThroughputOnTheReferenceType) {
  Trace trace = parse_trace(kGavel, "g.trace", {});
  EXPECT_TRUE(lacks_run_times(trace));
  const std::string file = throughputs_file(kTable);
  EXPECT_THAT(error_of([&] { fill_run_times(trace, {.throughputs = file, .rates = ""}, false); }),
              AllOf(HasSubstr("g.trace:3: expected a throughput in "),
                    HasSubstr("none for ('LM (batch size 5)', 1) (first of 2 such jobs")));
  trace = parse_trace(kGavel, "g.trace", {});
  fill_run_times(trace, {.throughputs = file, .rates = ""}, true);
  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[0].id, "1");
  EXPECT_EQ(trace.jobs[0].run_us, 12'500'000);
  EXPECT_EQ(trace.jobs[1].run_us, 60 * kUsPerS);
  ASSERT_EQ(trace.skipped.size(), 1u);
  EXPECT_EQ(trace.skipped[0].reason, "no throughput");
  EXPECT_EQ(trace.skipped[0].count, 2);
  EXPECT_FALSE(lacks_run_times(trace));
}

TEST(RunTimeModel, TooManyStepsHaveTheirOwnError) {
  Trace trace = parse_trace("A3C\tcmd\tfolder\t--max-steps\t0\t1000000000000000\t1\t1\t-1\t0\n",
                            "g.trace", {});
  const std::string file = throughputs_file(kTable);
  EXPECT_THAT(error_of([&] { fill_run_times(trace, {.throughputs = file, .rates = ""}, false); }),
              HasSubstr("g.trace:1: expected a run time of at most "));
}

TEST(RunTimeModel, WithoutAV100TheFastestTypeIsTheReference) {
  const std::string file = throughputs_file(
      "{'k80': {'A3C, 1': {'null': 1}}, 'p100': {'A3C, 1': {'null': 4}},"
      " 'p100_unconsolidated': {'A3C, 1': {'null': 60}}}");
  Trace trace = parse_trace(kGavel, "g.trace", {});
  fill_run_times(trace, {.throughputs = file, .rates = ""}, true);
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].run_us, 30 * kUsPerS);
}

TEST(RunTimeModel, PolluxJobsUseTheirRates) {
  const std::string text =
      "name,time,application,num_replicas,batch_size\nx,0,ncf,1,8\na,5,ncf,4,8\n";
  Trace trace = parse_trace(text, "w.csv", {});
  const std::string file = written("r.csv", kColumns + "a,4,0,0.5,10,0\n");
  EXPECT_THAT(error_of([&] { fill_run_times(trace, {.throughputs = "", .rates = file}, false); }),
              AllOf(HasSubstr("w.csv:2: expected rates of every epoch"), HasSubstr("job 'x'")));
  trace = parse_trace(text, "w.csv", {});
  fill_run_times(trace, {.throughputs = "", .rates = file}, true);
  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].run_us, 20 * kUsPerS);
}

TEST(RunTimeModel, AreNeverGuessed) {
  Trace gavel = parse_trace(kGavel, "g.trace", {});
  EXPECT_THAT(error_of([&] { fill_run_times(gavel, {}, true); }),
              AllOf(HasSubstr("g.trace"), HasSubstr("--throughputs")));
  Trace pollux =
      parse_trace("name,time,application,num_replicas,batch_size\nx,0,ncf,1,8\n", "w.csv", {});
  EXPECT_THAT(error_of([&] { fill_run_times(pollux, {}, true); }),
              AllOf(HasSubstr("w.csv"), HasSubstr("--rates")));
  Trace some = pollux;  // a job without measurements is skipped on request
  some.jobs.push_back(some.jobs[0]);
  some.jobs[1].run_us = kUsPerS;
  EXPECT_THAT(error_of([&] { fill_run_times(some, {}, false); }), HasSubstr("--rates"));
  fill_run_times(some, {}, true);
  ASSERT_EQ(some.jobs.size(), 1u);
  EXPECT_EQ(some.skipped.at(0).reason, "no run time");
  Trace itp = parse_trace("job_id,submission_time,duration,num_gpu\na,0,1,1\n", "j.csv", {});
  fill_run_times(itp, {}, false);
  EXPECT_EQ(itp.jobs[0].run_us, kUsPerS) << "values of the trace are kept";
}

TEST(RunTimeModel, FilesWithoutEffectAreNoted) {
  const auto notes = [](const std::string& trace, const RunTimeFiles& files) {
    Trace read = parse_trace(trace, "jobs", {});
    const size_t before = read.notices.size();
    fill_run_times(read, files, true);
    std::vector<std::string> out;
    for (size_t i = before; i < read.notices.size(); ++i) out.push_back(read.notices[i].reason);
    return out;
  };
  const std::string timed = "job_id,submission_time,duration,num_gpu\na,0,1,1\n";
  const std::string rest = " has no effect: no job takes its run time from this file";
  EXPECT_THAT(notes(timed, {.throughputs = "m.txt", .rates = "r.csv"}),
              ElementsAre("--throughputs m.txt" + rest, "--rates r.csv" + rest));
  const RunTimeFiles for_rules = {.throughputs = "", .rates = "r.csv", .read_by_rules = {"rates"}};
  EXPECT_THAT(notes(timed, for_rules), ElementsAre());
  const std::string file = throughputs_file(kTable);
  EXPECT_THAT(notes(kGavel, {.throughputs = file, .rates = "r.csv"}),
              ElementsAre("--rates r.csv" + rest));
}

}  // namespace
}  // namespace yard
