// Errors for invalid YAML files. Invalid input must never cause anything but an InputError.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/cluster/spec.h"
#include "tests/support/temp_file.h"

namespace yard {
namespace {

using ::testing::HasSubstr;
using testing::TempFile;

std::string load_error(const std::string& text) {
  try {
    load_cluster(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

struct Wrong {
  const char* name;
  const char* yaml;
  const char* message;  // after the file's name
};

class WrongYaml : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongYaml, NamesLineAndColumn) {
  const TempFile file("wrong.yaml", GetParam().yaml);
  EXPECT_THAT(load_error(file.path()), HasSubstr(file.path() + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Cluster, WrongYaml,
    ::testing::Values(
        Wrong{"empty", "",
              ": expected a cluster as a map, with the keys about, gpu_types, tiers, slowdowns, "
              "models, one_type, choose_exchange, "
              "nodes, nodes_from, tenants, got nothing"},
        Wrong{"scalar", "8x8\n", ":1:1: expected a cluster as a map"},
        Wrong{"syntax", "nodes:\n  - {gpus: 8\n",
              ":3:1: expected valid YAML, got end of map flow not found"},
        Wrong{"two_documents", "nodes: [{gpus: 8}]\n---\nnodes: [{gpus: 8}]\n",
              ":2:1: expected one YAML document, got a second one"},
        Wrong{"more", "nodes: [{gpus: 8}]\n]\n", ":2:1: expected valid YAML, got illegal flow end"},
        Wrong{"comma", "# on and on\n, nodes: []\n", ":2:1: expected one YAML document"},
        Wrong{"unknown_top", "nodes: [{gpus: 8}]\nswitches: 4\n",
              ":2:1: expected one of the keys about, gpu_types, tiers, slowdowns, "
              "models, one_type, choose_exchange, nodes, nodes_from, tenants, "
              "got 'switches'"},
        Wrong{"about", "about: [a]\nnodes: [{gpus: 8}]\n",
              ":1:8: expected about as non-empty text"},
        // Nodes.
        Wrong{"no_nodes", "about: x\n", ":1:1: expected nodes or nodes_from, got neither"},
        Wrong{"empty_list", "nodes: []\n",
              ":1:8: expected nodes as a list of groups, got an empty list"},
        Wrong{"map", "nodes: {gpus: 8}\n", ":1:8: expected nodes as a list of groups, got a map"},
        Wrong{
            "unknown_key", "nodes:\n  - gpus: 8\n    gpu_count: 9\n",
            ":3:5: expected one of the keys count, name, tenant, gpus, type, cpus, mem_gib, rack"},
        Wrong{"twice", "nodes:\n  - gpus: 8\n    gpus: 4\n",
              ":3:5: expected each key once, got 'gpus' again"},
        Wrong{"no_gpus", "nodes:\n  - gpus: 8\n  - {count: 2}\n",
              ":3:5: expected gpus, the number of GPUs per node, got none"},
        Wrong{"too_many", "nodes:\n  - gpus: 65\n",
              ":2:11: expected gpus as a whole number from 0 to 64, got '65'"},
        Wrong{"fraction", "nodes:\n  - gpus: 8\n    count: 1.5\n",
              ":3:12: expected count as a whole number from 1 to 1048576, got '1.5'"},
        Wrong{"many_nodes", "nodes: [{gpus: 1, count: 1000000}, {gpus: 1, count: 1000000}]\n",
              ":1:36: expected 1 to 1048576 nodes in total, got 2000000"},
        Wrong{"no_gpu_at_all", "nodes: [{gpus: 0, count: 4}]\n",
              ":1:8: expected at least one GPU, got none"},
        Wrong{"type_of_none", "nodes: [{gpus: 8}, {gpus: 0, type: v100}]\n",
              ":1:36: expected no type on nodes without GPUs, got 'v100'"},
        Wrong{"spot", "nodes: [{gpus: 8, spot: yes}]\n",
              ":1:25: expected spot as one of: false, true, got 'yes'"},
        Wrong{"island", "nodes: [{gpus: 4, island_gpus: 8}]\n",
              ":1:32: expected islands of at most 4 GPUs, got 8"},
        Wrong{"overload", "nodes: [{gpus: 4, cpu_overload: 0.5}]\n",
              ":1:33: expected cpu_overload as a number from 1 to 100, got '0.5'"},
        Wrong{"not_a_number", "nodes: [{gpus: 4, nic_gbps: fast}]\n",
              ":1:29: expected nic_gbps as a number from 0 to 1e+06, got 'fast'"},
        Wrong{"nan", "nodes: [{gpus: 4, mem_gib: .nan}]\n", ":1:28: expected mem_gib as a number"},
        // Racks and pods.
        Wrong{"both_racks", "nodes: [{gpus: 4, rack: 1, nodes_per_rack: 2}]\n",
              ":1:44: expected either rack or nodes_per_rack, got both"},
        Wrong{"both_pods", "nodes: [{gpus: 4, nodes_per_rack: 2, pod: 1, racks_per_pod: 2}]\n",
              ":1:61: expected either pod or racks_per_pod, got both"},
        Wrong{"pods_of_no_racks", "nodes: [{gpus: 4, racks_per_pod: 2}]\n",
              ":1:34: expected nodes_per_rack together with racks_per_pod, got none"},
        Wrong{"some_racks", "nodes:\n- {gpus: 4, nodes_per_rack: 2}\n- {gpus: 4}\n",
              ":3:3: expected rack or nodes_per_rack, since other nodes have racks, got neither"},
        Wrong{"some_pods",
              "nodes:\n- {gpus: 4, nodes_per_rack: 2, racks_per_pod: 1}\n- {gpus: 4, rack: 0}\n",
              ":3:3: expected pod or racks_per_pod, since other nodes have pods, got neither"},
        Wrong{"rack_in_two_pods",
              "nodes:\n- {gpus: 4, rack: 3, pod: 0}\n- {gpus: 4, rack: 3, pod: 1}\n",
              ":3:27: expected rack 3 in one pod, got pods 0 and 1"},
        // Types.
        Wrong{"types", "gpu_types: [k80]\nnodes: [{gpus: 1}]\n",
              ":1:12: expected gpu_types as a map, got a list"},
        Wrong{"type_twice", "gpu_types: {a: {speed: 1}, a: {speed: 1}}\nnodes: [{gpus: 1}]\n",
              ":1:28: expected each key once, got 'a' again"},
        Wrong{"type_key", "gpu_types: {a: {spede: 1}}\nnodes: [{gpus: 1}]\n",
              ":1:17: expected one of the keys speed, mem_gib, speed_of_model"},
        Wrong{"speed", "gpu_types:\n  k80:\n    speed: 0\nnodes: [{gpus: 1}]\n",
              ":3:12: expected speed as a number from 0.001 to 1000, got '0'"},
        Wrong{"model_speed", "gpu_types: {a: {speed_of_model: {LM: -1}}}\nnodes: [{gpus: 1}]\n",
              ":1:38: expected LM as a number from 0.001 to 1000, got '-1'"},
        Wrong{"power", "gpu_types: {a: {idle_w: 300, busy_w: 200}}\nnodes: [{gpus: 1}]\n",
              ":1:25: expected idle_w of at most busy_w, got 300"},
        Wrong{"shares", "gpu_types: {a: {shares: half}}\nnodes: [{gpus: 1}]\n",
              ":1:25: expected shares as one of: none, milli, got 'half'"},
        Wrong{"complex_key", "gpu_types: {[a]: {speed: 1}}\nnodes: [{gpus: 1}]\n",
              ":1:13: expected a key of gpu_types, got a list"},
        Wrong{"model", "models: {LM: {spread: 2}}\nnodes: [{gpus: 1}]\n",
              ":1:23: expected spread as a number from 0.001 to 1, got '2'"},
        Wrong{"half_an_exchange", "models: {LM: {gradient_mib: 2}}\nnodes: [{gpus: 1}]\n",
              ":1:14: expected gradient_mib and step_ms together, got only one"},
        Wrong{"exchange_and_spread",
              "models: {LM: {gradient_mib: 2, step_ms: 3, spread: 0.5}}\nnodes: [{gpus: 1}]\n",
              ":1:52: expected either spread, or gradient_mib and step_ms, got both"},
        Wrong{"exchange_over_nothing",
              "tiers: {node: {bandwidth_gbps: 9}}\n"
              "models: {LM: {gradient_mib: 2, step_ms: 3}}\nnodes: [{gpus: 1}]\n",
              ":2:29: expected bandwidth_gbps for the tiers node and rack, got none for rack"},
        // Tiers.
        Wrong{"tier", "tiers: {room: {latency_us: 1}}\nnodes: [{gpus: 1}]\n",
              ":1:9: expected one of the keys gpu, island, node, rack, pod, core, got 'room'"},
        Wrong{"oversubscription", "tiers: {pod: {oversubscription: 0.5}}\nnodes: [{gpus: 1}]\n",
              ":1:33: expected oversubscription as a number from 1 to 1000, got '0.5'"},
        Wrong{"unitless", "tiers: {pod: {bandwidth: 100}}\nnodes: [{gpus: 1}]\n",
              ":1:15: expected one of the keys bandwidth_gbps, latency_us, oversubscription"},
        // Tenants.
        Wrong{"tenants", "nodes: [{gpus: 8}]\ntenants: {name: a}\n",
              ":2:10: expected tenants as a list, got a map"},
        Wrong{"nameless", "nodes: [{gpus: 8}]\ntenants: [{weight: 2}]\n",
              ":2:11: expected name of a tenant, got none"},
        Wrong{"tenant_twice", "nodes: [{gpus: 8}]\ntenants: [{name: a}, {name: a}]\n",
              ":2:29: expected each tenant once, got 'a' again"},
        Wrong{"nobodys_node", "nodes: [{gpus: 8, tenant: b}]\ntenants: [{name: a}]\n",
              ":1:27: expected a name from tenants, got 'b'"},
        Wrong{"quota", "nodes: [{gpus: 8}]\ntenants: [{name: a, quota_gpus: 9}]\n",
              ":2:33: expected quota_gpus from 0 (on its own nodes) to 8 (in the cluster), got 9"},
        Wrong{"quota_below_own",
              "nodes: [{gpus: 8, tenant: a}]\ntenants: [{name: a, quota_gpus: 4}]\n",
              ":2:33: expected quota_gpus from 8"},
        Wrong{"quotas",
              "nodes: [{gpus: 8}]\ntenants: [{name: a, quota_gpus: 5}, {name: b, quota_gpus: 4}]\n",
              ":2:10: expected quotas of at most 8 GPUs in total, got 9"},
        Wrong{"limit", "nodes: [{gpus: 8}]\ntenants: [{name: a, quota_gpus: 5, limit_gpus: 4}]\n",
              ":2:48: expected limit_gpus as a whole number from 5 to 8, got '4'"},
        Wrong{"preempts", "nodes: [{gpus: 8}]\ntenants: [{name: a, may_preempt: true}]\n",
              ":2:34: expected may_preempt as one of: nobody, borrowers, lower, anyone"},
        // Lists of nodes.
        Wrong{"list", "nodes_from: openb.csv\n",
              ":1:13: expected nodes_from as a map, or a list of maps, got 'openb.csv'"},
        Wrong{"formatless", "nodes_from: {file: openb.csv}\n",
              ":1:13: expected the format of the list of nodes, got none"},
        Wrong{"format", "nodes_from: {file: openb.csv, format: csv}\n",
              ":1:39: expected format as one of: lingjun, openb, pai, got 'csv'"},
        Wrong{"fileless", "nodes_from: {format: openb}\n",
              ":1:13: expected file of a list of nodes, got none"},
        Wrong{"told", "nodes_from: {file: a.csv, format: openb, gpus: 8}\n",
              ":1:42: expected one of the keys file, format, cpu_nodes, tenant, by_type, rack"},
        Wrong{"untold", "nodes_from: {file: a.csv, format: lingjun}\n",
              ":1:13: expected gpus, the number of GPUs per node, got none"},
        Wrong{"told_racks", "nodes_from: {file: a, format: lingjun, gpus: 8, nodes_per_rack: 4}\n",
              ":1:49: expected one of the keys file, format"}),
    [](const auto& info) { return std::string(info.param.name); });

// The base for mutated files: all keys, both styles, an anchor.
constexpr const char* kExample = R"(# a comment
about: "all of it"
gpu_types:
  v100: &figures {speed: 1.0, speed_of_model: {LM: 0.9}, mem_gib: 32, shares: milli}
  k80: *figures
tiers:
  island: {bandwidth_gbps: 1200, latency_us: 13}
  core: {bandwidth_gbps: 10, oversubscription: 1.5}
nodes:
  - {count: 4, gpus: 8, type: v100, cpus: 96, tenant: a, nodes_per_rack: 2, racks_per_pod: 1}
  - gpus: 0
    rack: 5
    pod: 3
    spot: true
nodes_from:
  - {file: hosts.csv, format: lingjun, gpus: 2, type: k80, nics: 2, nic_gbps: 25}
  - {file: nodes.csv, format: openb, rack: 9, pod: 9, by_type: {P100: {island_gbps: 9}}}
tenants:
  - {name: a, weight: 3, may_lend: false}
  - {name: b, quota_gpus: 2, limit_gpus: 16}
)";
constexpr const char* kHosts = "ip,DSW,PSW,ASW\nh0,G0,P0,S0\nh1,G0,P1,S0\n";
constexpr const char* kNodes = "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,262144,2,P100\n";

std::string mutated(std::string text, Rng& rng) {
  constexpr std::string_view kBytes = "{}[]:,-&*!|>'\"%@`# \n\t0189.eax~\xff\0";
  for (uint32_t edits = 1 + rng.below(3); edits > 0 && !text.empty(); --edits) {
    const size_t at = rng.below(static_cast<uint32_t>(text.size()));
    const char byte = kBytes[rng.below(static_cast<uint32_t>(kBytes.size()))];
    switch (rng.below(5)) {
      case 0:
        text[at] = byte;
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      case 2:
        text.erase(at, 1 + rng.below(8));
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text.insert(at, text.substr(rng.below(static_cast<uint32_t>(text.size())), rng.below(40)));
    }
  }
  return text;
}

// Skips the sync of write_file_atomic(), and that of the file system when a file is truncated.
void overwrite(const std::string& path, const std::string& text) {
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text;
}

// Any outcome but success or InputError fails the test or ends the test program.
TEST(Cluster, MutatedFileIsReadOrRejected) {
  const TempFile yaml("cluster.yaml", kExample);
  const std::string hosts = (yaml.folder() / "hosts.csv").string();
  const std::string nodes = (yaml.folder() / "nodes.csv").string();
  overwrite(hosts, kHosts);
  overwrite(nodes, kNodes);
  ASSERT_EQ(load_cluster(yaml.path()).total_gpus(), 38);
  Rng rng(20);
  int read = 0, refused = 0;
  for (int i = 0; i < 2000; ++i) {
    const uint32_t which = rng.below(8);
    const std::string& path = which == 0 ? hosts : which == 1 ? nodes : yaml.path();
    const char* whole = which == 0 ? kHosts : which == 1 ? kNodes : kExample;
    const std::string text = mutated(whole, rng);
    overwrite(path, text);
    try {
      EXPECT_GT(load_cluster(yaml.path()).total_gpus(), 0);
      ++read;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(": expected ")) << text;
      ++refused;
    }
    overwrite(path, whole);
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace yard
