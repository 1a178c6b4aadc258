// Skips of tests. A test states what it needs; YARD_REQUIRE=data,onnx,... turns the skip for a
// named need into a failure.
//
//   YARD_NEEDS(data, std::filesystem::exists(file), file + " is not there");
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace yard::testing {

// Returns whether YARD_REQUIRE, a comma-separated list, contains this need.
inline bool required(std::string_view need) {
  const char* list = std::getenv("YARD_REQUIRE");
  std::string_view rest = list == nullptr ? "" : list;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == need) return true;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return false;
}

// Returns the folder of public traces: $YARD_TRACES, else ../shared/traces relative to the source
// root, where ctest runs every test. Empty if there is none.
inline std::filesystem::path traces_dir() {
  const char* named = std::getenv("YARD_TRACES");
  const std::filesystem::path dir = named != nullptr && *named != 0 ? named : "../shared/traces";
  return std::filesystem::is_directory(dir) ? dir : std::filesystem::path();
}

// Returns the folder of published simulators' results, `xval` next to the folder of traces. Empty
// if there is none.
inline std::filesystem::path xval_dir() {
  const std::filesystem::path traces = traces_dir();
  if (traces.empty()) return {};
  const std::filesystem::path dir = traces / ".." / "xval";
  return std::filesystem::is_directory(dir) ? dir : std::filesystem::path();
}

}  // namespace yard::testing

// Continues if `present` holds. Otherwise skips the test with the reason, or fails it if
// YARD_REQUIRE names the need. For use in the body of a test.
#define YARD_NEEDS(need, present, reason)                          \
  do {                                                             \
    if (present) break;                                            \
    if (::yard::testing::required(#need)) {                        \
      FAIL() << "YARD_REQUIRE names " #need ", but: " << (reason); \
    }                                                              \
    GTEST_SKIP() << "needs " #need ": " << (reason);               \
  } while (false)

// The two most common needs: files of the public traces and of the published results.
#define YARD_NEEDS_TRACES()                                \
  YARD_NEEDS(data, !::yard::testing::traces_dir().empty(), \
             "no folder of traces (YARD_TRACES, or ../shared/traces)")
#define YARD_NEEDS_XVAL()                                \
  YARD_NEEDS(data, !::yard::testing::xval_dir().empty(), \
             "no folder of published results beside the traces (YARD_TRACES/../xval)")
