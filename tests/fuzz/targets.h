// What must hold of any text that somebody hands in as a file: it becomes a value that makes sense,
// or it is refused with an InputError that begins with the place. One target a kind of file.
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
  std::string name;     // of --format and of the folder in tests/fuzz/corpus
  std::string example;  // small, and read
  // Returns whether the text was read; aborts, naming what does not hold.
  std::function<bool(std::string_view)> try_text;
  int mutants = 3000;  // that the tests try; fewer where one takes long
};

// Every format of traces, node lists and measurements, and what else is handed in.
std::vector<Target> targets();
std::vector<Target> trace_targets();
std::vector<Target> cluster_targets();
std::vector<Target> profile_targets();
std::vector<Target> config_targets();

// Throws InputError for a name that no target has.
Target target(std::string_view name);

// Returns what read() returns; nothing where it refuses, naming one of the places.
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

// Some readers take paths alone. Writes the text to a file of that name in a folder that this
// process has for itself, and returns its path.
std::string handed_in(const std::string& name, std::string_view text);

}  // namespace yard::testing
