// openb_node_list_{gpu,all}_node.csv of Alibaba's cluster-trace-gpu-v2023 (FGD, ATC 2023): cores in
// thousandths, memory in MiB, GPUs and their model (empty without GPUs).
#include "env/base/config/registry.h"
#include "env/cluster/node_list.h"
#include "env/cluster/spec.h"

namespace yard {
namespace {

struct OpenbNodes final : NodeListReader {
  std::vector<ListedNode> read(std::string_view text, const std::string& name) const override {
    enum { kName, kCpu, kMem, kGpus, kModel };
    NodeRows rows(text, name, {"sn", "cpu_milli", "memory_mib", "gpu", "model"}, true);
    std::vector<ListedNode> out;
    while (rows.next()) {
      ListedNode node;
      node.name = rows.non_empty_text(kName);
      node.gpus = static_cast<int32_t>(rows.integer(kGpus, 0, kMaxGpusPerNode));
      node.cpus = static_cast<double>(rows.integer(kCpu, 0, 1'000'000'000)) / 1000;
      node.mem_gib = static_cast<double>(rows.integer(kMem, 0, 1'000'000'000)) / 1024;
      if (node.gpus > 0) node.type = rows.non_empty_text(kModel);
      if (node.gpus == 0 && !rows.field(kModel).empty()) {
        rows.fail(kModel, "no model on a node without GPUs");
      }
      out.push_back(node);
    }
    return out;
  }
};

const Registry<NodeListReader>::Add<OpenbNodes> kOpenb{
    "openb",
    {.help = "node lists of Alibaba's cluster-trace-gpu-v2023, with columns sn, cpu_milli, "
             "memory_mib, gpu, model",
     .provided_keys = {"gpus", "type", "cpus", "mem_gib"},
     .example = "sn,cpu_milli,memory_mib,gpu,model\n"
                "node-0,64000,262144,2,P100\n"
                "node-1,32000,131072,0,\n"}};

}  // namespace
}  // namespace yard
