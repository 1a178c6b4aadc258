// The project's own source files and the headers each names, read as text.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace yard::testing {

struct SourceFile {
  int lines = 0;
  std::vector<std::string> includes;  // as written between the quotes or the angle brackets
};

// Path seen from the source root -> file, of every C++ and CUDA file on a floor and in tests.
using SourceTree = std::map<std::string, SourceFile>;

SourceTree read_source_tree(const std::string& root);

// One #include line's header; empty where the line is none.
std::string included_header(const std::string& line);

// What breaks a rule of the house in this tree, one sentence each: a floor that looks up, a file
// that reaches what it must not know, a heavy header off its floor, a file too long.
std::vector<std::string> broken_rules(const SourceTree& tree);

}  // namespace yard::testing
