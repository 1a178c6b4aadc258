#include "experiments/search/pilot_checkpoint.h"

#include <yaml-cpp/yaml.h>

#include "env/base/config/settings.h"
#include "env/base/files/file.h"
#include "experiments/replay/golden_workload.h"
#include "policies/learned/learned_policy.h"
#include "policies/learned/open_policy.h"

namespace yard {
namespace {

nlohmann::ordered_json json_of(const YAML::Node& node) {
  if (node.IsScalar() || node.IsNull()) return node.IsNull() ? "" : node.Scalar();
  if (node.IsSequence()) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const auto& entry : node) list.push_back(json_of(entry));
    return list;
  }
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& entry : node) out[entry.first.Scalar()] = json_of(entry.second);
  return out;
}

// Returns the core-seconds of the search that wrote `file`, from its state file; 0 if there is
// none.
double search_core_s(std::filesystem::path file) {
  const std::filesystem::path state = file.replace_extension(".search.json");
  if (!std::filesystem::exists(state)) return 0;
  const auto json = nlohmann::json::parse(read_file(state), nullptr, false);
  const nlohmann::json::json_pointer core_s("/core_s");
  if (!json.contains(core_s) || !json[core_s].is_number()) return 0;
  return json[core_s];
}

}  // namespace

Checkpoint checkpoint_from_policy_file(const std::string& file, const Settings& set) {
  Settings rule = read_policy_file(file, "joint").settings;
  const YAML::Node file_provenance =
      YAML::LoadFile(file)["provenance"];  // readable: read_policy_file() succeeded
  nlohmann::ordered_json provenance = file_provenance.IsDefined() && file_provenance.IsMap()
                                          ? json_of(file_provenance)
                                          : nlohmann::ordered_json::object();
  for (const GivenSetting& s : set.entries()) {
    rule.set(s.key, s.value, s.origin);
    provenance["set"][s.key] = s.value;
  }
  Checkpoint out = expert_checkpoint("pilot", rule);
  out.provenance = std::move(provenance);
  out.core_s = search_core_s(file);
  out.provenance["golden_workload"] = run_golden_workload(out);
  return out;
}

}  // namespace yard
