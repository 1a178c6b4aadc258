#include "serving/engine/kept_models.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/json_flaw.h"
#include "serving/engine/model_catalog.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void write_kept_models(const std::string& path, const std::vector<KeptModel>& models) {
  Json list = Json::array();
  for (const KeptModel& one : models) {
    list.push_back({{"name", one.name},
                    {"configured", one.configured},
                    {"current", one.current},
                    {"candidate", one.candidate},
                    {"previous", one.previous},
                    {"mode", mode_name(one.mode)},
                    {"share", one.share},
                    {"turn_s", one.turn_s},
                    {"mode_unix_s", one.mode_unix_s}});
  }
  try {
    write_file_atomic(path, Json{{"models", list}}.dump(2) + "\n");
  } catch (const std::exception& error) {
    throw RunError(path + ": " + error.what());
  }
}

std::vector<KeptModel> read_kept_models(const std::string& path) {
  std::vector<KeptModel> out;
  if (!std::filesystem::exists(path)) return out;
  try {
    const Json document = Json::parse(read_file(path));
    for (const Json& one : document.at("models")) {
      out.push_back({.name = one.at("name"),
                     .configured = one.at("configured"),
                     .current = one.at("current"),
                     .candidate = one.at("candidate"),
                     .previous = one.at("previous"),
                     .mode = parse_mode(one.at("mode")),
                     .share = one.at("share"),
                     .turn_s = one.at("turn_s"),
                     .mode_unix_s = one.at("mode_unix_s")});
    }
  } catch (const Json::exception& error) {
    throw InputError(path, "models as a server has kept them", json_error_text(error));
  }
  return out;
}

}  // namespace yard
