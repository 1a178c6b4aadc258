// A skip is not a pass: a test says what it needs, and YARD_REQUIRE=data,onnx,... turns the skip
// of a named need into a failure.
//
//   YARD_NEEDS(data, std::filesystem::exists(file), file + " is not there");
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace yard::testing {

// Whether YARD_REQUIRE, a list separated by commas, names this need.
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

// The folder of public traces: $YARD_TRACES, else ../shared/traces seen from the source root, where
// ctest runs every test. Empty where there is none.
inline std::filesystem::path traces_dir() {
  const char* named = std::getenv("YARD_TRACES");
  const std::filesystem::path dir = named != nullptr && *named != 0 ? named : "../shared/traces";
  return std::filesystem::is_directory(dir) ? dir : std::filesystem::path();
}

// The folder of expected results of published simulators, beside the traces. Empty where there is
// none.
inline std::filesystem::path xval_dir() {
  const std::filesystem::path traces = traces_dir();
  if (traces.empty()) return {};
  const std::filesystem::path dir = traces / ".." / "xval";
  return std::filesystem::is_directory(dir) ? dir : std::filesystem::path();
}

}  // namespace yard::testing

// Goes on where `present` holds; else skips the test with the reason, or fails it where
// YARD_REQUIRE names the need. Use it in the body of a test.
#define YARD_NEEDS(need, present, reason)                          \
  do {                                                             \
    if (present) break;                                            \
    if (::yard::testing::required(#need)) {                        \
      FAIL() << "YARD_REQUIRE names " #need ", but: " << (reason); \
    }                                                              \
    GTEST_SKIP() << "needs " #need ": " << (reason);               \
  } while (false)

// The two most common needs, files of the public traces and of the published results.
#define YARD_NEEDS_TRACES()                                \
  YARD_NEEDS(data, !::yard::testing::traces_dir().empty(), \
             "no folder of traces (YARD_TRACES, or ../shared/traces)")
#define YARD_NEEDS_XVAL()                                \
  YARD_NEEDS(data, !::yard::testing::xval_dir().empty(), \
             "no folder of published results beside the traces (YARD_TRACES/../xval)")
