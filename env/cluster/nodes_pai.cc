// pai_machine_spec of Alibaba's cluster-trace-gpu-v2020 (NSDI 2022), as a CSV without header or as
// the published tar: machine, GPU type ("CPU": none), cores, memory in GB, GPUs.
#include <algorithm>
#include <charconv>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/cluster/node_list.h"
#include "env/cluster/spec.h"

namespace yard {
namespace {

constexpr size_t kTarBlock = 512;
constexpr size_t kTarMagic = 257, kTarSize = 124;

// Returns the first file of a tar (after a header of one block, with the size in octal); if `text`
// is no tar, returns it unchanged.
std::string_view first_of_tar(std::string_view text, const std::string& name) {
  if (text.size() < kTarBlock || text.substr(kTarMagic, 5) != "ustar") return text;
  std::string_view digits = text.substr(kTarSize, 12);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  size_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 8);
  if (error != std::errc{} || size > text.size() - kTarBlock) {
    throw InputError(name, "a complete tar archive",
                     "only its first " + std::to_string(text.size()) + " bytes");
  }
  return text.substr(kTarBlock, size);
}

struct PaiNodes final : NodeListReader {
  std::vector<ListedNode> read(std::string_view text, const std::string& name) const override {
    enum { kName, kType, kCpu, kMem, kGpus };
    NodeRows rows(first_of_tar(text, name), name,
                  {"machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu"}, false);
    std::vector<ListedNode> out;
    while (rows.next()) {
      ListedNode node;
      node.name = rows.non_empty_text(kName);
      node.gpus = static_cast<int32_t>(rows.integer(kGpus, 0, kMaxGpusPerNode));
      node.cpus = static_cast<double>(rows.integer(kCpu, 0, 1'000'000));
      node.mem_gib = static_cast<double>(rows.integer(kMem, 0, 1'000'000));
      const std::string type = rows.non_empty_text(kType);
      if ((type == "CPU") != (node.gpus == 0)) {
        rows.fail(kType, node.gpus == 0 ? "CPU, as the node has no GPUs" : "a GPU type");
      }
      if (node.gpus > 0) node.type = type;
      out.push_back(node);
    }
    return out;
  }
};

const Registry<NodeListReader>::Add<PaiNodes> kPai{
    "pai",
    {.help = "machine list of Alibaba's cluster-trace-gpu-v2020, CSV or tar, with columns machine, "
             "gpu_type, cap_cpu, cap_mem, cap_gpu",
     .provided_keys = {"gpus", "type", "cpus", "mem_gib"},
     .example = "machine-0,V100,96,512,8\n"
                "machine-1,CPU,96,512,0\n"}};

}  // namespace
}  // namespace yard
