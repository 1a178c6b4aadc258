#include "env/base/config/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

#include "env/base/core/error.h"
#include "env/base/files/file.h"

namespace yard {
namespace {

// Records only where the last document begins.
class Skip final : public YAML::EventHandler {
 public:
  YAML::Mark start;

  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

}  // namespace

std::string yaml_position(const std::string& path, const YAML::Mark& mark) {
  if (mark.is_null()) return path;
  return path + ":" + std::to_string(mark.line + 1) + ":" + std::to_string(mark.column + 1);
}

YAML::Node read_yaml_document(const std::string& path) {
  return parse_yaml_document(read_file(path), path);
}

YAML::Node parse_yaml_document(const std::string& text, const std::string& path) {
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Skip skip;
    if (parser.HandleNextDocument(skip) && parser.HandleNextDocument(skip)) {
      throw InputError(yaml_position(path, skip.start), "one YAML document", "a second one");
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw InputError(yaml_position(path, error.mark), "valid YAML", error.msg);
  }
}

}  // namespace yard
