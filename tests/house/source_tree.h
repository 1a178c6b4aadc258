// The project's source files and the headers that each includes, read as text.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace yard::testing {

struct SourceFile {
  int lines = 0;
  std::vector<std::string> includes;  // as in the quotes or angle brackets
};

// Maps path from the source root -> file, for all C++ and CUDA files of all floors and tests.
using SourceTree = std::map<std::string, SourceFile>;

SourceTree read_source_tree(const std::string& root);

// Returns the header that an #include line names. Empty for other lines.
std::string included_header(const std::string& line);

// Returns one sentence per violated rule: an include of a higher floor, of future events or of a
// heavy header, or a file that is too long.
std::vector<std::string> broken_rules(const SourceTree& tree);

}  // namespace yard::testing
