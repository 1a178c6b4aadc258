// Properties of single heuristics.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "env/base/core/error.h"
#include "tests/support/outcomes.h"

namespace yard::testing {
namespace {

std::vector<int64_t> starts_of(const std::string& policy) {
  std::vector<int64_t> out;
  const std::vector<Job> jobs = jobs_of(std::vector<JobLine>(12, {0, 1, 100}));
  for (const JobOutcome& job : outcomes(policy, "1x1", jobs)) out.push_back(job.start_us);
  return out;
}

TEST(Random, EveryDrawGivesItsOwnOrder) {
  const std::vector<int64_t> first = starts_of("random draw=1");
  EXPECT_EQ(starts_of("random draw=1"), first);
  EXPECT_NE(starts_of("random draw=2"), first);
  EXPECT_NE(starts_of("random draw=3"), first);
}

// Numbers that are no probabilities are rejected, at any position.
TEST(GittinsFitted, HazardsMustBeProbabilities) {
  const auto refusal = [](const std::string& hazards) -> std::string {
    try {
      make_policy("gittins-fitted hazards=" + hazards);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string wrong = refusal("0.5");  // "...: expected 312 numbers, got ..."
  const size_t at = wrong.find("expected ");
  ASSERT_NE(at, std::string::npos) << wrong;
  const int numbers = std::stoi(wrong.substr(at + std::string("expected ").size()));
  const auto all_but_last = [&](const std::string& last) {
    std::string out;
    for (int i = 1; i < numbers; ++i) out += "0.5,";
    return out + last;
  };
  EXPECT_EQ(refusal(all_but_last("0")), "");
  EXPECT_EQ(refusal(all_but_last("1")), "");
  EXPECT_NE(refusal(all_but_last("-0.1")).find("from 0 to 1"), std::string::npos);
  EXPECT_NE(refusal(all_but_last("1.1")).find("from 0 to 1"), std::string::npos);
}

}  // namespace
}  // namespace yard::testing
