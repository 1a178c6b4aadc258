// The program's release, the commit it was built from, its compiler and its libraries. The values
// come from CMake; only version.cc reads them.
#pragma once

#include <span>
#include <string_view>

namespace yard {

struct BuildFact {
  std::string_view name;
  std::string_view value;  // "none" if the build lacks it
};

std::string_view release();  // "0.1.0"
std::string_view commit();   // of `git describe`; "unknown" outside a checkout
std::span<const BuildFact> build_facts();

}  // namespace yard
