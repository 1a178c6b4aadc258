// Loads a YAML file that holds exactly one document.
#pragma once

#include <string>

namespace YAML {
class Node;
struct Mark;
}  // namespace YAML

namespace yard {

// Returns the document of a file, or a null node for an empty file. Throws InputError with line and
// column if the YAML is invalid or has a second document. (YAML::LoadAll() may not end: yaml-cpp
// bug 1040.)
YAML::Node read_yaml_document(const std::string& path);

// Parses `text` as read_yaml_document() does. `path` is the file name in error messages.
YAML::Node parse_yaml_document(const std::string& text, const std::string& path);

// Returns "PATH:LINE:COLUMN", or the path alone if the position `mark` is unknown.
std::string yaml_position(const std::string& path, const YAML::Mark& mark);

}  // namespace yard
