// Loads a YAML file that holds exactly one document.
#pragma once

#include <string>

namespace YAML {
class Node;
}

namespace yard {

// Returns the document, or a null node for an empty file. Throws InputError with line and column if
// the YAML is invalid or a second document follows. YAML::Load() ignores the latter, and
// YAML::LoadAll() of yaml-cpp 0.7 may not terminate (its bug 1040).
YAML::Node read_yaml_document(const std::string& path);

// Parses `text`, the content of the file `path`.
YAML::Node parse_yaml_document(const std::string& text, const std::string& path);

}  // namespace yard
