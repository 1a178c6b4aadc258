// The report: what it shows, what it refuses, and that it runs no scripts and fetches nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/csv.h"
#include "experiments/replay/jobs_csv.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/series.h"
#include "experiments/report/html.h"
#include "experiments/report/page.h"
#include "experiments/run/run_folder.h"
#include "tests/support/require.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using report::Json;
using ::testing::HasSubstr;
using ::testing::Not;

// Returns what is wrong with the tags; empty if each is closed in order.
std::string unbalanced(const std::string& page) {
  std::vector<std::string> open;
  for (size_t at = page.find("<html"); at != page.npos; at = page.find('<', at)) {
    const size_t begin = at;
    char quote = 0;
    for (++at; at < page.size() && (quote != 0 || page[at] != '>'); ++at) {
      if (page[at] == '<') return "< within " + page.substr(begin, 40);
      if (quote == 0 && (page[at] == '\'' || page[at] == '"')) {
        quote = page[at];
      } else if (page[at] == quote) {
        quote = 0;
      }
    }
    if (page[at - 1] == '/') continue;
    const bool closes = page[begin + 1] == '/';
    const size_t name_at = begin + 1 + closes;
    const std::string name = page.substr(name_at, page.find_first_of(" >\n", name_at) - name_at);
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " stays open";
}

TEST(ReportTags, UnbalancedTagsAreDetected) {
  EXPECT_EQ(unbalanced("<html><p title='a>b'>x</p><br/></html>"), "");
  EXPECT_EQ(unbalanced("<html><p>x</html>"), "</html> closes p");
  EXPECT_EQ(unbalanced("<html><p>x</p>"), "html stays open");
  EXPECT_EQ(unbalanced("<html></p></html>"), "</p> closes html");
  EXPECT_NE(unbalanced("<html>1 < 2</html>"), "");
}

TEST(ReportText, IsValidUtf8) {
  EXPECT_EQ(report::escape("a\xC3\xA9<\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "a\xC3\xA9&lt;\xE2\x82\xAC\xF0\x9F\x98\x80");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(report::escape("Jos\xE9 & Zo\xEB"), "Jos" + bad + " &amp; Zo" + bad);
  EXPECT_EQ(report::escape("\xE2\x82"), bad + bad) << "cut off";
  EXPECT_EQ(report::escape("\xC0\x80"), bad + bad) << "overlong";
  EXPECT_EQ(report::escape("\xE0\x80\x80"), bad + bad + bad) << "overlong";
  EXPECT_EQ(report::escape("\xED\xA0\x80"), bad + bad + bad) << "a surrogate";
  EXPECT_EQ(report::escape("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond U+10FFFF";
}

Json rival(const std::string& policy, const std::string& level, double mean_jct_s, double ratio) {
  return {{"policy", policy},    {"information", level},     {"mean_jct_s", mean_jct_s},
          {"p99_jct_s", 80'000}, {"max_wait_s", 90'000},     {"preemptions", 12.5},
          {"unfinished", 0},     {"candidate_ratio", ratio}, {"lo", ratio - 0.011},
          {"hi", ratio + 0.011}};
}

// A cell as evaluate writes it.
Json cell(const std::string& policy, double ratio) {
  Json bound = rival("srsf margin=0.1", "oracle", 8'003, 0);
  for (const char* key : {"candidate_ratio", "lo", "hi"}) bound.erase(key);
  const Json rivals = Json::array(
      {rival("srsf-history", "history", 10'000, ratio), rival("las", "blind", 9'500, 1.0127)});
  const Json bounds = Json::array({rival("sjf", "oracle", 12'345, 0), bound});
  return {{"trace", "synthetic:habits"},
          {"cluster", "4x8"},
          {"congestion", 2.31},
          {"load", 0.873},
          {"rules", "default"},
          {"cost_scale", 1.0},
          {"policy", policy},
          {"information", "history"},
          {"jobs", 1800},
          {"unfinished", 0},
          {"conclusive", true},
          {"mean_jct_s", 10'000 * ratio},
          {"p99_jct_s", 70'000},
          {"ratio", ratio},
          {"lo", ratio - 0.011},
          {"hi", ratio + 0.011},
          {"ratio_hindsight", ratio},
          {"oracle_gap_closed", nullptr},
          {"baseline", "srsf-history"},
          {"baseline_chosen", "hindsight"},
          {"best_hindsight", "srsf-history"},
          {"seeds", 1},
          {"blocks", 12},
          {"oracle", "srsf margin=0.1"},
          {"headroom", 0.1997},
          {"replicas", 4},
          {"policies", rivals},
          {"bounds", bounds}};
}

// The document which evaluate writes for one cell.
std::string document(const Json& cell) { return Json{{"cells", Json::array({cell})}}.dump(); }

class Report : public ::testing::Test {
 protected:
  // Makes a run folder with metrics, a comparison, and a replay with its jobs and series.
  fs::path make_run(const std::string& name, const std::string& lr = "0.001") const {
    const fs::path path = scratch_.temporary_path() / name;
    RunFolder run =
        RunFolder::create(path, {{"lr", lr}, {"updates", "20"}},
                          {.command = "train",
                           .agent = "pilot",
                           .seed = 7,
                           .traces = {{"synthetic:habits", std::string(64, 'c'), "train"}}});
    for (int i = 0; i < 20; ++i) {
      RunFolder::Metrics row = {{"train/entropy", 1.0 / (1 + i)}, {"train/mean_jct_s", 9000 - i}};
      if (i % 5 == 0) row.emplace_back("validation/ratio", 1 - 0.001 * i);
      run.add_metrics(i, row);
    }
    write(path, "compare.json", document(cell("checkpoint:some/where/best", 0.9621)));
    ScenarioOptions options;
    options.trace = "synthetic:habits";
    options.cluster = "4x8";
    options.generate_jobs = 200;
    const Scenario scenario = load_scenario(options);
    Series series(scenario);
    std::string jobs = kJobsHeader;
    Json runs = Json::array();
    for (const char* policy : {"greedy", "srsf"}) {
      series.begin();
      RunOptions how;
      how.watch = [&](const SimModel& fixed, const SimState& state) {
        series.record_state(fixed, state);
      };
      const yard::Run played = run_policy(scenario, policy, how);
      series.end(played);
      append_jobs_csv(scenario, played, jobs);
      runs.push_back({{"policy", policy},
                      {"information", information_level_name(played.level)},
                      {"mean_jct_s", played.summary.all.mean_jct_s}});
      mean_jct_s_[policy] = played.summary.all.mean_jct_s;
    }
    write(path, "replay.json", Json{{"runs", runs}}.dump());
    write(path, "replay.series.json", series.json().dump());
    write(path, "replay.csv", jobs);
    run.set_state(RunState::kDone);
    return path;
  }

  static void write(const fs::path& run, const std::string& name, const std::string& text) {
    write_file_atomic(run / "evaluations" / name, text);
  }

  static std::string page_of(const std::vector<fs::path>& paths) {
    std::vector<report::RunRecord> runs;
    for (const fs::path& path : paths) runs.push_back(report::read_run(path));
    return report::render_page(runs);
  }

  static std::string refusal(const fs::path& path) {
    try {
      report::read_run(path);
    } catch (const InputError& error) {
      return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }

  const AtomicDirectory scratch_{::testing::TempDir() + "/report"};  // never committed: removed
  mutable std::map<std::string, double> mean_jct_s_;
};

TEST_F(Report, ShowsTheContentsOfTheRun) {
  const std::string page = page_of({make_run("first")});
  for (const char* text :
       {"Results in first (agent pilot)", "0.962 [0.951, 0.973]", "0.873", "20.0 %", "better",
        "validation/ratio", "Job completion times", "Utilisation", "Queue", "synthetic:habits",
        "Learning curve", "All settings"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, HasSubstr(std::string(64, 'c')));
  for (const auto& [policy, mean_s] : mean_jct_s_) {
    EXPECT_THAT(page, HasSubstr("<td>" + report::number_text(mean_s, 0) + "</td>")) << policy;
  }
  EXPECT_THAT(page, Not(HasSubstr("some/where")));
  EXPECT_EQ(unbalanced(page), "");
}

TEST_F(Report, BoundsAreListedSeparately) {
  const std::string page = page_of({make_run("first")});
  const std::string table = page.substr(page.find("Policies by cell"));
  const size_t bounds = table.find("Oracle: a bound, not a rival");
  ASSERT_NE(bounds, table.npos);
  EXPECT_LT(table.find(">las<"), bounds);
  EXPECT_GT(table.find(">srsf margin=0.1<"), bounds);
  EXPECT_THAT(table, HasSubstr("best of 2 oracles"));
  const std::string replays = page.substr(page.find("<h2>Replays"));
  EXPECT_LT(replays.find(">greedy<"), replays.find("Oracles: bounds, not rivals"));
  EXPECT_GT(replays.find(">srsf<"), replays.find("Oracles: bounds, not rivals"));
}

TEST_F(Report, LossesArePrintedLikeWins) {
  const std::string page = page_of({make_run("first")});
  const auto row = [&](const std::string& name) {
    const size_t at = page.find("'row'>" + name + "</th>");
    return page.substr(at, page.find("</tr>", at) - at);
  };
  EXPECT_THAT(row("srsf-history"), HasSubstr("<td>0.962 [0.951, 0.973]</td><td><svg"));
  EXPECT_THAT(row("las"), HasSubstr("<td>1.013 [1.002, 1.024]</td><td><svg"));
  const fs::path lost = make_run("lost");
  write(lost, "compare.json", document(cell("checkpoint:best", 1.25)));
  EXPECT_THAT(page_of({lost}), HasSubstr("<td>1.250 [1.239, 1.261]</td>"));
  EXPECT_THAT(page_of({lost}), HasSubstr("<td>worse</td>"));
}

TEST_F(Report, UnfinishedJobFailsTheRow) {
  const fs::path path = make_run("first");
  Json failed = cell("checkpoint:best", 0.9);
  failed["unfinished"] = 3;
  for (const char* key : {"ratio", "lo", "hi", "mean_jct_s"}) failed[key] = nullptr;
  write(path, "compare.json", document(failed));
  EXPECT_THAT(page_of({path}), HasSubstr("<td>failed: jobs did not finish</td>"));
}

TEST_F(Report, FetchesNothing) {
  const std::string page = page_of({make_run("first"), make_run("second", "0.01")});
  for (const char* fetch :
       {"http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe"}) {
    EXPECT_THAT(page, Not(HasSubstr(fetch)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST_F(Report, ComparesRuns) {
  const std::string page = page_of({make_run("first"), make_run("second", "0.0375")});
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_THAT(page, HasSubstr("Runs first, second"));
  const size_t apart = page.find("Settings that differ");
  ASSERT_NE(apart, page.npos);
  const std::string table = page.substr(apart, page.find("</table>", apart) - apart);
  EXPECT_THAT(table, HasSubstr("0.0375"));
  EXPECT_THAT(table, Not(HasSubstr("updates")));
  EXPECT_THAT(page, HasSubstr(">first: pilot (best)</th>"));
  EXPECT_THAT(page, HasSubstr(">second: pilot (best)</th>"));
}

TEST_F(Report, ShowsARunThatHasJustStarted) {
  const fs::path path = scratch_.temporary_path() / "young";
  const RunFolder run = RunFolder::create(path, {}, {.command = "train"});
  const std::string page = page_of({path});
  EXPECT_EQ(unbalanced(page), "");
  EXPECT_THAT(page, HasSubstr("<dd>running</dd>"));
}

TEST_F(Report, TitlesNameTheFolderOnce) {
  const fs::path path = scratch_.temporary_path() / "run";
  RunFolder::create(path, {}, {.command = "train", .agent = "pilot"});
  EXPECT_THAT(page_of({path}), HasSubstr("<h1>Results in run (agent pilot)</h1>"));
}

TEST_F(Report, EscapesItsInput) {
  const std::string evil = "<script>alert('x')</script>\"&";
  const fs::path path = scratch_.temporary_path() / "evil";
  RunFolder run = RunFolder::create(path, {{evil, evil}}, {.command = "train", .agent = evil});
  run.add_metrics(0, {{"validation/<b>&'", 1}});
  run.add_metrics(1, {{"validation/<b>&'", 2}});
  write(path, "a.json", document(cell(evil, 1)));
  write(path, "b.json",
        Json{{"runs", {{{"policy", evil}, {"placement", evil}, {"mean_jct_s", 1}}}}}.dump());
  std::string policy;
  append_csv_cell(evil, policy);
  write(path, "c.csv", kJobsHeader + policy + ",\"j,\n1\",1,0,0,5,0,5,0,0,finished\n");
  write(path, "d.json",
        Json{{"series",
              {{{"policy", evil},
                {"gpus", 4},
                {"t_s", {1, 2}},
                {"held_gpus", {1, 2}},
                {"waiting", {0, 0}}}}}}
            .dump());
  const std::string page = page_of({path});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(&#39;x&#39;)"));
  EXPECT_EQ(unbalanced(page), "");
}

TEST_F(Report, RejectsInvalidRuns) {
  EXPECT_THAT(refusal(scratch_.temporary_path() / "nowhere"), HasSubstr("got no folder"));
  fs::create_directory(scratch_.temporary_path() / "empty");
  EXPECT_THAT(refusal(scratch_.temporary_path() / "empty"), HasSubstr("got a folder without"));
  const fs::path path = make_run("first");
  write_file_atomic(path / "run.json", "{\"format\":");
  EXPECT_THAT(refusal(path), HasSubstr("run.json: expected a JSON object, got invalid JSON"));
}

TEST_F(Report, RefusesBrokenEvaluations) {
  const fs::path path = make_run("first");
  const std::string good = read_file(path / "evaluations" / "replay.csv");
  const auto broken = [&](const std::string& name, const std::string& text) {
    write(path, name, text);
    const std::string message = refusal(path);
    fs::remove(path / "evaluations" / name);
    return message;
  };
  EXPECT_THAT(broken("x.json", "{"), HasSubstr("x.json: expected a JSON object"));
  EXPECT_THAT(broken("x.json", "{\"cells\": 3}"), HasSubstr("a list of objects as 'cells'"));
  EXPECT_THAT(broken("x.json", R"({"series": [{"t_s": [1], "held_gpus": [], "waiting": [1]}]})"),
              HasSubstr("equally many"));
  EXPECT_THAT(broken("x.csv", "a,b\n1,2\n"), HasSubstr("x.csv:1: expected the header"));
  EXPECT_THAT(broken("x.csv", kJobsHeader + std::string("fifo,1,2\n")),
              HasSubstr("x.csv:2: expected 11 cells, got 3"));
  EXPECT_THAT(broken("x.csv", kJobsHeader + std::string("f,j,1,0,0,5,0,soon,0,0,finished\n")),
              HasSubstr("'soon'"));
  EXPECT_EQ(read_file(path / "evaluations" / "replay.csv"), good);
  page_of({path});  // intact again
}

TEST(ReportText, FormatsNumbersForReading) {
  using namespace report;
  EXPECT_EQ(number_text(1234567.891, 1), "1,234,567.9");
  EXPECT_EQ(number_text(-1234.5, 0), "-1,234");  // halves are rounded to even
  EXPECT_EQ(number_text(999, 0), "999");
  EXPECT_EQ(number_text(std::nullopt, 2), "–");
  EXPECT_EQ(duration_text(0.5), "0.5 s");
  EXPECT_EQ(duration_text(90), "1.5 min");
  EXPECT_EQ(duration_text(36000), "10 h");
  EXPECT_EQ(duration_text(864000), "10 d");
  EXPECT_EQ(tick_text(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_text(1500, 500), "1,500");
  EXPECT_EQ(tick_text(0.30000000000000004, 0.1), "0.3");
  EXPECT_EQ(tick_text(1.00005, 5e-5), "1.00005");  // distinct from the neighbouring tick
  EXPECT_EQ(tick_text(1e-17, 0.1), "0");
  EXPECT_EQ(tick_text(-2e-5, 1e-5), "-2e-05");
}

// Returns the text which a script, added to a copy of the page, leaves in it in a browser.
std::string ask_browser(const std::string& page, const fs::path& folder, int width,
                        const std::string& script) {
  std::string copy = page;
  const size_t policy = copy.find("<meta http-equiv");
  copy.erase(policy, copy.find('>', policy) + 1 - policy);
  const size_t end = copy.find("</body>");
  copy.insert(end,
              "<script>const pre=document.createElement('pre');pre.id='answer';pre.textContent="
              "String(" +
                  script + ");document.body.append(pre);</script>");
  write_file_atomic(folder / "copy.html", copy);
  const std::string command =
      "chromium --headless=new --no-sandbox --disable-gpu --disable-background-networking "
      "--disable-component-update --no-first-run --user-data-dir=" +
      (folder / "profile").string() + " --window-size=" + std::to_string(width) +
      ",900 --dump-dom file://" + (folder / "copy.html").string() + " 2>/dev/null > " +
      (folder / "dom.html").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string dom = read_file(folder / "dom.html");
  const std::string tag = "<pre id=\"answer\">";
  const size_t answer = dom.find(tag);
  if (answer == dom.npos) return "none";
  const size_t begin = answer + tag.size();
  return dom.substr(begin, dom.find('<', begin) - begin);
}

TEST_F(Report, LayoutFitsPhoneAndDesktopScreens) {
  YARD_NEEDS(chromium, std::system("command -v chromium >/dev/null 2>&1") == 0, "no chromium");
  const std::string page = page_of({make_run("first"), make_run("second", "0.01")});
  for (const int width : {500, 1280}) {  // 500 is the smallest width of Chromium's window
    // Nothing is wider than the window, every chart has a size, nothing was fetched.
    EXPECT_EQ(ask_browser(page, scratch_.temporary_path(), width,
                          "[document.documentElement.scrollWidth<=innerWidth,"
                          "[...document.querySelectorAll('section .chart')].every(c=>"
                          "c.getBoundingClientRect().height>100),"
                          "document.querySelectorAll('section .chart').length,"
                          // On a desktop no table needs scrolling.
                          "innerWidth<1000||[...document.querySelectorAll('.scroll')].every(s=>"
                          "s.scrollWidth<=s.clientWidth),"
                          "performance.getEntriesByType('resource').length].join(' ')"),
              "true true 10 true 0")
        << "at a width of " << width;
  }
}

}  // namespace
}  // namespace yard
