// topo.csv of Alibaba's Lingjun dataset (Crux, SIGCOMM 2024): the switches above each host. Hosts
// below one aggregation switch (PSW) form a pod. Names of top-of-rack switches (ASW) repeat under
// different PSWs, so a rack is identified by PSW and ASW.
#include <map>

#include "env/base/config/registry.h"
#include "env/cluster/node_list.h"

namespace yard {
namespace {

struct LingjunNodes final : NodeListReader {
  std::vector<ListedNode> read(std::string_view text, const std::string& name) const override {
    enum { kHost, kDsw, kPsw, kAsw };
    NodeRows rows(text, name, {"ip", "DSW", "PSW", "ASW"}, true);
    std::vector<ListedNode> out;
    std::map<std::string, int32_t> racks, pods;
    const auto id = [](std::map<std::string, int32_t>& ids, const std::string& key) {
      return ids.try_emplace(key, static_cast<int32_t>(ids.size())).first->second;
    };
    while (rows.next()) {
      ListedNode node;
      node.name = rows.non_empty_text(kHost);
      const std::string pod = rows.non_empty_text(kDsw) + "," + rows.non_empty_text(kPsw);
      node.pod = id(pods, pod);
      node.rack = id(racks, pod + "," + rows.non_empty_text(kAsw));
      out.push_back(node);
    }
    return out;
  }
};

const Registry<NodeListReader>::Add<LingjunNodes> kLingjun{
    "lingjun",
    {.help = "topology of Alibaba's Lingjun dataset, with columns ip, DSW, PSW, ASW",
     .provided_keys = {"rack", "pod"},
     .example = "ip,DSW,PSW,ASW\n"
                "host-0,G0,P0,S0\n"
                "host-1,G0,P1,S0\n"}};

}  // namespace
}  // namespace yard
