// Properties of every reader of input files, for any text. The text is parsed into a valid value,
// or rejected with an InputError that begins with the location. One target per file format.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/core/check.h"
#include "env/base/core/error.h"

namespace yard::testing {

struct Target {
  std::string name;     // for --format and tests/fuzz/corpus
  std::string example;  // small and valid
  // Returns whether the text was accepted. Aborts with a message if a property is violated.
  std::function<bool(std::string_view)> try_text;
  int mutants = 3000;  // tried by the tests; fewer for slow formats
};

// Returns the targets of all formats: traces, node lists, measurements and other input files.
std::vector<Target> targets();
std::vector<Target> trace_targets();
std::vector<Target> cluster_targets();
std::vector<Target> profile_targets();
std::vector<Target> config_targets();

// Throws InputError if no target has the name.
Target target(std::string_view name);

// Returns the result of read(), or nothing if its InputError begins with one of the places.
template <class Read>
auto read_or_refused(const std::vector<std::string>& places, Read read)
    -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const InputError& error) {
    const std::string_view said = error.what();
    YARD_CHECK(std::ranges::any_of(places, [&](const auto& at) { return said.starts_with(at); }),
               "no place in: " + std::string(said));
    return std::nullopt;
  }
}

// For readers that only accept paths. Writes the text to a file of that name in a folder private to
// this process, and returns its path.
std::string write_input_file(const std::string& name, std::string_view text);

}  // namespace yard::testing
