// The folder of public traces: each file matches its own format and no other. Its totals match
// those of another program or of its publisher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/lines.h"
#include "env/trace/formats/load_trace.h"
#include "tests/support/require.h"
#include "tests/support/seconds.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

Trace load(const std::string& file, const std::string& settings = "") {
  LoadOptions options;
  if (!settings.empty()) options.settings.overlay(settings);
  return load_trace(testing::traces_dir() / file, options);
}

// By the longest matching prefix of the name. "": no format. "*": at most one format.
const std::map<std::string, std::string> kFormats = {
    {"", ""},
    {"alibaba-openb-2023/openb_pod_list_", "openb"},
    {"alibaba-pai-2020/upstream-licence-only/", "pai"},
    {"elasticflow/elasticVpollux_e", "elasticflow"},
    {"elasticflow/philly_103959", "elasticflow"},
    {"gavel/traces-", "*"},
    {"helios-earth-load/earth/vc", "helios-load"},
    {"microsoft-itp-2021/raw/", "itp"},
    {"microsoft-itp-2021/with-models/", "itp-models"},
    {"morphling-a800/workloads/", "morphling"},
    {"muri/", "*"},
    {"philly-2017/chronus/", "chronus"},
    {"philly-2017/philly.csv", "philly"},
    {"philly-2017/upstream-licence-only/", "philly-attempts"},
    {"pollux-adaptdl/workloads", "*"},
    {"shockwave/traces/", "*"},
    {"tacc-ls6-a100/ls6-a100.log", "tacc"},
    {"tiresias/60_job", "tiresias"},
};

std::string expected_format(const std::string& file) {
  std::string best, format;
  for (const auto& [begin, name] : kFormats) {
    if (file.starts_with(begin) && begin.size() >= best.size()) {
      best = begin;
      format = name;
    }
  }
  return format;
}

TEST(TraceFiles, EachIsRecognisedAsOneFormat) {
  YARD_NEEDS_TRACES();
  const std::filesystem::path dir = testing::traces_dir();
  std::map<std::string, int> files;  // by format
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir)) {
    if (!entry.is_regular_file()) continue;
    const std::string file = std::filesystem::relative(entry.path(), dir);
    Lines lines = Lines::of_file(entry.path());
    const FileHead head = FileHead::of(file, lines.first_bytes());
    std::vector<std::string> formats;
    for (const std::string& name : Registry<TraceReader>::names()) {
      if (Registry<TraceReader>::make(name, {})->recognises(head)) formats.push_back(name);
    }
    const std::string expected = expected_format(file);
    if (expected == "*") {
      EXPECT_LE(formats.size(), 1u) << file;
    } else {
      EXPECT_EQ(formats,
                expected.empty() ? std::vector<std::string>() : std::vector<std::string>{expected})
          << file;
    }
    ++files[expected];
  }
  EXPECT_GE(files[""], 100) << "files without jobs are recognised, too";
  EXPECT_GE(files["openb"], 16);
  EXPECT_GE(files["itp"] + files["itp-models"], 15);
}

struct RealFile {
  const char* path;
  const char* format;
  size_t jobs;
  int64_t gpu_us;  // GPUs times microseconds, summed
  int largest;
  int64_t left_out;
};

const RealFile kRealFiles[] = {
    {"tiresias/60_job.csv.gz", "tiresias", 60, 26624000000, 8, 0},
    {"microsoft-itp-2021/raw/cluster01.csv.gz", "itp", 1595, 81864453000000, 64, 0},
    {"microsoft-itp-2021/raw/cluster02.csv.gz", "itp", 5778, 445494106000000, 64, 0},
    {"microsoft-itp-2021/raw/cluster04.csv.gz", "itp", 15802, 2540458386000000, 64, 0},
    {"microsoft-itp-2021/raw/cluster05.csv.gz", "itp", 3629, 51491311000000, 8, 0},
    {"microsoft-itp-2021/raw/cluster08.csv.gz", "itp", 13047, 241559936000000, 32, 0},
    {"microsoft-itp-2021/raw/cluster09.csv.gz", "itp", 11134, 140402737000000, 1, 0},
    {"microsoft-itp-2021/raw/cluster10.csv.gz", "itp", 260, 14484569000000, 16, 0},
    {"microsoft-itp-2021/with-models/195job.csv.gz", "itp-models", 195, 19763306000000, 16, 0},
    {"microsoft-itp-2021/with-models/cluster01.csv.gz", "itp-models", 1595, 81864453000000, 64, 0},
    {"microsoft-itp-2021/with-models/cluster02.csv.gz", "itp-models", 5778, 445494106000000, 64, 0},
    {"microsoft-itp-2021/with-models/cluster04.csv.gz", "itp-models", 15802, 2540458386000000, 64,
     0},
    {"microsoft-itp-2021/with-models/cluster05.csv.gz", "itp-models", 3629, 51491311000000, 8, 0},
    {"microsoft-itp-2021/with-models/cluster08.csv.gz", "itp-models", 13047, 241559936000000, 32,
     0},
    {"microsoft-itp-2021/with-models/cluster09.csv.gz", "itp-models", 11134, 140402737000000, 1, 0},
    {"microsoft-itp-2021/with-models/cluster10.csv.gz", "itp-models", 260, 14484569000000, 16, 0},
    {"philly-2017/philly.csv.gz", "philly", 82247, 3521082502000000, 128, 0},
    {"philly-2017/chronus/trace_job_Philly_SLO.csv.gz", "chronus", 30940, 1326639300000000, 32, 0},
    {"philly-2017/chronus/trace_job_Philly_MIX1.csv.gz", "chronus", 30940, 1336781280000000, 32, 0},
    {"philly-2017/chronus/trace_job_Philly_MIX2.csv.gz", "chronus", 30940, 1364311320000000, 32, 0},
    {"alibaba-openb-2023/openb_pod_list_cpu050.csv.gz", "openb", 6561, 214603958000000, 8, 878},
    {"alibaba-openb-2023/openb_pod_list_cpu100.csv.gz", "openb", 6970, 214603958000000, 8, 883},
    {"alibaba-openb-2023/openb_pod_list_cpu200.csv.gz", "openb", 7905, 214603958000000, 8, 927},
    {"alibaba-openb-2023/openb_pod_list_cpu250.csv.gz", "openb", 8486, 214603958000000, 8, 934},
    {"alibaba-openb-2023/openb_pod_list_default.csv.gz", "openb", 7255, 214603958000000, 8, 897},
    {"alibaba-openb-2023/openb_pod_list_gpushare20.csv.gz", "openb", 7312, 182857144000000, 8, 840},
    {"alibaba-openb-2023/openb_pod_list_gpushare40.csv.gz", "openb", 7171, 184246403000000, 8, 981},
    {"alibaba-openb-2023/openb_pod_list_gpushare60.csv.gz", "openb", 7102, 189063860000000, 8,
     1050},
    {"alibaba-openb-2023/openb_pod_list_gpushare80.csv.gz", "openb", 7006, 152580708000000, 8,
     1146},
    {"alibaba-openb-2023/openb_pod_list_gpuspec05.csv.gz", "openb", 7255, 214603958000000, 8, 897},
    {"alibaba-openb-2023/openb_pod_list_gpuspec10.csv.gz", "openb", 7255, 214603958000000, 8, 897},
    {"alibaba-openb-2023/openb_pod_list_gpuspec20.csv.gz", "openb", 7255, 214603958000000, 8, 897},
    {"alibaba-openb-2023/openb_pod_list_gpuspec25.csv.gz", "openb", 7255, 214603958000000, 8, 897},
    {"elasticflow/elasticVpollux_e.csv.gz", "elasticflow", 195, 33457859000000, 16, 0},
    {"elasticflow/philly_103959.csv.gz", "elasticflow", 876, 154137879000000, 4, 0},
    {"morphling-a800/workloads/naive.csv.gz", "morphling", 10, 50367116644, 48, 0},
    {"morphling-a800/workloads/workload-base.csv.gz", "morphling", 406, 2223969016921, 48, 0},
    {"morphling-a800/workloads/workload-bp.csv.gz", "morphling", 406, 2223969016921, 48, 0},
    {"morphling-a800/workloads/workload-mt.csv.gz", "morphling", 406, 2223969016921, 48, 0},
    {"tacc-ls6-a100/ls6-a100.log.gz", "tacc", 24777, 779519563000000, 64, 0},
};

TEST(TraceFiles, AreReadCompletely) {
  YARD_NEEDS_TRACES();
  for (const RealFile& file : kRealFiles) {
    SCOPED_TRACE(file.path);
    const Trace trace = load(file.path);
    EXPECT_EQ(trace.format, file.format);
    EXPECT_EQ(trace.jobs.size(), file.jobs);
    int64_t left_out = 0;
    for (const CountedRows& skipped : trace.skipped) left_out += skipped.count;
    EXPECT_EQ(left_out, file.left_out);
    int64_t gpu_us = 0;
    int largest = 0;
    for (const Job& job : trace.jobs) {
      gpu_us += job.gpus * job.run_us;
      largest = std::max(largest, job.gpus);
    }
    EXPECT_EQ(gpu_us, file.gpu_us);
    EXPECT_EQ(largest, file.largest);
    EXPECT_TRUE(std::ranges::is_sorted(trace.jobs, {}, &Job::submit_us));
  }
}

const Job& job_of(const Trace& trace, const std::string& id) {
  const auto it = std::ranges::find(trace.jobs, id, &Job::id);
  if (it != trace.jobs.end()) return *it;
  ADD_FAILURE() << "no job " << id;
  return trace.jobs.front();
}

// Returns the value at quantile `share` of the sorted values.
int64_t at(std::vector<int64_t> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size()))];
}

TEST(TraceFiles, PhillyIsSortedAndCounted) {
  YARD_NEEDS_TRACES();
  const Trace trace = load("philly-2017/philly.csv.gz");
  // 2017-09-04 10:30:41 to 2017-12-22 08:02:11; 93 % of the jobs request one GPU; 15 clusters.
  EXPECT_EQ(trace.epoch_unix_s, 1504521041);
  EXPECT_EQ(trace.jobs.front().submit_us, 0);
  EXPECT_EQ(trace.jobs.back().submit_us, 9408690 * kUsPerS);
  EXPECT_EQ(std::ranges::count(trace.jobs, 1, &Job::gpus), 76627);
  const Job& job = job_of(trace, "2");  // 2017-10-09 07:01:55,66.0,1,66.0,11cb48
  EXPECT_EQ(job.submit_us, (1507532515 - 1504521041) * kUsPerS);
  EXPECT_EQ(job.run_us, 66 * kUsPerS);
  EXPECT_EQ(job.tenant, "11cb48");

  const Trace one = load("philly-2017/philly.csv.gz", "vc=ee9e8c");
  EXPECT_EQ(one.jobs.size(), 1511u);
  ASSERT_EQ(one.skipped.size(), 1u);
  EXPECT_EQ(one.skipped[0].count, 82247 - 1511);
}

TEST(TraceFiles, ChronusCountsMinutes) {
  YARD_NEEDS_TRACES();
  const Trace trace = load("philly-2017/chronus/trace_job_Philly_MIX2.csv.gz");
  const Job& soft = job_of(trace, "0");
  EXPECT_EQ(soft.submit_us, int64_t{5601} * 60 * kUsPerS);
  EXPECT_EQ(soft.run_us, 96 * 60 * kUsPerS);
  EXPECT_EQ(soft.dues, (std::vector<Deadline>{{159 * 60 * kUsPerS, 10},
                                              {189 * 60 * kUsPerS, 8},
                                              {229 * 60 * kUsPerS, 5},
                                              {289 * 60 * kUsPerS, 2}}));
  EXPECT_EQ(soft.tenant, "vc_ed69ec");
  EXPECT_EQ(soft.user, "");
  EXPECT_EQ(soft.model, "mobilenet_v2");
  EXPECT_TRUE(job_of(trace, "10").dues.empty()) << "best effort";
  EXPECT_EQ(std::ranges::count(trace.jobs, 0, &Job::gpus), 194);
  EXPECT_EQ(std::ranges::count(trace.jobs, size_t{4}, [](const Job& j) { return j.dues.size(); }),
            18525);
}

TEST(TraceFiles, ItpModelsAreTheRawJobsWithDeadlines) {
  YARD_NEEDS_TRACES();
  const Trace raw = load("microsoft-itp-2021/raw/cluster02.csv.gz");
  const Trace trace = load("microsoft-itp-2021/with-models/cluster02.csv.gz");
  ASSERT_EQ(raw.jobs.size(), trace.jobs.size());
  for (size_t j = 0; j < raw.jobs.size(); ++j) {
    ASSERT_EQ(raw.jobs[j].id, trace.jobs[j].id);
    ASSERT_EQ(raw.jobs[j].submit_us, trace.jobs[j].submit_us);
    ASSERT_EQ(raw.jobs[j].run_us, trace.jobs[j].run_us);
    ASSERT_EQ(raw.jobs[j].gpus, trace.jobs[j].gpus);
    ASSERT_EQ(trace.jobs[j].dues.size(), 1u);
  }
  const Trace cut = load("microsoft-itp-2021/with-models/195job.csv.gz");
  const Job& first = job_of(cut, "bdd640fb-0667-1ad1-1c80-317fa3b1799d");
  EXPECT_EQ(first.model, "deepspeech2");
  EXPECT_EQ(first.iterations, 3249);
  EXPECT_EQ(first.batch_size, 32);
  EXPECT_EQ(first.dues, (std::vector<Deadline>{{(3716178 - 3715485) * kUsPerS, 1}}));
}

TEST(TraceFiles, OpenbHasSharesTypesAndCpuPods) {
  YARD_NEEDS_TRACES();
  const std::string path = "alibaba-openb-2023/openb_pod_list_";
  const Trace trace = load(path + "default.csv.gz");
  const Job& share = job_of(trace, "openb-pod-0001");
  EXPECT_EQ(share.gpus, 1);
  ASSERT_EQ(share.groups.size(), 1u);
  EXPECT_EQ(share.groups[0].task,
            (Resources{.gpu_milli = 460, .cpu_milli = 6000, .mem_mib = 12288}));
  EXPECT_EQ(share.run_us, (12902960 - 427061) * kUsPerS);
  EXPECT_EQ(share.tenant, "LS");
  EXPECT_EQ(trace.skipped.at(0).reason, "never placed");
  std::vector<int64_t> waits_s;
  for (const Job& job : trace.jobs) {
    waits_s.push_back((job.logged_start_us - job.submit_us) / kUsPerS);
  }
  EXPECT_EQ(at(waits_s, 0.5), 2) << "as published";
  EXPECT_EQ(at(waits_s, 0.95), 241) << "as published";

  const Trace typed = load(path + "gpuspec25.csv.gz");
  EXPECT_EQ(job_of(typed, "openb-pod-0024").gpu_types,
            (std::vector<std::string>{"P100", "V100M16"}));
  EXPECT_EQ(load(path + "cpu200.csv.gz", "pods=gpu").jobs.size(), 6203u);
}

TEST(TraceFiles, OpenbWithoutTimesRequiresAGap) {
  YARD_NEEDS_TRACES();
  const std::string path = "alibaba-openb-2023/openb_pod_list_multigpu20.csv.gz";
  try {
    load(path);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--set trace.gap_s=SECONDS"));
  }
  LoadOptions options;
  options.settings.overlay("gap_s=0.5");
  options.settings.overlay("run_s=100");
  const Trace trace = load_trace(testing::traces_dir() / path, options);
  EXPECT_EQ(trace.jobs.size(), 8324u);
  EXPECT_EQ(trace.jobs[3].submit_us, 1'500'000);
  EXPECT_EQ(trace.jobs[3].run_us, 100 * kUsPerS);
  EXPECT_EQ(std::ranges::count(trace.jobs, 8, &Job::gpus), 141);
}

TEST(TraceFiles, ElasticFlowHasDeadlines) {
  YARD_NEEDS_TRACES();
  const Trace trace = load("elasticflow/philly_103959.csv.gz");
  const Job& job = job_of(trace, "1");
  EXPECT_EQ(job.submit_us, 219316 * kUsPerS);
  EXPECT_EQ(job.iterations, 26446831);
  EXPECT_EQ(job.dues, (std::vector<Deadline>{{(2065619 - 219316) * kUsPerS, 1}}));
  EXPECT_EQ(job.gpus, 4);
}

TEST(TraceFiles, MorphlingHasStepTimes) {
  YARD_NEEDS_TRACES();
  const Trace trace = load("morphling-a800/workloads/workload-mt.csv.gz");
  const Job& job = job_of(trace, "llama30-1");
  EXPECT_EQ(job.run_us, 142219097);
  EXPECT_EQ(job.iterations, 64);
  EXPECT_DOUBLE_EQ(job.iteration_ms, 142219.097 / 64);
  EXPECT_EQ(job.groups.at(0).count, 48);
  EXPECT_EQ(job.groups.at(0).task, (Resources{.gpus = 1, .cpu_milli = 8000}));
  EXPECT_EQ(std::ranges::count(trace.jobs, 1, &Job::priority), 194);
  const Trace longer = load("morphling-a800/workloads/workload-mt.csv.gz", "min_steps=3");
  EXPECT_LT(longer.jobs.size(), 300u);
  EXPECT_EQ(longer.jobs.size() + static_cast<size_t>(longer.skipped.at(0).count), 406u);
}

TEST(TraceFiles, TaccUsesTexasTime) {
  YARD_NEEDS_TRACES();
  const std::string path = "tacc-ls6-a100/ls6-a100.log.gz";
  const auto over_limit = [](const Trace& trace) {
    return std::ranges::count_if(
        trace.jobs, [](const Job& job) { return job.run_us > job.limit_us + 120 * kUsPerS; });
  };
  const Trace trace = load(path);
  EXPECT_EQ(over_limit(trace), 0);
  EXPECT_EQ(over_limit(load(path, "zone=UTC0")), 31) << "as published";
  EXPECT_EQ(trace.epoch_unix_s, 1664988768);
  EXPECT_EQ(std::ranges::count(trace.jobs, 0, &Job::run_us), 3328) << "as published";
  std::vector<int64_t> waits_s, runs_s, limits_s;
  for (const Job& job : trace.jobs) {
    waits_s.push_back((job.logged_start_us - job.submit_us) / kUsPerS);
    runs_s.push_back(job.run_us / kUsPerS);
    limits_s.push_back(job.limit_us / kUsPerS);
  }
  EXPECT_EQ(at(waits_s, 0.5), 25) << "as published";
  EXPECT_EQ(at(waits_s, 0.75), 4758) << "published as 1.3 h";
  EXPECT_EQ(at(runs_s, 0.5), 459) << "as published";
  EXPECT_EQ(at(limits_s, 0.5), 5 * 3600) << "as published";

  const Job& tab = job_of(trace, "746545");
  EXPECT_EQ(tab.name, "xaa\t00326");
  EXPECT_EQ(tab.user, "810653");
  EXPECT_EQ(tab.submit_us, 13398849 * kUsPerS);
  EXPECT_EQ(tab.priority, 1169);
  EXPECT_EQ(tab.limit_us, 720 * 60 * kUsPerS);
  EXPECT_EQ(tab.gpus, 4);
  EXPECT_EQ(job_of(load(path, "gpus_per_node=3"), "746545").gpus, 12);
  // Runs over the night of 2022-11-06, which had an extra hour: 48 h, equal to its limit.
  EXPECT_EQ(job_of(trace, "478730").run_us, (48 * 3600 + 4) * kUsPerS);
}

}  // namespace
}  // namespace yard
