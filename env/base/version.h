// What this program is: its release, the commit it was built from, and the compiler and libraries
// it was built with. The names and numbers come from CMake; only version.cc reads them.
#pragma once

#include <span>
#include <string_view>

namespace yard {

struct BuildFact {
  std::string_view name;
  std::string_view value;  // "none" where the build does without it
};

std::string_view release();  // "0.1.0"
std::string_view commit();   // `git describe`, "unknown" outside a checkout
std::span<const BuildFact> build_facts();

}  // namespace yard
