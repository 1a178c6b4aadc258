// The committed tables of results match evaluations/*.json, and scripts/results_tables.sh --check
// finds what does not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "env/base/files/file.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

bool has_python() { return std::system("python3 --version >/dev/null 2>&1") == 0; }

// Runs scripts/results_tables.sh in a project; returns whether it succeeded.
bool tables_script(const fs::path& project, const std::string& arguments) {
  const std::string script = (project / "scripts/results_tables.sh").string();
  return std::system(("'" + script + "' " + arguments + " 2>/dev/null").c_str()) == 0;
}

// A copy of the files which the script reads and writes.
class ResultsTables : public ::testing::Test {
 protected:
  void SetUp() override {
    YARD_NEEDS(python, has_python(), "no python3");
    fs::create_directories(copy_ / "docs");
    fs::copy("docs/results.md", copy_ / "docs/results.md");
    fs::create_directories(copy_ / "docs/tutorials");
    fs::copy("docs/tutorials/first-agent.md", copy_ / "docs/tutorials/first-agent.md");
    fs::copy("README.md", copy_ / "README.md");
    fs::copy("evaluations", copy_ / "evaluations", fs::copy_options::recursive);
    fs::create_directories(copy_ / "scripts");
    for (const char* file : {"scripts/results_tables.sh", "scripts/results_tables.py"}) {
      fs::copy(file, copy_ / file);
    }
  }
  void TearDown() override { fs::remove_all(copy_); }

  bool check() const { return tables_script(copy_, "--check"); }

  // Replaces the first `from` in a file of the copy.
  void edit(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read_file(copy_ / file);
    const size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from << " in " << file;
    write_file_atomic(copy_ / file, text.replace(at, from.size(), to));
  }

  const fs::path copy_ =
      fs::path(::testing::TempDir()) / ("yard-results-" + std::to_string(getpid()));
};

TEST_F(ResultsTables, CommittedTablesMatchTheirFiles) {
  EXPECT_TRUE(tables_script(".", "--check")) << "run scripts/results_tables.sh --check";
}

TEST_F(ResultsTables, CheckFindsEveryDifference) {
  ASSERT_TRUE(check());
  const std::pair<std::string, std::string> edits[] = {
      {"docs/results.md", "0.928 [0.889, 0.968]"},  // a headline
      {"docs/results.md", "In short:"},             // prose
      {"evaluations/tables/agents.csv", "0.8889"},
      {"evaluations/tables/index.html", "0.928 [0.889, 0.968]"},
      {"evaluations/goal.json", "0.9570752819537746"},
      {"README.md", "0.928 [0.889, 0.968]"},
      {"evaluations/demo.json", "0.722"},
  };
  for (const auto& [file, from] : edits) {
    const std::string before = read_file(copy_ / file);
    edit(file, from, from.ends_with("]") ? "0.123 [0.123, 0.124]" : "0.123");
    EXPECT_FALSE(check()) << file << ": " << from;
    write_file_atomic(copy_ / file, before);
  }
  write_file_atomic(copy_ / "evaluations/tables/by_hand.csv", "ratio\n");
  EXPECT_FALSE(check()) << "a file which is not generated";
  fs::remove(copy_ / "evaluations/tables/by_hand.csv");
  EXPECT_TRUE(check());
}

TEST_F(ResultsTables, AreWrittenWhereTheyAreMissing) {
  fs::remove_all(copy_ / "evaluations/tables");
  EXPECT_FALSE(check());
  EXPECT_TRUE(tables_script(copy_, ""));
  EXPECT_TRUE(check());
  EXPECT_EQ(read_file(copy_ / "docs/results.md"), read_file("docs/results.md"));
}

}  // namespace
}  // namespace yard::testing
