// Scenarios as data: each file of tests/scenarios has a small cluster, a few jobs, a policy and the
// expected table, worked out by hand. Each file is one test.
//
// cluster 1x4              as on the command line
// policy las placement=best-fit
// costs none               or: default; or SAVE RESTORE RESTORE_LARGE in seconds
// id submit gpus run = start end wait preemptions
// a  0      4    100 = 0     100 0    0
//
// An id of the form a@u is a job of user u; 2* GPUs are one task of two, which is never split.
// Times are seconds; wait is the time in the system beyond the run time. # begins a comment.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

struct Scenario {
  std::string cluster, policy;
  PreemptionCosts costs;
  std::vector<Job> jobs;
  std::vector<std::string> table;  // rows: "id start end wait preemptions"
};

int64_t seconds(const std::string& where, const std::string& word) {
  const auto us = parse_seconds_us(word);
  if (!us) throw InputError(where, "seconds", "'" + word + "'");
  return *us;
}

PreemptionCosts costs_of(const std::string& where, const std::vector<std::string>& words) {
  if (words.size() == 2 && words[1] == "none") return no_costs();
  if (words.size() == 2 && words[1] == "default") return {};
  if (words.size() != 4) throw InputError(where, "none, default or three times", "something else");
  return {.save_us = seconds(where, words[1]),
          .restore_us = seconds(where, words[2]),
          .restore_large_us = seconds(where, words[3])};
}

Scenario read_scenario(const std::string& path) {
  Scenario scenario;
  std::istringstream in(read_file(path));
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    const std::string where = path + ":" + std::to_string(++number);
    std::istringstream rest(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; rest >> word;) words.push_back(word);
    if (words.empty() || words[0] == "id") continue;
    if (words[0] == "cluster" && words.size() == 2) {
      scenario.cluster = words[1];
    } else if (words[0] == "policy" && words.size() >= 2) {
      scenario.policy = join({words.begin() + 1, words.end()}, " ");
    } else if (words[0] == "costs") {
      scenario.costs = costs_of(where, words);
    } else if (words.size() == 9 && words[4] == "=") {
      Job job;
      job.id = words[0];
      if (const size_t at = job.id.find('@'); at != std::string::npos)
        job.user = job.id.substr(at + 1);
      job.submit_us = seconds(where, words[1]);
      const bool task = words[2].ends_with('*');
      job.gpus = static_cast<int32_t>(
          parse_int(words[2].substr(0, words[2].size() - (task ? 1 : 0))).value_or(0));
      if (task) {
        RoleGroup group;
        group.count = 1;
        group.task.gpus = job.gpus;
        job.groups = {group};
      }
      job.run_us = seconds(where, words[3]);
      scenario.jobs.push_back(job);
      scenario.table.push_back(join({words[0], words[5], words[6], words[7], words[8]}, " "));
    } else {
      throw InputError(where, "cluster, policy, costs or a job of nine words", "'" + line + "'");
    }
  }
  return scenario;
}

std::vector<std::string> files() {
  std::vector<std::string> paths;
  if (!std::filesystem::is_directory("tests/scenarios")) return paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/scenarios")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Scenarios : public ::testing::TestWithParam<std::string> {};

TEST_P(Scenarios, MatchHandComputedEnds) {
  const Scenario scenario = read_scenario(GetParam());
  ASSERT_FALSE(scenario.jobs.empty());
  const Scene scene(scenario.cluster, scenario.jobs, scenario.costs);
  const auto policy = make_policy(scenario.policy);
  SceneRunner runner(scene, *policy);
  runner.play();
  ASSERT_FALSE(runner.failed());
  std::vector<std::string> table;
  for (size_t j = 0; j < scenario.jobs.size(); ++j) {
    const Job& job = scenario.jobs[j];
    const JobOutcome& out = runner.jobs()[j];
    table.push_back(join(
        {job.id, format_seconds(out.start_us), format_seconds(out.end_us),
         format_seconds(out.end_us - job.submit_us - job.run_us), std::to_string(out.preemptions)},
        " "));
  }
  EXPECT_EQ(join(table, "\n"), join(scenario.table, "\n"));
}

std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Scenarios, ::testing::ValuesIn(files()), name_of);

}  // namespace
}  // namespace yard::testing
