// Prints formatted output of programs.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace yard {

// Prints like fmt::print(). A failed write throws no exception, but sets the error flag of the
// stream, which run_main() checks at the end.
template <class... Args>
void print_to(std::FILE* to, fmt::format_string<Args...> format, Args&&... args) {
  std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), to);
}

}  // namespace yard
