// Golden transcripts: one play of every registered policy as a text file, compared in full. A
// change of behaviour shows as a diff. YARD_UPDATE_GOLDEN=1 rewrites the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "tests/support/transcript.h"

namespace yard::testing {
namespace {

// Twelve jobs of two users on 2 nodes of 4 GPUs. They produce a queue, a gang over two nodes,
// fragmentation, arrivals in the same second, and preemptions.
std::vector<Job> golden_jobs() {
  std::vector<Job> jobs = jobs_of({{0, 3, 3000},
                                   {0, 3, 200},
                                   {60, 2, 900},
                                   {120, 1, 60},
                                   {300, 8, 400},
                                   {300, 1, 1200},
                                   {310, 4, 90},
                                   {900, 2, 30},
                                   {1500, 4, 300},
                                   {1500, 1, 45},
                                   {2000, 6, 120},
                                   {2600, 1, 10}});
  for (size_t j = 0; j < jobs.size(); ++j) jobs[j].user = j % 3 == 0 ? "ann" : "bob";
  return jobs;
}

std::string settings_of(const std::string& name) {
  // Limits that jobs this short can pass.
  const bool queues = name == "las" || name.starts_with("tiresias");
  return queues ? name + " limit_1_gpu_s=300 limit_2_gpu_s=1200" : name;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, MatchesTheRecordedTranscript) {
  const std::string name = settings_of(GetParam());
  const Scene scene("2x4", golden_jobs());
  std::string text = "# " + name + " on 2x4, default costs; times in seconds, NODE:GPUS\n" +
                     transcript(scene, *make_policy(name));
  const std::string path = "tests/golden/" + GetParam() + ".txt";
  if (const char* update = std::getenv("YARD_UPDATE_GOLDEN"); update != nullptr && *update == '1') {
    write_file_atomic(path, text);
  }
  ASSERT_TRUE(std::filesystem::exists(path))
      << "YARD_UPDATE_GOLDEN=1 writes it; read it before you keep it";
  EXPECT_EQ(text, read_file(path));
}

INSTANTIATE_TEST_SUITE_P(Registered, Golden, ::testing::ValuesIn(PolicyRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace yard::testing
