// Clusters, node lists and faults. Accepted input is also built into the tables which worlds use.
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "env/base/config/registry.h"
#include "env/cluster/node_list.h"
#include "env/cluster/parse.h"
#include "env/cluster/spec.h"
#include "env/sim/rules/faults.h"
#include "env/sim/state/free_map.h"
#include "env/sim/state/tables.h"
#include "env/sim/state/workload.h"
#include "tests/fuzz/targets.h"

namespace yard::testing {
namespace {

// True for node counts of 5 to 7 digits: they are accepted, but make large, slow clusters.
bool is_large_cluster(std::string_view text) {
  size_t digits = 0;
  for (const char c : text) {
    const bool one = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!one && digits > 4 && digits < 8) return true;
    digits = one ? digits + 1 : 0;
  }
  return digits > 4 && digits < 8;
}

void check_nodes(const ClusterSpec& spec) {
  std::map<int32_t, int32_t> pod_of_rack;
  for (const Node& node : spec.nodes) {
    YARD_CHECK(!node.name.empty(), "a node without a name");
    YARD_CHECK(node.gpus >= 0 && node.gpus <= kMaxGpusPerNode, "GPUs of a node");
    YARD_CHECK(node.type >= 0 && node.type < static_cast<int32_t>(spec.types.size()), "no type");
    YARD_CHECK(node.cpus >= 0 && node.mem_gib >= 0, "cores or memory below 0");
    YARD_CHECK(node.rack >= 0 && node.pod >= 0 && node.zone >= 0, "a place below 0");
    YARD_CHECK(pod_of_rack.try_emplace(node.rack, node.pod).first->second == node.pod,
               "a rack in two pods");
    YARD_CHECK(node.tenant >= kNoTenant && node.tenant < static_cast<int32_t>(spec.tenants.size()),
               "no tenant");
    YARD_CHECK(node.island_gpus >= 0 && node.island_gpus <= node.gpus, "an island beyond its node");
  }
}

void check_tenants(const ClusterSpec& spec) {
  const int total = spec.total_gpus();
  std::set<std::string> names;
  int64_t guaranteed = 0;
  for (size_t t = 0; t < spec.tenants.size(); ++t) {
    const Tenant& tenant = spec.tenants[t];
    YARD_CHECK(!tenant.name.empty() && names.insert(tenant.name).second, "a name twice, or none");
    YARD_CHECK(tenant.quota_gpus <= tenant.limit_gpus && tenant.limit_gpus <= total, "a limit");
    int64_t owned = 0;
    for (const Node& node : spec.nodes) {
      if (node.tenant == static_cast<int32_t>(t)) owned += node.gpus;
    }
    YARD_CHECK(owned <= tenant.quota_gpus, "own nodes beyond the quota");
    YARD_CHECK(tenant.weight > 0, "no weight");
    guaranteed += tenant.quota_gpus;
  }
  YARD_CHECK(guaranteed <= total, "more guaranteed than there is");
}

bool try_cluster(const std::string& text, const std::vector<std::string>& places) {
  const auto spec = read_or_refused(places, [&] { return load_cluster(text); });
  if (!spec) return false;
  YARD_CHECK(!spec->nodes.empty() && spec->nodes.size() <= kMaxNodes, "number of nodes");
  YARD_CHECK(!spec->types.empty() && spec->types.size() <= kMaxTypes, "number of types");
  YARD_CHECK(spec->total_gpus() > 0, "no GPU");
  check_nodes(*spec);
  check_tenants(*spec);
  const SpecTable table(*spec);
  YARD_CHECK(table.columns().total_gpus == spec->total_gpus(), "the table's GPUs");
  return true;
}

bool try_shorthand(std::string_view text) {
  const std::string shorthand(text);
  if (!is_cluster_shorthand(shorthand) || is_large_cluster(text)) return false;  // a path otherwise
  return try_cluster(shorthand, {"cluster '"});
}

bool try_yaml(std::string_view text) {
  if (is_large_cluster(text)) return false;
  const std::string path = write_input_file("cluster.yaml", text);
  // Node lists are separate files and may be named with any path.
  const bool lists = text.find("file") != std::string_view::npos;
  return try_cluster(path, {lists ? "/" : path, "cluster '" + path});
}

// `cluster`: path of a cluster file that only refers to the list nodes.csv.
bool try_node_list(const std::string& cluster, std::string_view text) {
  const std::string list = write_input_file("nodes.csv", text);
  return try_cluster(cluster, {list, cluster, "cluster '" + cluster});
}

std::string cluster_of_list(const std::string& format) {
  const auto& provided_keys = Registry<NodeListReader>::info(format).provided_keys;
  const bool tells_gpus = std::ranges::find(provided_keys, "gpus") != provided_keys.end();
  return write_input_file(format + ".yaml",
                          "nodes_from: {file: nodes.csv, format: " + format +
                              (tells_gpus ? "}\n" : ", gpus: 8, island_gpus: 4}\n"));
}

// Two nodes with GPUs and one without.
const ClusterSpec& faulty_cluster() {
  static const ClusterSpec cluster = [] {
    ClusterSpec spec = load_cluster("1x4+2x64");
    for (size_t m = 0; m < 3; ++m) spec.nodes[m].name = std::string(1, static_cast<char>('a' + m));
    spec.nodes[2].gpus = 0;
    return spec;
  }();
  return cluster;
}

bool try_faults(std::string_view text) {
  const ClusterSpec& spec = faulty_cluster();
  const std::string path = write_input_file("faults.csv", text);
  auto faults = read_or_refused({path}, [&] { return read_faults(path, spec); });
  if (!faults) return false;
  for (const Fault& fault : *faults) {
    YARD_CHECK(fault.at_us >= 0 && fault.until_us > fault.at_us, "a fault that does not last");
    YARD_CHECK(fault.node >= 0 && fault.node < static_cast<int32_t>(spec.nodes.size()), "no node");
    const int32_t gpus = spec.nodes[static_cast<size_t>(fault.node)].gpus;
    YARD_CHECK((fault.mask & ~mask_of_low_bits(gpus)) == 0, "GPUs that the node does not have");
  }
  set_reclaim_notice(*faults, FaultModel{}.reclaim_notice_us());
  Workload workload({}, spec);
  workload.set_faults(std::move(*faults));
  const Truth truth = workload.truth();
  for (int32_t f = 0; f < truth.num_faults; ++f) {
    YARD_CHECK(truth.faults[f].at_us >= (f == 0 ? 0 : truth.faults[f - 1].at_us), "out of order");
  }
  return true;
}

// A shortened copy of the example in docs/guides/describe-a-cluster.md, with a node list.
constexpr const char* kCluster = R"(about: a lab
gpu_types:
  v100: {speed: 1, mem_gib: 32, busy_w: 177, shares: milli}
  k80: {speed: 0.25, speed_of_model: {ResNet-50: 0.15, LM: 0.25}, source: 'a, b'}
tiers:
  island: {bandwidth_gbps: 1200, latency_us: 13}
  pod: {oversubscription: 3}
nodes:
  - {count: 3, gpus: 8, type: v100, cpus: 96, mem_gib: 384, nodes_per_rack: 2, tenant: vision}
  - {gpus: 8, type: k80, island_gpus: 2, island_gbps: 126, nics: 2, nic_gbps: 10, rack: 4}
  - {count: 2, gpus: 0, cpus: 64, cpu_overload: 1.5, rack: 0, name: loader, spot: true, zone: 1}
nodes_from:
  - {file: nodes_of_a_lab.csv, format: openb, rack: 9, by_type: {P100: {island_gpus: 2}}}
tenants:
  - {name: vision, weight: 2, may_preempt: borrowers}
  - {name: speech, quota_gpus: 8, limit_gpus: 16, priority: -1, may_lend: false}
)";

constexpr const char* kFaults =
    "at_s,until_s,kind,node,gpus\n"
    "0,20.5,fail,a,all\n"
    "10,,drain,1,0+63\n"
    "100,4000,reclaim,b,all\n";

}  // namespace

std::vector<Target> cluster_targets() {
  write_input_file("nodes_of_a_lab.csv", Registry<NodeListReader>::info("openb").example);
  std::vector<Target> out = {{"cluster", kCluster, try_yaml, 200},
                             {"shorthand", "2x8+3x4:v100", try_shorthand, 500},
                             {"faults", kFaults, try_faults, 300}};
  for (const std::string& format : Registry<NodeListReader>::names()) {
    const std::string cluster = cluster_of_list(format);
    out.push_back({"nodes-" + format, Registry<NodeListReader>::info(format).example,
                   [cluster](std::string_view text) { return try_node_list(cluster, text); }, 200});
  }
  return out;
}

}  // namespace yard::testing
