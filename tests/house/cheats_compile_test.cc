// A policy that reads hidden information does not compile. Each cheat is in the body of an ordinary
// policy with the headers that policies may include (enforced by floors_test.cc). The honest body
// compiles in the same file, so the cheat causes the error.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "env/base/files/file.h"

namespace yard::testing {
namespace {

struct Cheat {
  std::string name, body;
  std::string refused;  // name that the error must contain
};

struct Compiled {
  bool ok;
  std::string output;
};

Compiled compile(const std::string& body) {
  const std::string source =
      "#include \"env/sim/placement/placement_rules.h\"\n"
      "#include \"env/sim/rules/rules.h\"\n"
      "#include \"policies/order.h\"\n"
      "#include \"policies/policy.h\"\n"
      "namespace yard {\n"
      "double key(const View& view, Memory& memory, Draft& draft, int32_t slot) {\n" +
      body + "\n}\n}\n";
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("yard-cheat-" + std::to_string(getpid()) + ".cc");
  write_file_atomic(path, source);
  const std::string command =
      std::string(YARD_CXX) + " -std=c++20 -fsyntax-only -I. '" + path.string() + "' 2>&1";
  Compiled compiled{false, ""};
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return compiled;
  char chunk[4096];
  for (size_t n; (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;) compiled.output.append(chunk, n);
  const int status = pclose(pipe);
  compiled.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  std::filesystem::remove(path);
  return compiled;
}

TEST(Cheats, HonestCodeCompiles) {
  const Compiled compiled = compile(
      "return view.gpus(slot) + static_cast<double>(view.attained_us(slot)) + draft.mark() + "
      "memory.bytes();");
  EXPECT_TRUE(compiled.ok) << compiled.output;
}

class RefusedCheats : public ::testing::TestWithParam<Cheat> {};

TEST_P(RefusedCheats, DoNotCompile) {
  const Compiled compiled = compile(GetParam().body);
  EXPECT_FALSE(compiled.ok);
  EXPECT_NE(compiled.output.find(GetParam().refused), std::string::npos) << compiled.output;
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedCheats,
    ::testing::Values(
        Cheat{"ReadsADuration", "return view.run_us(slot);", "run_us"},
        Cheat{"ReadsTheTableOfDurations", "return view.true_work_us_[view.serial(slot)];",
              "private"},
        Cheat{"ReadsJobsToCome", "return view.fixed_->jobs.gpus[view.serial(slot) + 1];",
              "private"},
        Cheat{"ReadsTheLargestJobToCome",
              "return view.class_gpus_to_start(view.num_request_classes() - 1);", "private"},
        Cheat{"CountsTheUsersToCome", "return view.num_users();", "private"},
        Cheat{"AsksWhetherSharesWillCome", "return view.has_gpu_shares();", "private"},
        Cheat{"AsksWhetherAnythingWillFail", "return view.has_faults();", "private"},
        Cheat{"ReadsTheTruth", "return Truth{}.work_us[view.serial(slot)];", "Truth"},
        Cheat{"ReadsTheCompletionQueue", "return EventQueue{}.next_us();", "EventQueue"},
        Cheat{"CopiesTheState", "SimState copy = *view.state_; return copy.head->now_us;",
              "private"},
        Cheat{"SimulatesAhead",
              "SimState copy{}; SimModel fixed{}; advance(fixed, {}, copy, {}); return 0;",
              "advance"},
        Cheat{"MakesAWorldOfItsOwn", "World world({}, view.num_slots()); return 0;", "World"},
        Cheat{"MovesTheClock", "draft.state_->head->now_us += 1; return 0;", "private"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace yard::testing
