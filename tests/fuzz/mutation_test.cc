// Fuzzing without libFuzzer: replays inputs that exposed a bug, and random mutations of each
// target's example with a fixed seed.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "env/base/files/file.h"
#include "tests/fuzz/targets.h"

namespace yard::testing {
namespace {

// Values that readers often misinterpret.
const std::vector<std::string> kOdd = {"",
                                       "-1",
                                       "0",
                                       "1e9",
                                       "1e400",
                                       "nan",
                                       "-0",
                                       "99999999999999999999",
                                       "\"",
                                       "\"\"",
                                       "'",
                                       "|",
                                       ",",
                                       "\t",
                                       "\r\n",
                                       "\n",
                                       "\xff",
                                       "é",
                                       "\\",
                                       "{",
                                       "[[",
                                       "]}",
                                       "null",
                                       "2023-03-12T02:30:00",
                                       "#",
                                       ":",
                                       "1970-01-01",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "0.0000001",
                                       std::string(1, '\0'),
                                       std::string(70, '9')};

std::string mutated(std::string text, Rng& rng) {
  for (uint32_t n = 1 + rng.below(4); n > 0 && !text.empty(); --n) {
    const size_t at = rng.below(static_cast<uint32_t>(text.size()));
    const size_t other = rng.below(static_cast<uint32_t>(text.size()));
    const size_t length = std::min<size_t>(1 + rng.below(12), text.size() - at);
    switch (rng.below(6)) {
      case 0:
        text[at] = static_cast<char>(rng.below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, kOdd[rng.below(static_cast<uint32_t>(kOdd.size()))]);
        break;
      case 3:
        text.replace(at, length, kOdd[rng.below(static_cast<uint32_t>(kOdd.size()))]);
        break;
      case 4:
        text.insert(other, text.substr(at, length));
        break;
      default:
        text[at] = text[other];
        break;
    }
  }
  return text;
}

TEST(Fuzz, MutatedExamplesAreReadOrRejected) {
  for (const Target& target : targets()) {
    SCOPED_TRACE(target.name);
    const std::string& example = target.example;
    ASSERT_TRUE(target.try_text(example));
    const size_t body = example.find('\n') + 1;
    int read = 0;
    for (int m = 0; m < target.mutants; ++m) {
      Rng rng = Rng{1}.split(static_cast<uint64_t>(m));
      // Mostly mutates rows: if the header is broken, rows are not read.
      const bool rows = m % 8 != 0;
      read += target.try_text(rows ? example.substr(0, body) + mutated(example.substr(body), rng)
                                   : mutated(example, rng));
    }
    EXPECT_GT(read, target.mutants / 100);  // few, if one bad row rejects the file
    EXPECT_LT(read, target.mutants);
  }
}

// tests/fuzz/corpus/TARGET/*: each input exposed a bug.
TEST(Fuzz, FormerBugsStayFixed) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/fuzz/corpus")) {
    if (!entry.is_regular_file()) continue;
    SCOPED_TRACE(entry.path().string());
    target(entry.path().parent_path().filename().string()).try_text(read_file(entry.path()));
    ++files;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace yard::testing
