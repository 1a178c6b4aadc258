// Loads a YAML file that holds exactly one document.
#pragma once

#include <string>

namespace YAML {
class Node;
struct Mark;
}  // namespace YAML

namespace yard {

// Returns the document, or a null node for an empty file. Throws InputError with line and column if
// the YAML is invalid or a second document follows. (YAML::LoadAll() may not end: yaml-cpp bug
// 1040.)
YAML::Node read_yaml_document(const std::string& path);

// Parses `text`, the content of the file `path`.
YAML::Node parse_yaml_document(const std::string& text, const std::string& path);

// Returns "PATH:LINE:COLUMN", or the path if the mark is unknown.
std::string yaml_position(const std::string& path, const YAML::Mark& mark);

}  // namespace yard
