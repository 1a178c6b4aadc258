// Speeds of jobs, computed from all placements at each query.
#include <algorithm>
#include <cmath>
#include <set>

#include "tests/reference/world_reference_now.h"

namespace yard::reference {
namespace {

constexpr double kMinSpeed = 1e-3;

}  // namespace

const SpeedCell& SpeedBook::cell(int kind, int type, int gpus, Tier tier, int nodes) const {
  const int width = nodes <= 4 ? std::max(nodes, 1) - 1 : nodes <= 8 ? 4 : 5;
  return kinds[static_cast<size_t>(kind)].cells[static_cast<size_t>(type)][static_cast<size_t>(
      gpus)][static_cast<size_t>(tier)][static_cast<size_t>(width)];
}

int SpeedBook::max_gpus() const { return static_cast<int>(kinds.at(0).cells.at(0).size()) - 1; }

double SpeedBook::beside(int kind, int other, int type) const {
  if (kind < 0 || other < 0) return unmeasured_pair;
  return pair_rate[static_cast<size_t>(type)][static_cast<size_t>(kind)]
                  [static_cast<size_t>(other)];
}

// Uplink capacity of each node, rack and pod; 0 if not given. A rack's uplink has the sum of its
// nodes' capacity divided by its oversubscription; a pod likewise.
std::map<Link, int64_t> link_capacities(const ClusterSpec& spec) {
  const auto of_tier = [&](Tier t) -> const NetworkTierSpec& {
    return spec.tiers[static_cast<size_t>(t)];
  };
  const auto smaller = [](double a, double b) {  // of the given ones
    return a > 0 && b > 0 ? std::min(a, b) : std::max(a, b);
  };
  const double above_racks = of_tier(Tier::kPod).oversubscription;
  const double above_pods = above_racks * of_tier(Tier::kCore).oversubscription;
  std::map<Link, double> gbps;
  for (int m = 0; m < static_cast<int>(spec.nodes.size()); ++m) {
    const Node& node = spec.nodes[static_cast<size_t>(m)];
    const double said = node.nics * node.nic_gbps;
    const double to_rack = said > 0 ? said : of_tier(Tier::kRack).bandwidth_gbps;
    const double to_pod = smaller(to_rack, of_tier(Tier::kPod).bandwidth_gbps);
    const double to_core = smaller(to_pod, of_tier(Tier::kCore).bandwidth_gbps);
    gbps[{'n', m}] = to_rack;
    gbps[{'r', node.rack}] += to_pod / above_racks;
    gbps[{'p', node.pod}] += to_core / above_pods;
  }
  std::map<Link, int64_t> bytes_per_s;
  for (const auto& [link, g] : gbps) bytes_per_s[link] = std::llround(g * 1e9 / 8);
  return bytes_per_s;
}

int SlowSimulator::kind_of(int j) const {
  return world_.speeds ? world_.speeds->kind_of_job[static_cast<size_t>(j)] : -1;
}

// Nodes with its GPUs, the lowest tier that spans them, and its isolated speed: that of its slowest
// type.
IsolatedSpeed SlowSimulator::isolated_speed(int j) const {
  const ClusterSpec& spec = world_.cluster;
  IsolatedSpeed out;
  std::set<int> nodes, racks, pods, islands, types;
  for (const Task& task : state_.cluster.tasks) {
    if (task.job != j || task.gpus.empty()) continue;
    const Node& node = spec.nodes[static_cast<size_t>(task.node)];
    out.gpus += static_cast<int>(task.gpus.size());
    nodes.insert(task.node);
    racks.insert(node.rack);
    pods.insert(node.pod);
    types.insert(node.type);
    const int island_gpus = node.island_gpus > 0 ? node.island_gpus : node.gpus;
    for (const int g : task.gpus) islands.insert(g / island_gpus);
  }
  out.nodes.assign(nodes.begin(), nodes.end());
  const int wide = static_cast<int>(nodes.size());
  out.tier = pods.size() > 1      ? Tier::kCore
             : racks.size() > 1   ? Tier::kPod
             : wide > 1           ? Tier::kRack
             : islands.size() > 1 ? Tier::kNode
                                  : Tier::kIsland;
  for (const int m : nodes) out.links.emplace_back('n', m);
  for (const int r : racks) {
    if (out.tier >= Tier::kPod) out.links.emplace_back('r', r);
  }
  for (const int p : pods) {
    if (out.tier >= Tier::kCore) out.links.emplace_back('p', p);
  }
  const int kind = kind_of(j);
  const int gpus = kind < 0 ? 0 : std::min(out.gpus, world_.speeds->max_gpus());
  for (const int type : types) {
    const double speed = kind < 0
                             ? spec.types[static_cast<size_t>(type)].speed_on(job(j).model)
                             : world_.speeds->cell(kind, type, gpus, out.tier, wide).steps_per_s /
                                   world_.speeds->asked_steps_per_s[static_cast<size_t>(j)];
    if (type != *types.begin() && speed >= out.alone) continue;
    out.alone = speed;
    out.type = type;
  }
  // Without a profile, speed is proportional to the number of tasks of the first group.
  if (kind < 0 && !request(j).plain) {
    int given = 0;
    for (const Task& task : state_.cluster.tasks) given += task.job == j && task.group == 0;
    const int asked = request(j).groups[0].count;
    if (given != asked) out.alone *= static_cast<double>(given) / asked;
  }
  if (!(out.alone > kMinSpeed)) out.alone = kMinSpeed;
  if (kind < 0 || wide < 2 || out.gpus > world_.speeds->max_gpus()) return out;
  // A ring over n nodes puts 2 (n - 1) / n of the gradients on each link, every iteration.
  const SpeedKind& model = world_.speeds->kinds[static_cast<size_t>(kind)];
  const SpeedCell& cell = world_.speeds->cell(kind, out.type, out.gpus, out.tier, wide);
  const double iterations_per_s = cell.steps_per_s / (model.counts_worker_steps ? out.gpus : 1);
  const double copies = model.server_exchange ? static_cast<double>(out.gpus) / wide : 1;
  const double bytes = 2.0 * (wide - 1) / wide * model.gradient_bytes * copies;
  out.bytes_per_s = static_cast<int64_t>(iterations_per_s * bytes);
  out.exchange_share = cell.exchange_share;
  return out;
}

// The load of the link divided by its capacity: at least 1, and 1 without a capacity.
double SlowSimulator::exchange_slowdown(const Link& link) {
  int64_t load = 0;
  for (int j = 0; j < size(); ++j) {
    if (at(j).is != JobPhase::kRunning) continue;
    const IsolatedSpeed other = isolated_speed(j);
    const bool uses = std::count(other.links.begin(), other.links.end(), link) > 0;
    load += uses ? other.bytes_per_s : 0;
  }
  const int64_t link_bytes_per_s = link_bytes_per_s_.at(link);
  if (link_bytes_per_s == 0 || load <= link_bytes_per_s) return 1;
  return static_cast<double>(load) / static_cast<double>(link_bytes_per_s);
}

// Share of speed that the job's most slowed task keeps with its neighbours on shared GPUs.
double SlowSimulator::colocation_slowdown(int j) {
  double least = 1;
  for (const Task& task : state_.cluster.tasks) {
    if (task.job != j || task.need.gpu_milli == 0) continue;
    const auto node = static_cast<size_t>(task.node);
    double left = 1;
    for (int k = 0; k < size(); ++k) {
      if (k == j || at(k).is != JobPhase::kRunning) continue;
      for (const Task& other : state_.cluster.tasks) {
        const bool meet = other.job == k && other.node == task.node && other.gpus == task.gpus;
        if (meet)
          left *= world_.speeds->beside(kind_of(j), kind_of(k), world_.cluster.nodes[node].type);
      }
    }
    least = std::min(least, left);
  }
  return least;
}

// Share of speed that is kept on nodes with more cores promised than they have.
double SlowSimulator::core_overload_slowdown(int j) {
  double least = 1;
  for (const Task& task : state_.cluster.tasks) {
    if (task.job != j) continue;
    const double cores = world_.cluster.nodes[static_cast<size_t>(task.node)].cpus;
    int64_t promised = 0;
    for (const Task& other : state_.cluster.tasks) {
      promised += other.node == task.node ? other.need.cpu_milli : 0;
    }
    const auto has = static_cast<int64_t>(1000 * cores);
    if (cores == 0 || promised <= has) continue;
    least = std::min(least, static_cast<double>(has) / static_cast<double>(promised));
  }
  return least;
}

double SlowSimulator::speed_among(int j) {
  const IsolatedSpeed mine = isolated_speed(j);
  double speed = mine.alone;
  double worst = 1;
  for (const auto& link : mine.links) {
    if (mine.bytes_per_s > 0) worst = std::max(worst, exchange_slowdown(link));
  }
  if (worst > 1) speed *= 1 / (1 + mine.exchange_share * (worst - 1));
  if (world_.speeds) speed *= colocation_slowdown(j);
  speed *= core_overload_slowdown(j);
  return speed > kMinSpeed ? speed : kMinSpeed;
}

void SlowSimulator::update_speeds() {
  for (int j = 0; j < size(); ++j) {
    if (at(j).is != JobPhase::kRunning) continue;
    const double speed = speed_among(j);
    if (speed == at(j).speed) continue;
    run_until_now(j);
    at(j).speed = speed;
  }
}

}  // namespace yard::reference
