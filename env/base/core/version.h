// The program's release, the commit it was built from, its compiler and its libraries. The values
// come from CMake (the release from project() in CMakeLists.txt); only version.cc reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace yard {

struct BuildFact {
  std::string_view name;
  std::string_view value;  // "none" if the build lacks it
};

std::string_view release();  // as "1.2.3"
std::string_view commit();   // of `git describe`; "unknown" outside a checkout
std::string version_line();  // "yardmaster 1.2.3 (commit 0123abc)"
std::span<const BuildFact> build_facts();

}  // namespace yard
