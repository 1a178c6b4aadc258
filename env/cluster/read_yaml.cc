// Reads a cluster from a YAML file: types, tiers and tenants. read_nodes.cc reads the nodes.
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "env/base/config/yaml_document.h"
#include "env/cluster/parse.h"
#include "env/cluster/yaml.h"

namespace yard {
namespace {

// Figures beyond these limits are taken for mistakes.
constexpr double kMinSpeed = 1e-3, kMaxSpeed = 1e3, kMaxMemGib = 1e6, kMaxPrice = 1e6, kMaxW = 1e5;
constexpr double kMaxGbps = 1e6, kMaxLatencyUs = 1e6, kMaxOversubscription = 1e3;
constexpr double kMaxNeighbours = 100;
constexpr double kMaxGradientMib = 1e7, kMinStepMs = 1e-3, kMaxStepMs = 1e7;
constexpr double kMinWeight = 1e-6, kMaxWeight = 1e6;
constexpr int64_t kMaxPriority = 1'000'000, kMaxGpus = int64_t{kMaxNodes} * kMaxGpusPerNode;

template <size_t N>
std::vector<std::string> list_of(const char* const (&names)[N]) {
  return {names, names + N};
}

void read_types(const YamlMap& types, ClusterSpec& spec) {
  for (const std::string& name : types.keys()) {
    const YamlMap map(types.file(), types[name], "a GPU type",
                      {"speed", "mem_gib", "speed_of_model", "price_per_h", "idle_w", "busy_w",
                       "shares", "source"});
    GpuType& type = spec.types[static_cast<size_t>(find_or_add_gpu_type(spec, name))];
    type.speed = map.number("speed", 1, kMinSpeed, kMaxSpeed);
    type.mem_gib = map.number("mem_gib", 0, 0, kMaxMemGib);
    type.price_per_h = map.number("price_per_h", 0, 0, kMaxPrice);
    type.idle_w = map.number("idle_w", 0, 0, kMaxW);
    type.busy_w = map.number("busy_w", 0, 0, kMaxW);
    if (type.busy_w > 0 && type.idle_w > type.busy_w) {
      map.fail("idle_w", "idle_w of at most busy_w", map.text("idle_w"));
    }
    type.shares = static_cast<Shares>(map.choice("shares", 0, list_of(kShareNames)));
    type.source = map.text("source", "");
    if (!map.has("speed_of_model")) continue;
    const YamlMap models(map.file(), map["speed_of_model"], "speed_of_model");
    for (const std::string& model : models.keys()) {
      type.speed_of_model[model] = models.number(model, 1, kMinSpeed, kMaxSpeed);
    }
  }
}

void read_tiers(const YamlMap& tiers, ClusterSpec& spec) {
  for (int t = 0; t < kTiers; ++t) {
    if (!tiers.has(kTierNames[t])) continue;
    const YamlMap map(tiers.file(), tiers[kTierNames[t]], "a tier",
                      {"bandwidth_gbps", "latency_us", "oversubscription"});
    NetworkTierSpec& tier = spec.tiers[static_cast<size_t>(t)];
    tier.bandwidth_gbps = map.number("bandwidth_gbps", 0, 0, kMaxGbps);
    tier.latency_us = map.number("latency_us", 0, 0, kMaxLatencyUs);
    tier.oversubscription = map.number("oversubscription", 1, 1, kMaxOversubscription);
  }
}

void read_slowdowns(const YamlMap& map, ClusterSpec& spec) {
  spec.slowdowns.neighbours = map.number("neighbours", 0, 0, kMaxNeighbours);
  spec.slowdowns.shared_exchange = map.flag("shared_exchange", false);
}

void read_models(const YamlMap& models, ClusterSpec& spec) {
  for (const std::string& name : models.keys()) {
    const YamlMap map(models.file(), models[name], "a model",
                      {"spread", "gradient_mib", "step_ms", "suffers", "presses"});
    ModelSlowdowns& model = spec.models[name];
    model.spread = map.number("spread", 1, kMinSpeed, 1);
    model.sensitivity = map.number("suffers", 0, 0, kMaxNeighbours);
    model.pressure = map.number("presses", 0, 0, kMaxNeighbours);
    if (!map.has("gradient_mib") && !map.has("step_ms")) continue;
    for (const char* key : {"gradient_mib", "step_ms"}) {
      if (!map.has(key)) map.fail(key, "gradient_mib and step_ms together", "only one");
    }
    if (map.has("spread")) {
      map.fail("spread", "either spread, or gradient_mib and step_ms", "both");
    }
    model.gradient_mib = map.number("gradient_mib", 0, 1e-6, kMaxGradientMib);
    model.step_ms = map.number("step_ms", 0, kMinStepMs, kMaxStepMs);
    for (const Tier tier : {Tier::kNode, Tier::kRack}) {
      if (spec.tiers[static_cast<size_t>(tier)].bandwidth_gbps > 0) continue;
      map.fail("gradient_mib", "bandwidth_gbps for the tiers node and rack",
               std::string("none for ") + kTierNames[static_cast<size_t>(tier)]);
    }
  }
}

const YAML::Node& tenant_list(const YamlMap& root) {
  const YAML::Node& list = root["tenants"];
  if (!list.IsSequence()) root.file().fail(list, "tenants as a list");
  return list;
}

void read_tenant_names(const YamlMap& root, ClusterSpec& spec) {
  for (const auto& item : tenant_list(root)) {
    const YamlMap map(root.file(), item, "a tenant",
                      {"name", "quota_gpus", "limit_gpus", "weight", "priority", "may_borrow",
                       "may_lend", "may_preempt"});
    Tenant tenant;
    tenant.name = map.text("name");
    if (std::ranges::find(spec.tenants, tenant.name, &Tenant::name) != spec.tenants.end()) {
      map.fail("name", "each tenant once", "'" + tenant.name + "' again");
    }
    spec.tenants.push_back(tenant);
  }
}

// Requires: the nodes have been read.
void read_tenant(const YamlMap& map, const ClusterSpec& spec, int64_t owned, Tenant& tenant) {
  const int64_t total = spec.total_gpus();
  const int64_t quota = map.integer("quota_gpus", owned, 0, kMaxGpus);
  if (quota < owned || quota > total) {
    map.fail("quota_gpus",
             "quota_gpus from " + std::to_string(owned) + " (on its own nodes) to " +
                 std::to_string(total) + " (in the cluster)",
             std::to_string(quota));
  }
  tenant.quota_gpus = static_cast<int32_t>(quota);
  tenant.may_borrow = map.flag("may_borrow", true);
  tenant.may_lend = map.flag("may_lend", true);
  const int64_t most = tenant.may_borrow ? total : quota;
  tenant.limit_gpus = static_cast<int32_t>(map.integer("limit_gpus", most, quota, total));
  tenant.weight = map.number("weight", 1, kMinWeight, kMaxWeight);
  tenant.priority = static_cast<int32_t>(map.integer("priority", 0, -kMaxPriority, kMaxPriority));
  tenant.may_preempt = static_cast<Preempts>(map.choice("may_preempt", 0, list_of(kPreemptsNames)));
}

void read_tenants(const YamlMap& root, ClusterSpec& spec) {
  std::vector<int64_t> owned(spec.tenants.size(), 0);
  for (const Node& node : spec.nodes) {
    if (node.tenant != kNoTenant) owned[static_cast<size_t>(node.tenant)] += node.gpus;
  }
  int64_t guaranteed = 0;
  size_t i = 0;
  for (const auto& item : tenant_list(root)) {
    read_tenant(YamlMap(root.file(), item, "a tenant"), spec, owned[i], spec.tenants[i]);
    guaranteed += spec.tenants[i++].quota_gpus;
  }
  if (guaranteed > spec.total_gpus()) {
    root.fail("tenants",
              "quotas of at most " + std::to_string(spec.total_gpus()) + " GPUs in total",
              std::to_string(guaranteed));
  }
}

template <class Read>
void with_root(const std::string& path, Read read) {
  const YamlFile file(path);
  read(YamlMap(file, read_yaml_document(path), "a cluster",
               {"about", "gpu_types", "tiers", "slowdowns", "models", "one_type", "choose_exchange",
                "nodes", "nodes_from", "tenants"}));
}

}  // namespace

ClusterSpec from_yaml(const std::string& path) {
  ClusterSpec spec;
  spec.text = path;
  with_root(path, [&](const YamlMap& root) {
    const auto map = [&](const char* key, const std::vector<std::string>& keys, auto read) {
      if (root.has(key)) read(YamlMap(root.file(), root[key], key, keys), spec);
    };
    spec.about = root.text("about", "");
    map("gpu_types", {}, read_types);
    map("tiers", list_of(kTierNames), read_tiers);
    map("slowdowns", {"neighbours", "shared_exchange"}, read_slowdowns);
    map("models", {}, read_models);
    spec.one_type = root.flag("one_type", false);
    spec.choose_exchange = root.flag("choose_exchange", false);
    if (root.has("tenants")) read_tenant_names(root, spec);
    read_nodes(root, spec);
    if (root.has("tenants")) read_tenants(root, spec);
  });
  return spec;
}

std::string read_cluster_description(const std::string& path) {
  std::string about;
  with_root(path, [&](const YamlMap& root) { about = root.text("about", ""); });
  return about;
}

std::vector<std::string> gpu_type_names_in_yaml(const std::string& path) {
  std::vector<std::string> types;
  with_root(path, [&](const YamlMap& root) {
    if (root.has("gpu_types")) types = YamlMap(root.file(), root["gpu_types"], "gpu_types").keys();
  });
  return types;
}

}  // namespace yard
