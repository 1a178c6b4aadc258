// Commands in README.md, tutorials and guides run as printed, from a folder which looks like the
// source root after `make build`. Blocks whose first line is "# needs: ..." are skipped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"
#include "tests/support/markdown.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

// Line 1 of each script, where a page has its heading. Stops at the first command that fails,
// except one whose pipe `head` closed (141), and writes the command to $YARD_FAILED. Hides public
// traces, and `yardmaster` without its path. Ends servers in the background.
constexpr const char* kPrelude =
    "set -E -o pipefail; unset YARD_TRACES; PATH=${PATH#*:}; YARD_FAILED=$PWD/failed; "
    "trap 'trap - ERR; kill $(jobs -p) 2>/dev/null; wait' EXIT; "
    "trap 'c=$?; [[ $c == 141 ]] || { echo \"$LINENO: $BASH_COMMAND\" >$YARD_FAILED; exit $c; }' "
    "ERR";

constexpr int kTimeLimitS = 500;

std::vector<std::string> pages() {
  std::vector<std::string> out = {"README.md"};
  for (const char* folder : {"docs/tutorials", "docs/guides"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".md") out.push_back(entry.path().generic_string());
    }
  }
  std::ranges::sort(out);
  return out;
}

std::set<std::string> make_targets() {
  static const std::regex rule("^([A-Za-z][A-Za-z0-9_-]*):([^=].*)?$");
  std::set<std::string> out;
  std::istringstream lines(read_file("Makefile"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, rule)) out.insert(found[1]);
  }
  return out;
}

// Returns the first word of "make ..." which is no target of the Makefile, if there is one.
std::optional<std::string> unknown_target(const std::string& line) {
  const std::set<std::string> targets = make_targets();
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  words >> word;  // make
  while (words >> word) {
    const bool is_option = word.starts_with('-') || word.find('=') != word.npos;
    if (!is_option && !targets.contains(word)) return word;
  }
  return {};
}

// A Bash script with the commands of a page, each on the line which it has in the page.
struct Script {
  std::vector<std::string> lines = {kPrelude};
  std::vector<std::string> skipped;  // "12: # needs: minutes"
  std::vector<std::string> invalid;

  explicit Script(const std::string& page) {
    for (const CodeBlock& block : read_markdown(page).blocks) {
      if (block.language != "sh" || block.lines.empty()) continue;
      const MarkdownLine& first = block.lines.front();
      if (trim(first.text).starts_with("# needs:")) {
        skipped.push_back(std::to_string(first.number) + ": " + std::string(trim(first.text)));
        continue;
      }
      for (const MarkdownLine& line : block.lines) add(page, line);
    }
  }

  std::string text() const {
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
  }

 private:
  void add(const std::string& page, const MarkdownLine& line) {
    lines.resize(static_cast<size_t>(line.number));
    if (!trim(line.text).starts_with("make ")) {
      lines.back() = line.text;
    } else if (const auto unknown = unknown_target(line.text)) {
      invalid.push_back(page + ":" + std::to_string(line.number) + ": the Makefile has no target " +
                        *unknown);
    }
  }
};

// Makes the current folder look like the source root after `make build`.
void link_source_root(const fs::path& root) {
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.') || name == "build" || name == "runs") continue;
    fs::create_symlink(entry.path(), name);
  }
  const char* bin = std::getenv("YARD_BIN");
  const fs::path programs = fs::absolute(bin != nullptr ? fs::path(bin) : root / "build/bin");
  fs::create_directory("build");
  fs::create_directory_symlink(programs, "build/bin");
  fs::create_directory_symlink(programs.parent_path() / "lib", "build/lib");
}

std::string end_of(const std::string& text) {
  constexpr size_t kLength = 4000;
  return text.size() <= kLength ? text : "...\n" + text.substr(text.size() - kLength);
}

class DocCommands : public ::testing::TestWithParam<std::string> {};

TEST_P(DocCommands, RunAsPrinted) {
  const std::string page = GetParam();
  if (!trainer_built() || !server_built()) GTEST_SKIP() << "built without LibTorch or gRPC";
  const Script script(page);
  for (const std::string& skipped : script.skipped) {
    std::cout << "skipped: " << page << ":" << skipped << "\n";
  }
  for (const std::string& invalid : script.invalid) ADD_FAILURE() << invalid;
  const fs::path root = fs::current_path();
  const Folder folder;
  link_source_root(root);
  const std::string text = script.text();
  folder.write("page.sh", text);
  // Pages which start a server use the same port: one at a time.
  const bool serves = text.find("yardmaster serve") != text.npos;
  const std::string lock =
      serves ? "flock -o /tmp/yard-doc-server-" + std::to_string(::getuid()) + " " : "";
  const Result ran =
      shell(lock + "timeout -k 10 " + std::to_string(kTimeLimitS) + " bash page.sh 2>&1");
  if (ran.code == 0) return;
  const std::string place = folder.has("failed") ? read_file("failed") : " no command failed\n";
  ADD_FAILURE() << page << ":" << place << "exit code " << ran.code << ", output:\n"
                << end_of(ran.out);
}

std::string case_name(const ::testing::TestParamInfo<std::string>& page) {
  std::string out = fs::path(page.param).replace_extension().string();
  std::ranges::replace_if(
      out, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return out;
}

INSTANTIATE_TEST_SUITE_P(Pages, DocCommands, ::testing::ValuesIn(pages()), case_name);

TEST(DocCommandsScript, KeepsTheLinesOfThePage) {
  const Folder folder;
  folder.write("Makefile", "build: all\n\techo\nX := 1\n");
  folder.write(
      "page.md",
      "# Title\n\n```sh\nmake build  # first\nmake nosuch -j2 A=1\ntrue\n```\n```sh\n"
      "# needs: minutes\nfalse\n```\n```text\nfalse\n```\n  ```sh\n  echo a | false\n  ```\n");
  const Script script("page.md");
  EXPECT_EQ(script.text(), std::string(kPrelude) + std::string(5, '\n') + "true\n" +
                               std::string(9, '\n') + "  echo a | false\n");
  EXPECT_EQ(script.skipped, (std::vector<std::string>{"9: # needs: minutes"}));
  EXPECT_EQ(script.invalid,
            (std::vector<std::string>{"page.md:5: the Makefile has no target nosuch"}));
  folder.write("page.sh", script.text());
  EXPECT_EQ(shell("bash page.sh").code, 1);
  EXPECT_EQ(read_file("failed"), "16: false\n");
}

TEST(Reference, PagesAreWhatTheProgramsPrint) {
  if (!trainer_built() || !server_built()) GTEST_SKIP() << "built without LibTorch or gRPC";
  if (shell("python3 --version").code != 0) GTEST_SKIP() << "no python3";
  const Result check = shell("scripts/reference.sh --check 2>&1");
  EXPECT_EQ(check.code, 0) << end_of(check.out);
}

}  // namespace
}  // namespace yard::testing
