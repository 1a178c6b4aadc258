// Reports of files which commands wrote. On every page the findings come first, no two rows look
// alike, and no figure of the files is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "experiments/replay/jobs_csv.h"
#include "experiments/report/html.h"
#include "experiments/report/page.h"
#include "experiments/report/plain_tables.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using report::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Json rival(const std::string& policy, double mean_jct_s, double max_wait_s) {
  return {{"policy", policy},
          {"information", "blind"},
          {"mean_jct_s", mean_jct_s},
          {"max_wait_s", max_wait_s},
          {"preemptions", 11},
          {"unfinished", 0},
          {"candidate_ratio", 0.9},
          {"lo", 0.85},
          {"hi", 0.95}};
}

Json cell(const std::string& policy, const std::string& name, double ratio) {
  return {{"cell", name},
          {"trace", "t.csv"},
          {"cluster", "4x8"},
          {"policy", policy},
          {"jobs", 100},
          {"conclusive", true},
          {"ratio", ratio},
          {"lo", ratio - 0.01},
          {"hi", ratio + 0.01},
          {"baseline", "las"},
          {"unfinished", 0},
          {"mean_jct_s", 100},
          {"policies", Json::array({rival("las", 111, 5'000), rival("fifo", 222, 9'000)})}};
}

class ReportFiles : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((scratch_.temporary_path() / name).parent_path());
    write_file_atomic(scratch_.temporary_path() / name, text);
    return (scratch_.temporary_path() / name).string();
  }
  std::string cells(const std::string& name, const Json& rows) const {
    return write(name, Json{{"cells", rows}}.dump());
  }
  static std::string page(const std::vector<std::string>& paths) {
    return report::render_page(report::read_all(paths));
  }

  const AtomicDirectory scratch_{::testing::TempDir() + "/report_files"};
};

TEST_F(ReportFiles, NeedNoRunFolder) {
  const Json series = {{"policy", "las"},     {"gpus", 4},        {"from_s", 0},
                       {"to_s", 10},          {"t_s", {1, 5, 9}}, {"held_gpus", {1, 2, 3}},
                       {"waiting", {0, 1, 0}}};
  const std::string html = page(
      {cells("c.json", Json::array({cell("fifo", "x1", 0.9)})),
       write("r.json",
             Json{{"runs", Json::array({{{"policy", "las"}, {"mean_jct_s", 12'345}}})}}.dump()),
       write("s.json", Json{{"series", Json::array({series})}}.dump()),
       write("j.csv", std::string(kJobsHeader) + "las,a,1,0,0,5,0,5,0,0,finished\n")});
  for (const char* part : {"Results in c.json, r.json, s.json, j.csv", "Comparison", "12,345",
                           "Utilisation", "Job completion times"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
  EXPECT_THAT(html, Not(HasSubstr("provenance'"))) << "there is no run";
}

TEST_F(ReportFiles, OfTheSameNameAreDistinguished) {
  const std::string runs =
      Json{{"runs", Json::array({{{"policy", "las"}, {"mean_jct_s", 12}}})}}.dump();
  const std::string jobs = std::string(kJobsHeader) + "las,a,1,0,0,5,0,5,0,0,finished\n";
  const std::string html = page({write("a/r.json", runs), write("b/r.json", runs),
                                 write("a/j.csv", jobs), write("c/d/j.csv", jobs)});
  EXPECT_THAT(html, HasSubstr("Results in a/r.json, b/r.json, a/j.csv, d/j.csv"));
}

TEST_F(ReportFiles, CutAndEmptyOnesAreRejected) {
  for (const auto& [name, text, expected] :
       {std::tuple{"cut.csv", std::string(kJobsHeader) + "las,a,1,0,0,5,0,5,0,0,fini",
                   "cut.csv:2: expected the state finished, unfinished or ended-early, got 'fini'"},
        {"none.json", std::string(R"({"runs": []})"), "at least one of 'runs', got none"},
        {"text.json", std::string(R"({"runs": [{"policy": "las", "mean_jct_s": "1"}]})"),
         "mean_jct_s, a number, got \"1\""},
        {"lacks.json", std::string(R"({"runs": [{"policy": "las"}]})"), "got one without"}}) {
    try {
      page({write(name, text)});
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  }
}

TEST_F(ReportFiles, UnknownKindsAreRejected) {
  for (const auto& [name, text] :
       {std::pair{"x.json", "{\"other\":1}"}, {"x.txt", "text"}, {"x.csv", "a,b\n1,2\n"}}) {
    try {
      page({write(name, text)});
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

TEST_F(ReportFiles, StartWithTheResultAndEndWithItsSource) {
  const std::string one = page({cells("c.json", Json::array({cell("fifo", "x1", 0.9)}))});
  EXPECT_THAT(
      one, HasSubstr("<p class='headline'>fifo: mean job completion time 0.900 times that of las, "
                     "95 % interval 0.890 to 0.910, on t.csv on 4x8, x1. Verdict: better."));
  EXPECT_LT(one.find("class='headline'"), one.find("<h2>"));
  const std::string two =
      page({cells("c.json", Json::array({cell("fifo", "x1", 0.9), cell("fifo", "x3", 1.6)}))});
  EXPECT_THAT(two, HasSubstr("fifo: mean job completion time 1.200 times the baseline&#39;s "
                             "(geometric mean of 2 results). Verdicts: 1 better, 1 worse."));
  const Json runs = Json::array(
      {{{"policy", "las"}, {"mean_jct_s", 60}, {"max_wait_s", 7200}},
       {{"policy", "fifo"}, {"mean_jct_s", 120}, {"max_wait_s", 3600}},
       {{"policy", "srtf"}, {"information", "oracle"}, {"mean_jct_s", 1}, {"max_wait_s", 1}}});
  EXPECT_THAT(page({write("r.json", Json{{"runs", runs}}.dump())}),
              HasSubstr("las has the lowest mean job completion time of 2 policies, 1 min; the "
                        "highest is 2 min, under fifo. Its longest wait is 2 h, compared with "
                        "1 h under fifo."));
}

TEST_F(ReportFiles, HeadlinesIncludeRegressions) {
  Json row = cell("fifo", "x1", 0.9);
  row["regressions"] = {"longest wait x 1.52"};
  const std::string html = page({cells("c.json", Json::array({row}))});
  EXPECT_THAT(html, HasSubstr("x1. Verdict: better, but longest wait x 1.52.</p>"));
  EXPECT_THAT(html, HasSubstr(">better, but longest wait x 1.52<"));
  row["lo"] = row["hi"] = nullptr;
  EXPECT_THAT(page({cells("c.json", Json::array({row}))}),
              HasSubstr("job completion time 0.900 times that of las, on t.csv"));
  const Json equal = Json::array(
      {{{"policy", "las"}, {"mean_jct_s", 60}}, {{"policy", "fifo"}, {"mean_jct_s", 60}}});
  EXPECT_THAT(page({write("r.json", Json{{"runs", equal}}.dump())}),
              HasSubstr("All 2 policies have the same mean job completion time, 1 min."));
  const Json whatif = {{"runs", equal}, {"verdicts", {{{"text", "24 GPUs wait 3.04 times."}}}}};
  EXPECT_THAT(page({write("r.json", whatif.dump())}),
              HasSubstr("<p class='headline'>24 GPUs wait 3.04 times.</p>"));
}

TEST_F(ReportFiles, ShowTheCandidatesLongestWaitAndPreemptions) {
  Json row = cell("srtf", "x1", 0.9);
  row["max_wait_s"] = 4321;
  row["preemptions"] = 77;
  const auto candidate = [&](const Json& of) {
    const std::string html = page({cells("c.json", Json::array({of}))});
    const size_t at = html.find("<tr class='ours'>");
    return html.substr(at, html.find("</tr>", at) - at);
  };
  EXPECT_THAT(candidate(row), HasSubstr("<td>4,321</td><td>77</td>"));
  // Documents may give these two as ratios instead.
  row.erase("max_wait_s");
  row.erase("preemptions");
  row["max_wait_ratio"] = 0.5;
  row["preemptions_per_job"] = 0.25;
  EXPECT_THAT(candidate(row), HasSubstr("<td>2,500</td><td>25</td>"));
}

TEST_F(ReportFiles, RowsHaveDistinctLabels) {
  const Json rows = Json::array({cell("checkpoint:runs/a/checkpoints/best", "x1", 0.9),
                                 cell("checkpoint:runs/b/checkpoints/best", "x1", 0.8),
                                 cell("checkpoint:runs/b/checkpoints/best", "x3", 0.7),
                                 cell("tuned/a/las.yaml", "x1", 1.1)});
  const std::string html = page({cells("c.json", rows), cells("d.json", Json::array({rows[0]}))});
  const size_t at = html.find("<h2>Comparison");
  const std::string table = html.substr(at, html.find("</table>", at) - at);
  for (const char* name :
       {">checkpoint (a/checkpoints/best), c.json</th>",
        ">checkpoint (a/checkpoints/best), d.json</th>", ">checkpoint (b/checkpoints/best)</th>",
        "t.csv on 4x8, x1<", "t.csv on 4x8, x3<", ">a/las</th>"}) {
    EXPECT_THAT(table, HasSubstr(name));
  }
}

TEST_F(ReportFiles, RunsWithEqualNamesAreLabelledByFolder) {
  std::vector<std::string> runs;
  for (const char* folder : {"one/run", "two/run"}) {
    write(std::string(folder) + "/run.json", R"({"format":1,"agent":"pilot"})");
    write(std::string(folder) + "/config.yaml", "lr: 1\n");
    runs.push_back((scratch_.temporary_path() / folder).string());
  }
  EXPECT_THAT(page(runs), HasSubstr("Runs one/run, two/run"));
}

TEST_F(ReportFiles, LongTailIsNotDrawn) {
  Json t = Json::array(), held = Json::array(), waiting = Json::array();
  for (int i = 0; i < 1000; ++i) {  // scored to 3600 s, no queue after 5000 s, ends at 1e6 s
    t.push_back(500 + 1000.0 * i);
    held.push_back(1);
    waiting.push_back(i < 5 ? 2 : 0);
  }
  const auto html = [&](double to_s) {
    const Json series = {{"policy", "las"},   {"gpus", 4}, {"from_s", 0},
                         {"to_s", to_s},      {"t_s", t},  {"held_gpus", held},
                         {"waiting", waiting}};
    return page({write("s.json", Json{{"series", Json::array({series})}}.dump())});
  };
  EXPECT_THAT(html(3600), HasSubstr(" are not drawn."));
  EXPECT_THAT(html(3600), Not(HasSubstr(" d</text>"))) << "the axis counts hours or minutes";
  EXPECT_THAT(html(1e6), Not(HasSubstr("are not drawn")));
}

TEST_F(ReportFiles, SimulateTablesAreShownInPlainWords) {
  const Json runs = Json::array({{{"policy", "a,b"},
                                  {"mean_jct_s", 12},
                                  {"classes", {{{"gpus", 8}, {"jobs", 3}, {"mean_wait_s", 12.5}}}},
                                  {"waits", {{{"reason", "order"}, {"jobs", 2}, {"total_s", 9}}}},
                                  {"fairness", {{"rho_mean", 1.5}, {"jain_users", nullptr}}},
                                  {"tenants", nullptr},
                                  {"gpu_hours", {{"all", 10}, {"running", 4}}}}});
  std::vector<std::string> names;
  for (const report::PlainTable& table : report::plain_tables(runs)) {
    names.push_back(table.name);
    if (table.name != "size_classes") continue;
    EXPECT_EQ(table.csv(),
              "policy,gpus,jobs,finished,mean_jct_s,p50_jct_s,p95_jct_s,p99_jct_s,mean_wait_s,"
              "max_wait_s,mean_run_s\n\"a,b\",8,3,,,,,,12.5,,\n");
  }
  EXPECT_THAT(names, ElementsAre("size_classes", "wait_reasons", "fairness", "gpu_hours"));
  const std::string html = page({write("r.json", Json{{"runs", runs}}.dump())});
  for (const char* part : {"Size classes", "Why jobs waited", "Fairness", "GPU time, in hours"}) {
    EXPECT_THAT(html, HasSubstr(part));
  }
}

TEST_F(ReportFiles, FiguresOfAColumnAreRoundedAlike) {
  const auto size_class = [](int gpus, double jct_s, double wait_s) {
    return Json{{"gpus", gpus}, {"jobs", 2}, {"mean_jct_s", jct_s}, {"mean_wait_s", wait_s}};
  };
  const Json run = {{"policy", "las"},
                    {"mean_jct_s", 5},
                    {"classes", {size_class(1, 393.156, 0.25), size_class(4, 1445.2, 7.5)}}};
  const std::string html = page({write("r.json", Json{{"runs", Json::array({run})}}.dump())});
  for (const char* cell : {">393<", ">1,445<", ">0<", ">8<"}) EXPECT_THAT(html, HasSubstr(cell));
  EXPECT_THAT(html, Not(HasSubstr("393.1")));
  EXPECT_THAT(html, Not(HasSubstr("0.250")));
}

TEST(ReportWords, TitlesAreInPlainWords) {
  EXPECT_EQ(report::key_title("validation/mean_jct_s"), "Validation: mean JCT, s");
  EXPECT_EQ(report::key_title("train/entropy"), "Train: entropy");
  EXPECT_EQ(report::key_title("p99_jct_s"), "99th percentile JCT, s");
}

}  // namespace
}  // namespace yard
