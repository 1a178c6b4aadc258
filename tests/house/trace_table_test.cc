// scripts/traces.tsv, from which users fetch traces, lists every file that tests, experiments and
// ready-made clusters name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/support/require.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

std::vector<std::vector<std::string>> table() {
  const std::string text = read_file("scripts/traces.tsv");
  std::vector<std::vector<std::string>> rows;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    std::vector<std::string> row;
    for (const std::string_view field : split(line, '\t')) row.emplace_back(field);
    rows.push_back(std::move(row));
  }
  return rows;
}

bool is_source(const fs::path& path) {
  return path.extension() == ".cc" || path.extension() == ".h" || path.extension() == ".yaml" ||
         path.extension() == ".sh";
}

TEST(TraceTable, EveryRowIsComplete) {
  const auto rows = table();
  ASSERT_GT(rows.size(), 100u);
  std::set<std::string> files;
  for (size_t i = 1; i < rows.size(); ++i) {
    const auto& row = rows[i];
    ASSERT_EQ(row.size(), 7u) << row.front();
    EXPECT_TRUE(files.insert(row[0]).second) << row[0];
    EXPECT_TRUE(row[0].ends_with(".gz")) << row[0];
    EXPECT_EQ(row[2].size(), 64u) << row[0];
    EXPECT_EQ(row[4].size(), 40u) << row[0];
    EXPECT_FALSE(row[3].empty() || row[5].empty() || row[6].empty()) << row[0];
  }
}

TEST(TraceTable, HasEveryTraceInUse) {
  const auto rows = table();
  std::set<std::string> folders;
  for (size_t i = 1; i < rows.size(); ++i) {
    folders.insert(rows[i][0].substr(0, rows[i][0].find('/')));
  }
  const std::regex named("([a-z0-9-]+)/[A-Za-z0-9_./=-]*");
  std::set<std::string> seen;
  for (const char* const root : {"tests", "experiments", "scripts", "env/cluster"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      if (entry.path().filename() == "trace_table_test.cc") continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), named), end; it != end; ++it) {
        const std::string name = it->str();
        if (!folders.contains((*it)[1].str())) continue;
        // Two folders come from repositories without a licence. The table leaves them out.
        if (name.find("upstream-licence-only") != name.npos) continue;
        seen.insert(name);
        const auto begins = [&](const std::vector<std::string>& row) {
          return row[0].starts_with(name);
        };
        EXPECT_TRUE(std::ranges::any_of(rows, begins)) << name << " in " << entry.path();
      }
    }
  }
  EXPECT_GT(seen.size(), 20u);
}

TEST(TraceTable, MatchesTheFolderOfTraces) {
  if (!fs::is_directory(testing::traces_dir())) GTEST_SKIP() << "no folder of traces";
  std::set<std::string> files;
  for (const auto& row : table()) files.insert(row[0]);
  for (const auto& entry : fs::recursive_directory_iterator(testing::traces_dir())) {
    if (!entry.is_regular_file() || entry.path().extension() != ".gz") continue;
    const std::string name = fs::relative(entry.path(), testing::traces_dir()).string();
    EXPECT_TRUE(files.contains(name) || name.find("upstream-licence-only") != name.npos) << name;
  }
}

}  // namespace
}  // namespace yard
