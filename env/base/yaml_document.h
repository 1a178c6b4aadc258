// The one document of a YAML file.
#pragma once

#include <string>

namespace YAML {
class Node;
}

namespace yard {

// Returns it, a null where the file says nothing. Throws InputError, with line and column, where
// the file is no YAML or something follows the document; in that it is stricter than YAML::Load(),
// and it ends where YAML::LoadAll() of yaml-cpp 0.7 does not (its bug 1040).
YAML::Node read_yaml_document(const std::string& path);

// The same of the text of a file.
YAML::Node parse_yaml_document(const std::string& text, const std::string& path);

}  // namespace yard
