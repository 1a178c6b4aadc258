#include "env/sim/rules/faults.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>

#include "env/base/core/error.h"
#include "env/base/files/lines.h"
#include "env/base/text/text.h"
#include "env/cluster/topology.h"
#include "env/sim/state/free_map.h"

namespace yard {
namespace {

constexpr double kUsPerHour = 3.6e9;
constexpr int64_t kLongestUs = 100'000'000'000'000'000;  // 1e11 s, the longest time in a trace
constexpr std::array<std::string_view, 3> kKinds = {"fail", "reclaim", "drain"};  // as FaultKind

// Calls callback(at_us, until_us) for each outage of one component. Its outages do not overlap.
template <class Callback>
void for_outages(Rng rng, double mtbf_h, double repair_h, int64_t from_us, int64_t to_us,
                 Callback callback) {
  if (mtbf_h <= 0) return;
  const auto draw_us = [&](double mean_h) {
    return 1 + std::llround(-std::log(1 - rng.uniform()) * mean_h * kUsPerHour);
  };
  for (int64_t at_us = from_us + draw_us(mtbf_h); at_us < to_us;) {
    const int64_t until_us = at_us + draw_us(repair_h);
    callback(at_us, until_us);
    at_us = until_us + draw_us(mtbf_h);
  }
}

}  // namespace

std::vector<Fault> draw_faults(const ClusterSpec& spec, const FaultModel& model, int64_t from_us,
                               int64_t to_us, const Rng& rng) {
  std::vector<Fault> faults;
  const Topology topology(spec);
  const TopologyColumns& net = topology.columns();
  std::map<int32_t, std::vector<int32_t>> racks, pods, zones, spot_zones;  // nodes; no zone 0
  const bool all_spot = std::ranges::none_of(spec.nodes, &Node::spot);
  for (size_t m = 0; m < spec.nodes.size(); ++m) {
    const auto node = static_cast<int32_t>(m);
    const Node& what = spec.nodes[m];
    const uint64_t all = mask_of_low_bits(what.gpus);
    racks[net.rack[m]].push_back(node);
    pods[net.pod[m]].push_back(node);
    const bool spot = what.spot || all_spot;
    if (what.zone > 0) {
      zones[what.zone].push_back(node);
      if (spot) spot_zones[what.zone].push_back(node);
    }
    const auto add = [&](FaultKind kind, uint64_t mask) {
      return [&faults, node, kind, mask](int64_t at_us, int64_t until_us) {
        faults.push_back({at_us, until_us, node, kind, mask});
      };
    };
    const Rng of_node = rng.split(1).split(m);
    for (int32_t g = 0; g < what.gpus; ++g) {
      for_outages(of_node.split(2).split(static_cast<uint64_t>(g)), model.gpu_mtbf_h,
                  model.gpu_repair_h, from_us, to_us, add(FaultKind::kFail, uint64_t{1} << g));
    }
    for_outages(of_node.split(0), model.node_mtbf_h, model.node_repair_h, from_us, to_us,
                add(FaultKind::kFail, all));
    if (!spot || what.zone > 0) continue;
    for_outages(of_node.split(1), model.reclaim_mtbf_h, model.reclaim_repair_h, from_us, to_us,
                add(FaultKind::kReclaim, all));
  }
  // All nodes of a rack, pod or zone fail together.
  const auto together = [&](FaultKind kind, const std::map<int32_t, std::vector<int32_t>>& groups,
                            uint64_t stream, double mtbf_h, double repair_h) {
    for (const auto& group : groups) {
      for_outages(rng.split(stream).split(static_cast<uint64_t>(group.first)), mtbf_h, repair_h,
                  from_us, to_us, [&](int64_t at_us, int64_t until_us) {
                    for (const int32_t node : group.second) {
                      const uint64_t all =
                          mask_of_low_bits(spec.nodes[static_cast<size_t>(node)].gpus);
                      faults.push_back({at_us, until_us, node, kind, all});
                    }
                  });
    }
  };
  together(FaultKind::kFail, racks, 2, model.rack_mtbf_h, model.rack_repair_h);
  together(FaultKind::kFail, pods, 3, model.pod_mtbf_h, model.pod_repair_h);
  together(FaultKind::kFail, zones, 4, model.zone_mtbf_h, model.zone_repair_h);
  together(FaultKind::kReclaim, spot_zones, 5, model.reclaim_mtbf_h, model.reclaim_repair_h);
  set_reclaim_notice(faults, model.reclaim_notice_us());
  return faults;
}

void set_reclaim_notice(std::vector<Fault>& faults, int64_t notice_us) {
  for (Fault& fault : faults) {
    if (fault.kind == FaultKind::kReclaim) fault.notice_us = notice_us;
  }
}

std::vector<Fault> read_faults(const std::string& path, const ClusterSpec& spec) {
  constexpr std::string_view kHeader = "at_s,until_s,kind,node,gpus";
  Lines lines = Lines::of_file(path);
  std::string_view line;
  if (!lines.next(line) || line != kHeader) {
    throw InputError(path + ":1", "the columns " + std::string(kHeader),
                     "'" + std::string(line.substr(0, 120)) + "'");
  }
  std::unordered_map<std::string_view, int32_t> names;
  std::set<std::string_view> ambiguous;
  for (size_t m = 0; m < spec.nodes.size(); ++m) {
    const std::string& name = spec.nodes[m].name;
    if (!names.emplace(name, static_cast<int32_t>(m)).second) ambiguous.insert(name);
  }
  std::vector<Fault> faults;
  while (lines.next(line)) {
    if (trim(line).empty()) continue;
    const std::vector<std::string_view> fields = split(line, ',');
    const auto reject = [&](size_t column, const std::string& expected, std::string_view got) {
      throw InputError(
          path + ":" + std::to_string(lines.line_number()) + ":" + std::to_string(column), expected,
          "'" + std::string(got) + "'");
    };
    if (fields.size() != 5) reject(1, "5 fields", line);
    const auto time_us = [&](size_t i, int64_t least_us, const char* expected) {
      const std::optional<int64_t> us = parse_seconds_us(trim(fields[i]));
      if (!us || *us < least_us || *us > kLongestUs) reject(i + 1, expected, fields[i]);
      return *us;
    };
    Fault fault;
    fault.at_us = time_us(0, 0, "at_s from 0 to 1e11 s");
    fault.until_us = kNever;
    if (!trim(fields[1]).empty()) {
      fault.until_us = time_us(1, fault.at_us + 1, "until_s after at_s, up to 1e11 s, or nothing");
    }
    const auto kind = std::find(kKinds.begin(), kKinds.end(), trim(fields[2]));
    if (kind == kKinds.end()) reject(3, "fail, reclaim or drain", fields[2]);
    fault.kind = static_cast<FaultKind>(kind - kKinds.begin());
    const auto named = names.find(trim(fields[3]));
    const std::optional<int64_t> index = parse_int(trim(fields[3]));
    if (ambiguous.contains(trim(fields[3]))) {
      reject(4, "the unique name of a node, or its index", fields[3]);
    } else if (named != names.end()) {
      fault.node = named->second;
    } else if (index && *index >= 0 && *index < static_cast<int64_t>(spec.nodes.size())) {
      fault.node = static_cast<int32_t>(*index);
    } else {
      reject(4, "a node's name or index", fields[3]);
    }
    const int32_t gpus = spec.nodes[static_cast<size_t>(fault.node)].gpus;
    if (trim(fields[4]) == "all") {
      fault.mask = mask_of_low_bits(gpus);
    } else {
      const std::string expected = "all, or GPUs of the node from 0 to " + std::to_string(gpus - 1);
      for (const std::string_view part : split(trim(fields[4]), '+')) {
        const std::optional<int64_t> gpu = parse_int(part);
        if (!gpu || *gpu < 0 || *gpu >= gpus) reject(5, expected, fields[4]);
        fault.mask |= uint64_t{1} << *gpu;
      }
    }
    faults.push_back(fault);
  }
  return faults;
}

}  // namespace yard
