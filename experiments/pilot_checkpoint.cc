#include "experiments/pilot_checkpoint.h"

#include <yaml-cpp/yaml.h>

#include "experiments/golden_course.h"
#include "policies/learned/open_policy.h"
#include "policies/learned/pilot.h"

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

}  // namespace

Checkpoint pilot_checkpoint(const std::string& file, const Settings& set) {
  Settings rule = policy_file(file, "joint");
  const YAML::Node told = YAML::LoadFile(file)["provenance"];  // policy_file() could read it
  nlohmann::ordered_json provenance =
      told.IsDefined() && told.IsMap() ? json_of(told) : nlohmann::ordered_json::object();
  for (const Setting& s : set.entries()) {
    rule.set(s.key, s.value, s.origin);
    provenance["set"][s.key] = s.value;
  }
  PilotTask task;
  task.rule = parse<JointIndex::Config>(rule);
  Checkpoint out = rule_checkpoint(task);
  out.provenance = std::move(provenance);
  out.provenance["golden_course"] = play_golden_course(out);
  return out;
}

}  // namespace yard
