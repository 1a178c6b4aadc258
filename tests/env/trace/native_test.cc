// Yardmaster's CSV and JSONL: all contents of a job survive a round trip, and errors name the place
// of invalid input.
#include "env/trace/formats/native.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/trace/core/max_time.h"
#include "env/trace/formats/load_trace.h"

namespace yard {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kLongestUs = kMaxTimeS * 1'000'000;

// Returns random bytes; with `utf8`, letters, quotes, separators and line breaks in UTF-8.
std::string random_text(Rng& rng, bool utf8) {
  static const std::vector<std::string> kPieces = {
      "a",  "Z", "0", ",", "\"", "\n", "\r", "\r\n", "|", "[", ":", " ",
      "\t", "{", "'", ";", "\\", "é",  "漢", "#",    "/", "=", "]", std::string(1, '\0')};
  std::string text;
  for (uint32_t n = rng.below(6); n > 0; --n) {
    text += utf8 ? kPieces[rng.below(static_cast<uint32_t>(kPieces.size()))]
                 : std::string(1, static_cast<char>(rng.below(256)));
  }
  return text;
}

double random_number(Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      return rng.below(100);
    case 1:
      return rng.uniform();
    case 2:
      return std::ldexp(rng.uniform(), static_cast<int>(rng.below(600)) - 300);
    default:
      return 0.1 * rng.below(1000);
  }
}

int64_t random_us(Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      return 0;
    case 1:
      return int64_t{rng.below(100'000)} * 1'000'000;
    case 2:
      return static_cast<int64_t>(rng.next64() % static_cast<uint64_t>(kLongestUs));
    default:
      return rng.below(1'000'000'000);
  }
}

std::vector<RoleGroup> random_groups(Rng& rng, bool utf8, int32_t& gpus) {
  std::vector<RoleGroup> groups(1 + rng.below(3));
  gpus = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    RoleGroup& group = groups[g];
    group.role = random_text(rng, utf8) + std::to_string(g);
    group.count = static_cast<int32_t>(1 + rng.below(100));
    if (rng.below(2) == 0) {
      group.min_count = static_cast<int32_t>(1 + rng.below(static_cast<uint32_t>(group.count)));
      group.max_count = group.count + static_cast<int32_t>(rng.below(9));
    }
    const bool share = rng.below(2) == 0;
    group.task = {.gpus = share ? 0 : static_cast<int32_t>(rng.below(9)),
                  .gpu_milli = share ? static_cast<int32_t>(rng.below(1000)) : 0,
                  .gpu_mem_gib = std::min(random_number(rng), 1e6),
                  .cpu_milli = static_cast<int32_t>(rng.below(1u << 31)),
                  .mem_mib = static_cast<int64_t>(rng.next64() >> (1 + rng.below(63))),
                  .nic_gbps = random_number(rng)};
    if (g > 0 && rng.below(2) == 0) group.after = {static_cast<int32_t>(rng.below(g))};
    gpus += group.count * (group.task.gpus + (group.task.gpu_milli > 0));
  }
  const auto waits = [](const RoleGroup& group) { return !group.after.empty(); };
  if (std::ranges::any_of(groups, waits) && rng.below(2) == 0) groups[0].run_us = random_us(rng);
  return groups;
}

Job random_job(Rng& rng, bool utf8, size_t number) {
  Job job;
  const auto often = [&] { return rng.below(2) == 0; };
  job.id = random_text(rng, utf8) + std::to_string(number);
  job.submit_us = random_us(rng);
  job.run_us = rng.below(8) == 0 ? Job::kFromProfile : random_us(rng);
  job.gpus = static_cast<int32_t>(rng.below(1 << 20));
  if (often()) job.limit_us = random_us(rng);
  if (often()) job.user = random_text(rng, utf8);
  if (often()) job.name = random_text(rng, utf8);
  if (often()) job.model = random_text(rng, utf8);
  if (often()) job.batch_size = static_cast<int32_t>(rng.below(1u << 31));
  if (often()) job.iterations = random_number(rng);
  if (often()) job.iteration_ms = random_number(rng);
  if (often()) job.batch_mode = std::array{"static", "accordion", "gns"}[rng.below(3)];
  if (often()) job.groups = random_groups(rng, utf8, job.gpus);
  if (often()) job.pattern = static_cast<Pattern>(rng.below(6));
  if (often()) job.gpu_types = {random_text(rng, utf8) + "x", "V100"};
  if (often()) job.loss = {random_number(rng), 0.5 + random_number(rng), random_number(rng) - 5};
  const bool waits =
      std::ranges::any_of(job.groups, [](const RoleGroup& g) { return !g.after.empty(); });
  if (often() && !waits) job.target = random_number(rng) - 5;
  if (often() && !waits) job.enough = random_number(rng) - 5;
  if (often()) job.save_us = random_us(rng);
  if (often()) job.restore_us = random_us(rng);
  if (often()) job.tenant = random_text(rng, utf8);
  if (often()) job.priority = static_cast<int64_t>(rng.next64());
  if (often()) job.weight = std::abs(random_number(rng) - 5);
  for (uint32_t n = often() ? rng.below(4) : 0; n > 0; --n) {
    const int64_t before_us = job.dues.empty() ? 0 : job.dues.back().within_us;
    const double value = job.dues.empty() ? 100 : job.dues.back().value;
    job.dues.push_back({before_us + 1 + rng.below(1'000'000'000), value - rng.uniform()});
  }
  if (often()) job.after = {random_text(rng, utf8) + "y"};
  if (often()) job.array = random_text(rng, utf8);
  if (often()) job.logged_start_us = random_us(rng);
  if (often()) job.logged_end_us = random_us(rng);
  const bool ended = job.logged_end_us >= 0 && job.logged_end_us < job.logged_start_us;
  if (ended) std::swap(job.logged_start_us, job.logged_end_us);
  job.run_unknown = often();
  if (often()) job.status = rng.below(4) == 0 ? "CANCELLED by 7" : random_text(rng, utf8);
  return job;
}

void expect_equal(const Job& a, const Job& b) {
  ASSERT_EQ(a.id, b.id);
  ASSERT_EQ(a.submit_us, b.submit_us);
  ASSERT_EQ(a.run_us, b.run_us);
  ASSERT_EQ(a.gpus, b.gpus);
  ASSERT_EQ(a.scored, b.scored);
  ASSERT_EQ(a.limit_us, b.limit_us);
  ASSERT_EQ(a.user, b.user);
  ASSERT_EQ(a.name, b.name);
  ASSERT_EQ(a.model, b.model);
  ASSERT_EQ(a.batch_size, b.batch_size);
  ASSERT_EQ(a.iterations, b.iterations);
  ASSERT_EQ(a.iteration_ms, b.iteration_ms);
  ASSERT_EQ(a.batch_mode, b.batch_mode);
  ASSERT_EQ(a.groups, b.groups);
  ASSERT_EQ(a.pattern, b.pattern);
  ASSERT_EQ(a.gpu_types, b.gpu_types);
  ASSERT_EQ(a.loss, b.loss);
  ASSERT_EQ(a.target, b.target);
  ASSERT_EQ(a.enough, b.enough);
  ASSERT_EQ(a.save_us, b.save_us);
  ASSERT_EQ(a.restore_us, b.restore_us);
  ASSERT_EQ(a.tenant, b.tenant);
  ASSERT_EQ(a.priority, b.priority);
  ASSERT_EQ(a.weight, b.weight);
  ASSERT_EQ(a.dues, b.dues);
  ASSERT_EQ(a.after, b.after);
  ASSERT_EQ(a.array, b.array);
  ASSERT_EQ(a.logged_start_us, b.logged_start_us);
  ASSERT_EQ(a.logged_end_us, b.logged_end_us);
  ASSERT_EQ(a.run_unknown, b.run_unknown);
  ASSERT_EQ(a.status, b.status);
}

TEST(NativeFormats, RandomJobsRoundTrip) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng{seed};
    const bool utf8 = rng.below(2) == 0;
    Trace trace;
    trace.source = "random";
    if (rng.below(2) == 0) trace.epoch_unix_s = static_cast<int64_t>(rng.below(1u << 31));
    const uint32_t jobs = 1 + rng.below(10);
    for (size_t j = 0; j < jobs; ++j) trace.jobs.push_back(random_job(rng, utf8, j));
    std::ranges::stable_sort(trace.jobs, {}, &Job::submit_us);
    std::vector<std::string> texts;
    try {
      texts.push_back(to_native_csv(trace));
      texts.push_back(to_native_jsonl(trace));
    } catch (const InputError&) {
      ASSERT_FALSE(utf8) << "JSON can hold any UTF-8, the CSV any outside lists";
    }
    for (const std::string& text : texts) {
      const Trace back = parse_trace(text, "back", {});
      EXPECT_EQ(back.epoch_unix_s, trace.epoch_unix_s);
      ASSERT_EQ(back.jobs.size(), trace.jobs.size());
      for (size_t j = 0; j < trace.jobs.size(); ++j) expect_equal(back.jobs[j], trace.jobs[j]);
      if (HasFatalFailure()) return;
    }
  }
}

// Returns jobs with these ids; the n-th one has n GPUs.
Trace jobs_of(const std::vector<std::string>& ids) {
  Trace trace;
  trace.source = "t";
  for (const std::string& id : ids) {
    Job& job = trace.jobs.emplace_back();
    job.id = id;
    job.gpus = static_cast<int32_t>(trace.jobs.size());
  }
  return trace;
}

TEST(NativeFormats, NonUtf8TextIsCsvOnly) {
  Trace trace = jobs_of({"\xff\xfe"});
  EXPECT_EQ(parse_trace(to_native_csv(trace), "t", {}).jobs.at(0).id, "\xff\xfe");
  EXPECT_THROW(to_native_jsonl(trace), InputError);
}

TEST(NativeFormats, CsvHasOnlyNeededColumns) {
  Trace trace = jobs_of({"a", "b"});
  EXPECT_EQ(to_native_csv(trace), "job_id,submit_s,run_s,gpus\na,0,0,1\nb,0,0,2\n");
  trace.jobs[1].dues = {{900'000'000, 1}, {1'800'000'000, 0.5}};
  trace.jobs[1].after = {"a"};
  trace.epoch_unix_s = 1614816000;
  EXPECT_EQ(to_native_csv(trace),
            "job_id,submit_s,run_s,gpus,dues,after,epoch_unix_s\n"
            "a,0,0,1,,,1614816000\n"
            "b,0,0,2,900:1|1800:0.5,a,\n");
  EXPECT_EQ(to_native_jsonl(trace),
            R"({"job_id":"a","submit_s":0,"run_s":0,"gpus":1,"epoch_unix_s":1614816000})"
            "\n"
            R"({"job_id":"b","submit_s":0,"run_s":0,"gpus":2,"dues":[{"within_s":900,"value":1.0},)"
            R"({"within_s":1800,"value":0.5}],"after":["a"]})"
            "\n");
}

TEST(NativeFormats, OneBoundOfAnElasticGroupIsEnough) {
  const Trace trace = parse_trace(
      R"({"job_id":"a","submit_s":0,"run_s":1,"gpus":4,"groups":[{"count":4,"gpus":1,"min_count":2}]})"
      "\n"
      R"({"job_id":"b","submit_s":0,"run_s":1,"gpus":4,"groups":[{"count":4,"gpus":1,"max_count":9}]})"
      "\n",
      "t", {});
  EXPECT_EQ(trace.jobs[0].groups[0].min_count, 2);
  EXPECT_EQ(trace.jobs[0].groups[0].max_count, 4);
  EXPECT_EQ(trace.jobs[1].groups[0].min_count, 4);
  EXPECT_EQ(trace.jobs[1].groups[0].max_count, 9);
}

TEST(NativeFormats, JobNamesDoNotChangeTheFormat) {
  Trace trace = jobs_of({"a"});
  trace.jobs[0].name = "x|JobID|,job_id,submit_s,run_s,gpus,name,time,application,num_replicas,";
  trace.jobs[0].name += "batch_size,num_gpu,submit_time,iterations,model_name";
  const Trace again = parse_trace(to_native_jsonl(trace), "t", {});
  EXPECT_EQ(again.format, "yardmaster-jsonl");
  EXPECT_EQ(again.jobs[0].name, trace.jobs[0].name);
}

TEST(NativeFormats, ExtensionSelectsTheFormat) {
  const Trace trace = jobs_of({"a"});
  EXPECT_EQ(to_native_text(trace, "a.jsonl"), to_native_jsonl(trace));
  EXPECT_EQ(to_native_text(trace, "a.csv"), to_native_csv(trace));
  EXPECT_EQ(to_native_text(trace, "a"), to_native_csv(trace));
  EXPECT_THROW(to_native_text(trace, "a.json"), InputError);
  EXPECT_THROW(to_native_text(trace, "a.csv.gz"), InputError);
  EXPECT_THROW(to_native_text(trace, "a.parquet"), InputError);
  EXPECT_EQ(to_native_text(trace, "some.folder/a"), to_native_csv(trace));
}

TEST(NativeFormats, QuotedFieldsMaySpanLines) {
  const Trace trace = parse_trace(
      "\"job_id\",submit_s,run_s,gpus,name\r\n"
      "a,0,1,1,\"two\r\nlines, and \"\"quotes\"\"\"\r\n"
      "b,0,1,1,x\r\n",
      "t.csv", {.format = "yardmaster"});
  EXPECT_EQ(trace.jobs.at(0).name, "two\r\nlines, and \"quotes\"");
  EXPECT_EQ(trace.jobs[0].line, 2);
  EXPECT_EQ(trace.jobs.at(1).line, 4);
}

std::string native_error(const std::string& text, const std::string& format) {
  try {
    parse_trace(text, "t", {.format = format});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct Broken {
  const char* name;
  const char* columns;  // in addition to the four required ones
  const char* cells;
  const char* message;
};

class BrokenCsv : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenCsv, ErrorNamesLineColumnAndExpectation) {
  const Broken& broken = GetParam();
  const std::string columns = broken.columns;
  const auto commas = static_cast<size_t>(std::ranges::count(columns, ','));
  const std::string text = "job_id,submit_s,run_s,gpus" + columns + "\nok,0,1,1" +
                           std::string(commas, ',') + "\n" + broken.cells + "\n";
  EXPECT_THAT(native_error(text, "yardmaster"), HasSubstr(std::string("t:3: ") + broken.message));
}

INSTANTIATE_TEST_SUITE_P(
    OwnForms, BrokenCsv,
    ::testing::Values(
        Broken{"id", "", ",0,1,1", "column 1 (job_id): expected a job_id, got nothing"},
        Broken{"submit", "", "a,,1,1", "column 2 (submit_s): expected submit_s in seconds, got ''"},
        Broken{"run", "", "a,0,x,1", "column 3 (run_s): expected run_s in seconds, got 'x'"},
        Broken{"gpus", "", "a,0,1,", "column 4 (gpus): expected gpus as a whole number"},
        Broken{"many", "", "a,0,1,1048577", "column gpus: expected at most 1048576 GPUs"},
        Broken{"batch", ",batch_size", "a,0,1,1,-1", "column 5 (batch_size): expected"},
        Broken{"weight", ",weight", "a,0,1,1,inf", "column 5 (weight): expected"},
        Broken{"pattern", ",pattern", "a,0,1,1,star",
               "column 5 (pattern): expected none, ring, tree, hierarchical, parameter-server, "
               "pipeline, got 'star'"},
        Broken{"dues", ",dues", "a,0,1,1,9:x",
               "column 5 (dues): expected SECONDS:VALUE|SECONDS:VALUE, got '9:x'"},
        Broken{"order", ",dues", "a,0,1,1,9:1|8:1",
               "column dues: expected increasing times with non-increasing values, got 8 s (value "
               "1) after 9 s"},
        Broken{"after", ",after", "a,0,1,1,a", "column after: expected ids of other jobs"},
        Broken{"types", ",gpu_types", "a,0,1,1,a||b",
               "column 5 (gpu_types): expected non-empty items"},
        Broken{"json", ",groups", "a,0,1,1,[{]", "column 5 (groups): expected JSON at byte 3"},
        Broken{"key", ",groups", "a,0,1,1,\"[{\"\"tasks\"\":1}]\"",
               "column 5 (groups): expected a key of a group at groups[0].tasks, got 'tasks'"},
        Broken{"sum", ",groups", "a,0,1,1,\"[{\"\"gpus\"\":2}]\"",
               "column gpus: expected 2 GPUs, as requested by its groups, got 1"},
        Broken{"role", ",groups", "a,0,1,2,\"[{\"\"gpus\"\":1},{\"\"gpus\"\":1}]\"",
               "column groups[0].role: expected a different role for each group, got 'worker'"},
        Broken{"circle", ",groups",
               "a,0,1,0,\"[{\"\"role\"\":\"\"x\"\",\"\"after\"\":[1]},{\"\"after\"\":[0]}]\"",
               "column groups: expected groups without cyclic dependencies"},
        Broken{
            "elastic", ",groups", "a,0,1,0,\"[{\"\"count\"\":2,\"\"min_count\"\":3}]\"",
            "column groups[0].count: expected 1 <= min_count <= count <= max_count, got 3, 2, 2"},
        Broken{"mode", ",batch_mode", "a,0,1,1,foo",
               "column batch_mode: expected static, accordion or gns, got 'foo'"},
        Broken{"epoch", ",epoch_unix_s", "a,0,1,1,soon", "column 5 (epoch_unix_s): expected"},
        Broken{"quotes", ",name", "a,0,1,1,\"x\"y", "expected a separator after a closing quote"},
        Broken{"open", ",name", "a,0,1,1,\"x", "expected a closing quote within 1 MiB"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(NativeFormats, UnknownColumnsAreIgnoredAndDuplicatesRejected) {
  const Trace trace = parse_trace(",job_id,submit_s,run_s,gpus,usr,x\n0,a,0,1,1,ada,7\n", "t", {});
  EXPECT_EQ(trace.jobs.at(0).user, "");
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_EQ(trace.notices[0].reason,
            "columns that are not used: usr, x (did you mean user? --columns user=usr)");
  EXPECT_THAT(native_error("Gpus,job_id,submit_s,run_s,GPUS\n1,a,0,1,1\n", "yardmaster"),
              HasSubstr("one column for gpus, got 'Gpus' and 'GPUS'"));
  EXPECT_THAT(native_error("job_id,submit_s,run_s,gpus,gpus\na,0,1,1,1\n", "yardmaster"),
              HasSubstr("got 'gpus'"));
}

TEST(NativeFormats, UnknownKeysAreIgnored) {
  const Trace trace = parse_trace(
      "{\"job_id\":\"a\",\"submit_s\":0,\"run_s\":1,\"gpus\":1,\"usr\":\"x\",\"User\":\"ada\"}\n",
      "t", {});
  EXPECT_EQ(trace.jobs.at(0).user, "ada");
  ASSERT_EQ(trace.notices.size(), 1u);
  EXPECT_THAT(trace.notices[0].reason,
              HasSubstr("keys that are not used: usr (did you mean user?"));
}

TEST(NativeFormats, QuotedNullWordsAreText) {
  Trace trace = jobs_of({"a", "NaN"});
  trace.jobs[0].user = "None";
  trace.jobs[1].after = {"null"};
  const std::string text = to_native_csv(trace);
  const Trace back = parse_trace(text, "t", {});
  EXPECT_EQ(back.jobs[0].user, "None");
  EXPECT_EQ(back.jobs[1].id, "NaN");
  EXPECT_EQ(back.jobs[1].after, trace.jobs[1].after);
  EXPECT_EQ(parse_trace("job_id,submit_s,run_s,gpus,user\na,0,1,1,None\n", "t", {}).jobs[0].user,
            "");
}

// Times which look like seconds since 1970 are not read as dates from our own files.
TEST(NativeFormats, LargeTimesRoundTrip) {
  Trace trace = jobs_of({"a"});
  trace.jobs[0].submit_us = 1'714'953'600'000'000;
  for (const std::string& text : {to_native_csv(trace), to_native_jsonl(trace)}) {
    const Trace back = parse_trace(text, "t", {});
    EXPECT_EQ(back.jobs.at(0).submit_us, trace.jobs[0].submit_us);
    EXPECT_FALSE(back.epoch_unix_s.has_value());
  }
  const Trace dated = parse_trace("job_id,submit_s,run_s,gpus\na,1714953600,1,1\n", "t", {});
  EXPECT_EQ(dated.jobs.at(0).submit_us, 0);
  EXPECT_EQ(dated.epoch_unix_s, 1'714'953'600);
}

TEST(NativeFormats, NumericIdsAreAcceptedAndBlanksTrimmed) {
  const Trace json = parse_trace(
      "{\"job_id\":7,\"user\":1000,\"submit_s\":0,\"run_s\":1,\"gpus\":1}\n"
      "{\"job_id\":8.0,\"after\":[7],\"submit_s\":0,\"run_s\":1,\"gpus\":1}\n",
      "t", {});
  ASSERT_EQ(json.jobs.size(), 2u);
  EXPECT_EQ(json.jobs[0].id, "7");
  EXPECT_EQ(json.jobs[0].user, "1000");
  EXPECT_EQ(json.jobs[1].id, "8");
  EXPECT_EQ(json.jobs[1].after, std::vector<std::string>{"7"});
  const Trace csv = parse_trace("job_id,submit_s,run_s,gpus\n a , 0 , 10 , 1 \n", "t", {});
  EXPECT_EQ(csv.jobs.at(0).id, "a");
}

TEST(NativeFormats, RepeatedHeadersFractionalGpusAndTruncation) {
  const std::string names = "job_id,submit_s,run_s,gpus\n";
  const Trace twice = parse_trace(names + "a,0,10,1\n" + names + "b,0,10,1\n", "t", {});
  EXPECT_EQ(twice.jobs.size(), 2u);
  ASSERT_EQ(twice.notices.size(), 1u);
  const Trace early = parse_trace("job_id,submit_s,start_s,end_s,gpus\na,12,10,20,1\n", "t", {});
  EXPECT_EQ(early.jobs.at(0).run_us, 10'000'000);
  ASSERT_EQ(early.notices.size(), 1u);
  EXPECT_THAT(early.notices[0].reason, HasSubstr("clock skew"));
  EXPECT_THAT(native_error(names + "a,0,10,0.5\n", ""), HasSubstr("gpu_milli"));
  EXPECT_THAT(native_error(names + "a,0,10,1\nb,0", ""), HasSubstr("the last line is cut off"));
  EXPECT_THAT(native_error("Title of the sheet\n" + names + "a,0,10,1\n", ""),
              HasSubstr("tail -n +2"));
  EXPECT_THAT(native_error("{\"id\":1,\"submit\":0}\n", ""), HasSubstr("did you mean the keys"));
  EXPECT_THAT(
      native_error("{\"job_id\":1,\"submit_s\":0,\"run_s\":1,\"gpus\":1}\n{\"job_id\":2,", ""),
      HasSubstr("cut off"));
}

TEST(NativeFormats, ContradictoryRunTimeGivesANotice) {
  const std::string names = "job_id,submit_s,run_s,gpus,logged_start_s,logged_end_s\n";
  const Trace trace =
      parse_trace(names + "a,0,20,1,5,15\nb,0,4,1,5,15\nc,0,11,1,5,15\nd,0,9,1,5,15\n", "t", {});
  EXPECT_EQ(trace.jobs.at(0).run_us, 20'000'000) << "run_s counts";
  EXPECT_EQ(trace.jobs.at(1).run_us, 4'000'000) << "run_s counts";
  ASSERT_EQ(trace.notices.size(), 2u) << "times in whole seconds may be off by one";
  EXPECT_EQ(trace.notices[0].count, 1);
  EXPECT_EQ(trace.notices[0].reason,
            "run_s is longer than the time from start to end: run_s is used");
  EXPECT_EQ(trace.notices[1].count, 1);
  EXPECT_EQ(
      trace.notices[1].reason,
      "run_s is shorter than the time from start to end, as for a suspended job: run_s is used");
  EXPECT_EQ(parse_trace("{\"job_id\":\"a\",\"submit_s\":0,\"run_s\":20,\"gpus\":1,"
                        "\"start_s\":5,\"end_s\":15}\n",
                        "t", {})
                .notices.size(),
            1u);
}

TEST(NativeFormats, JsonErrorsNameTheKey) {
  const auto message = [](const std::string& line) {
    return native_error("{\"job_id\":\"ok\",\"submit_s\":0,\"run_s\":1,\"gpus\":1}\n" + line + "\n",
                        "yardmaster-jsonl");
  };
  EXPECT_THAT(message("{\"job_id\":\"a\""), HasSubstr("t:2: byte 14: expected JSON"));
  EXPECT_THAT(message("{\"job_id\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}"),
              HasSubstr("t:2: key job_id: expected a string, got a deeply nested list"))
      << "deeper than the stack is";
  EXPECT_THAT(message("[]"), HasSubstr("t:2: expected a JSON object"));
  EXPECT_THAT(message(R"({"job_id":7.5,"submit_s":0,"run_s":1,"gpus":1})"),
              HasSubstr("t:2: key job_id: expected a string or a whole number, got 7.5"));
  EXPECT_THAT(message(R"({"submit_s":0,"run_s":1,"gpus":1})"),
              HasSubstr("t:2: key job_id: expected"));
  EXPECT_THAT(message(R"({"job_id":"a","run_s":1,"gpus":1})"),
              HasSubstr("t:2: key submit_s: expected a time, got nothing"));
  EXPECT_THAT(message(R"({"job_id":"a","submit_s":-1,"run_s":1,"gpus":1})"),
              HasSubstr("t:2: key submit_s: expected 0 to 4000000000 s, got -1"));
  EXPECT_THAT(
      message(R"({"job_id":"a","submit_s":0,"run_s":1,"gpus":1.5})"),
      HasSubstr("t:2: key gpus: expected a whole number of GPUs (for a share, set gpu_milli"));
  EXPECT_THAT(message(R"({"job_id":"a","submit_s":0,"run_s":1})"), HasSubstr("t:2: key gpus: "));
  EXPECT_THAT(
      message(R"({"job_id":"a","submit_s":0,"run_s":1,"gpus":2,"groups":[{"gpus":[]}]})"),
      HasSubstr("t:2: key groups[0].gpus: expected a whole number, 0 to 2147483647, got []"));
  EXPECT_THAT(
      message(
          R"({"job_id":"a","submit_s":0,"run_s":1,"gpus":1,"groups":[{"gpus":1,"gpu_mem_gib":3e6}]})"),
      HasSubstr("t:2: key groups[0].gpu_mem_gib: expected a number from 0 to 1e+06, got 3"));
  EXPECT_THAT(message(R"({"job_id":"a","submit_s":0,"run_s":1,"gpus":2,"dues":[{"value":1}]})"),
              HasSubstr("t:2: key dues[0]: expected a key within_s"));
  EXPECT_THAT(message(R"({"job_id":"a","submit_s":0,"run_s":1,"gpus":1e400})"), HasSubstr("t:2: "));
}

TEST(NativeJsonl, DuplicateKeyIsRejected) {
  try {
    parse_trace("{\"job_id\":\"a\",\"submit_s\":0,\"run_s\":1,\"gpus\":1,\"gpus\":2}\n",
                "jobs.jsonl", {.format = "yardmaster-jsonl"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'gpus' twice"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace yard
