// The program's release, the commit of its source, its compiler and its libraries. CMake defines
// these values (the release in project() of CMakeLists.txt), and only version.cc reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace yard {

struct BuildFact {
  std::string_view name;
  std::string_view value;  // "none" if the build lacks the library
};

std::string_view release_version();  // as "1.2.3"
std::string_view source_commit();    // `git describe`, or "unknown" outside a checkout
std::string version_line();          // "yardmaster 1.2.3 (commit 0123abc)"
std::span<const BuildFact> build_facts();

}  // namespace yard
