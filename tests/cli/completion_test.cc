// Help, shell completion and the manual page cover all commands and options of this build.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

// The commands which the programs of this build describe.
std::vector<Json> described() {
  const Result result = shell(
      "for p in yardmaster yardmaster-sim yardmaster-train yardmaster-serve yardmaster-bench; do "
      "if command -v $p >/dev/null; then $p --describe || exit; fi; done");
  EXPECT_EQ(result.code, 0) << result.err;
  std::vector<Json> out;
  for (const std::string_view line : split(result.out, '\n')) {
    if (!line.empty()) out.push_back(Json::parse(line));
  }
  return out;
}

// The complete command lines of an example.
std::vector<std::string> examples(const Json& command) {
  std::vector<std::string> out;
  const std::string footer = command["footer"];
  for (const std::string_view line : split(footer, '\n')) {
    if (line.starts_with("  yardmaster ")) out.emplace_back(trim(line));
  }
  return out;
}

bool is_available(const std::string& program) { return shell("command -v " + program).code == 0; }

TEST(Help, EveryOptionHasAHelpTextAndAGroup) {
  const std::vector<Json> commands = described();
  EXPECT_GE(commands.size(), 20u);
  for (const Json& command : commands) {
    EXPECT_NE(command["about"], "") << command["name"];
    for (const Json& option : command["options"]) {
      EXPECT_NE(option["help"], "") << command["name"] << option["names"];
      if (!option["names"][0].get<std::string>().starts_with("-")) continue;
      EXPECT_NE(option["group"], "") << command["name"] << option["names"];
      EXPECT_NE(option["group"], "Options") << command["name"] << option["names"];
    }
  }
}

TEST(Help, ShowsGroupsAndEndsWithTheExample) {
  for (const Json& command : described()) {
    const std::string name = command["name"], footer = command["footer"];
    const Result help = shell("yardmaster " + name + " --help");
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_THAT(help.out, HasSubstr("Usage: yardmaster " + name + " "));
    EXPECT_THAT(footer, HasSubstr("Example:\n  ")) << name;
    EXPECT_TRUE(help.out.ends_with("\n\n" + footer + "\n")) << help.out;
    for (const Json& option : command["options"]) {
      const std::string spelling = option["names"].back();
      EXPECT_THAT(help.out, HasSubstr(spelling)) << name;
      if (!spelling.starts_with("-")) continue;
      EXPECT_THAT(help.out, HasSubstr("\n" + option["group"].get<std::string>() + ":\n")) << name;
    }
  }
}

TEST(Help, ExamplesUseOptionsOfTheirCommand) {
  const std::vector<Json> commands = described();
  for (const Json& command : commands) {
    for (const std::string& line : examples(command)) {
      std::set<std::string> known;  // of the command of this line
      for (const Json& one : commands) {
        if (!(line + " ").starts_with("yardmaster " + one["name"].get<std::string>() + " ")) {
          continue;
        }
        for (const Json& option : one["options"]) {
          for (const Json& name : option["names"]) known.insert(name);
        }
      }
      EXPECT_FALSE(known.empty()) << line;
      for (const std::string_view word : split(line, ' ')) {
        EXPECT_TRUE(!word.starts_with("--") || known.contains(std::string(word))) << line;
      }
    }
  }
}

TEST(Help, QuickExamplesRun) {
  const std::filesystem::path root = std::filesystem::current_path();
  const std::set<std::string> quick = {"simulate", "evaluate", "tune",    "gap",
                                       "predict",  "trace",    "cluster", "list",
                                       "picture",  "report",   "decide",  "version"};
  const Folder folder;
  for (const char* used : {"checkpoints", "experiments"}) {
    std::filesystem::create_directory_symlink(root / used, used);
  }
  int count = 0;
  for (const Json& command : described()) {
    const std::string name = command["name"];
    if (!quick.contains(name.substr(0, name.find(' ')))) continue;
    for (const std::string& line : examples(command)) {
      if (line.find("--cells") != line.npos) continue;  // needs recorded traces
      const Result result = shell(line);
      EXPECT_EQ(result.code, 0) << line << "\n" << result.err;
      ++count;
    }
  }
  EXPECT_GE(count, 15);
}

TEST(Completion, BashCompletesCommandsOptionsAndNames) {
  const Folder folder;
  ASSERT_EQ(shell("yardmaster completion bash >complete.sh").code, 0);
  const auto completed = [](const std::string& words) {
    const Result result = shell("bash -c 'source ./complete.sh; COMP_WORDS=(yardmaster " + words +
                                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _yardmaster; echo "
                                "\" ${COMPREPLY[*]} \"'");
    EXPECT_EQ(result.err, "") << words;
    return result.out;
  };
  EXPECT_EQ(completed("sim"), " simulate \n");
  EXPECT_EQ(completed("simulate --poli"), " --policy \n");
  EXPECT_EQ(completed("trace des"), " describe \n");
  EXPECT_EQ(completed("simulate --metrics a"), " all \n");
  EXPECT_EQ(completed("simulate --out \"\""), "  \n") << "a file";
  EXPECT_EQ(completed("nosuch --"), "  \n");
  const std::pair<const char*, const char*> cases[] = {
      {"simulate --policy gre", " greedy "},
      {"simulate --policy fifo,gre", " fifo,greedy "},
      {"simulate --policy = gre", " greedy "},
      {"simulate --cluster phi", " philly "},
      {"simulate --rules tire", " tiresias "},
      {"simulate --trace synthetic : hab", " habits "},
      {"trace describe --format hel", " helios "},
      {"list policies gre", " greedy "},
      {"cluster describe phi", " philly "},
      {"man simu", " simulate "},
      {"simulate --p", " --policy "}};
  for (const auto& [words, name] : cases) EXPECT_THAT(completed(words), HasSubstr(name)) << words;
  const std::string all = completed("evaluate --against \"\"");
  const Result listed = shell("yardmaster list policies --json");
  for (const Json& row : Json::parse(listed.out)["policies"]) {
    EXPECT_THAT(all, HasSubstr(" " + row["name"].get<std::string>() + " "));
  }
}

TEST(Completion, ZshScriptDefinesTheCompletion) {
  const Folder folder;
  ASSERT_EQ(shell("yardmaster completion zsh >_yardmaster").code, 0);
  EXPECT_TRUE(read_file("_yardmaster").starts_with("#compdef yardmaster\n"));
  YARD_NEEDS(zsh, is_available("zsh"), "not installed");
  const Result words = shell(
      "zsh -n _yardmaster && zsh -f -c 'compdef() { echo \"$@\"; }; . ./_yardmaster; "
      "_yardmaster_words \"simulate --rules\"'");
  EXPECT_EQ(words.code, 0) << words.err;
  EXPECT_THAT(words.out, HasSubstr("_yardmaster yardmaster\n"));
  EXPECT_THAT(words.out, HasSubstr("\ntiresias\n"));
}

TEST(Manual, HasEveryCommandAndOption) {
  const Folder folder;
  ASSERT_EQ(shell("yardmaster man >yardmaster.1").code, 0);
  const std::string page = read_file("yardmaster.1");
  for (const Json& command : described()) {
    const std::string name = command["name"];
    const size_t at = page.find("\n.SS yardmaster " + name + "\n");
    ASSERT_NE(at, page.npos) << name;
    const std::string section = page.substr(at, page.find("\n.SS ", at + 1) - at);
    for (const Json& option : command["options"]) {
      std::string spelling = option["names"].back();
      for (size_t i = 0; (i = spelling.find('-', i)) != spelling.npos; i += 2) {
        spelling.insert(i, "\\");
      }
      EXPECT_THAT(section, HasSubstr(spelling + "\\fR")) << name;
    }
  }
  const std::string one = shell("yardmaster man simulate").out;
  EXPECT_THAT(one, HasSubstr(".TH YARDMASTER-SIMULATE 1"));
  EXPECT_THAT(one, Not(HasSubstr(".SS yardmaster tune")));
  for (const std::string check : {"man -l --warnings", "mandoc -Tlint"}) {
    if (!is_available(check.substr(0, check.find(' ')))) continue;
    const Result result = shell("LC_ALL=C " + check + " yardmaster.1");
    EXPECT_EQ(result.code, 0) << check << result.out;
    EXPECT_EQ(result.err, "") << check;
  }
}

}  // namespace
}  // namespace yard::testing
