#include "tests/support/random_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "env/sim/placement/fits.h"
#include "env/sim/state/free_map.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

ClusterSpec random_cluster(Rng& rng) {
  static const char* const kTexts[] = {"2x4:v100+2x8:a100+1x2:t4", "3x4:v100+1x8:a100",
                                       "1x8:a100+4x2:v100+2x1:t4", "2x4:v100+1x2:t4", "3x4:v100"};
  ClusterSpec spec = load_cluster(kTexts[rng.below(5)]);
  const bool limits = rng.below(8) != 0;  // else CPUs and memory are unlimited
  const double cores_a_gpu = rng.below(2) == 0 ? 4 : 8;
  for (Node& node : spec.nodes) {
    node.cpus = limits ? static_cast<int32_t>(cores_a_gpu * node.gpus) : 0;
    node.mem_gib = limits ? 16.0 * node.gpus : 0;
  }
  const bool odd = rng.below(3) == 0;  // speeds without an exact binary fraction
  for (GpuType& type : spec.types) {
    type.mem_gib = type.name == "a100" ? 40 : 16;
    type.shares = Shares::kMilli;
    if (type.name == "t4") type.speed = odd ? 0.3 : 0.5;
    if (type.name == "a100") type.speed = odd ? 1.7 : 1.5;
  }
  return spec;
}

ClusterSpec equal_nodes(Rng& rng) {
  static const char* const kTexts[] = {"6x2", "4x4", "7x4", "4x8"};
  return load_cluster(kTexts[rng.below(4)]);
}

// Adds a node without GPUs to some clusters, and speeds of certain models to some types.
void give_extras(Rng rng, ClusterSpec& spec) {
  if (rng.below(3) == 0) {
    Node node;
    node.name = "cpu";
    node.cpus = spec.nodes[0].cpus;
    node.mem_gib = spec.nodes[0].mem_gib;
    spec.nodes.insert(spec.nodes.begin() + rng.below(3), node);
  }
  if (rng.below(3) == 0) {
    for (GpuType& type : spec.types) {
      if (rng.below(2) == 0) type.speed_of_model["lm"] = rng.below(2) == 0 ? 0.7 : 1.25;
    }
  }
}

PreemptionCosts random_costs(Rng& rng) {
  PreemptionCosts costs;
  const int64_t scale = std::array{0, 1, 1, 1, 4}[rng.below(5)];
  costs.save_us *= scale;
  costs.restore_us *= scale;
  costs.restore_large_us *= scale;
  costs.scale = static_cast<double>(scale);
  costs.small_gpus = rng.below(4) == 0 ? 2 : 8;
  costs.checkpoint_us = kSecond * std::array{60, 300, 1800}[rng.below(3)];
  return costs;
}

int32_t gpus_of(const std::vector<RoleGroup>& groups) {
  int32_t milli = 0;
  for (const RoleGroup& g : groups) milli += g.count * (1000 * g.task.gpus + g.task.gpu_milli);
  return (milli + 999) / 1000;
}

// Lets the group run at any number of tasks in a range around the requested one.
void make_elastic(Rng& rng, RoleGroup& group) {
  group.min_count = 1 + static_cast<int32_t>(rng.below(static_cast<uint32_t>(group.count)));
  group.max_count = group.count + static_cast<int32_t>(rng.below(3));
}

void give_shape(Rng& rng, Job& job) {
  const auto up_to = [&](uint32_t upper) { return static_cast<int32_t>(1 + rng.below(upper)); };
  switch (rng.below(8)) {
    case 0:  // one plain gang
      return;
    case 1:  // plain, restricted to GPU types
      job.gpu_types = {rng.below(2) == 0 ? "v100" : "a100"};
      return;
    case 2:  // one GPU share
      job.groups = {group_of(1, 0, 50 + 50 * up_to(18), 500, 1024)};
      break;
    case 3:  // several shares
      job.groups = {group_of(up_to(4), 0, 300, 1000, 512)};
      break;
    case 4:  // workers with two GPUs each, and servers without
      job.groups = {group_of(up_to(3), 2, 0, 4000, 8192), group_of(up_to(2), 0, 0, 2000, 4096)};
      job.groups[1].role = "ps";
      break;
    case 5:  // workers, and an evaluator on a GPU share
      job.groups = {group_of(up_to(3), 1, 0, 2000, 4096), group_of(1, 0, 400, 1000, 1024)};
      job.groups[1].role = "evaluator";
      if (rng.below(3) == 0) job.gpu_types = {"a100", "t4"};
      break;
    case 6:
      job.groups = {group_of(up_to(4), up_to(2), 0, 1000, 2048)};
      make_elastic(rng, job.groups[0]);
      break;
    default:  // CPUs only
      job.groups = {group_of(up_to(3), 0, 0, 6000, 2048)};
  }
  job.gpus = gpus_of(job.groups);
}

// Half of the faults follow another on its node, while jobs save, restore or run elsewhere.
std::vector<Fault> random_faults(Rng rng, const ClusterSpec& spec, double span_s) {
  std::vector<Fault> faults;
  const uint32_t count = rng.below(24);
  for (uint32_t i = 0; i < count; ++i) {
    Fault fault;
    fault.at_us = std::llround(rng.uniform() * span_s * kSecond);
    fault.node = static_cast<int32_t>(rng.below(static_cast<uint32_t>(spec.nodes.size())));
    if (!faults.empty() && rng.below(2) == 0) {
      fault.at_us = faults.back().at_us + std::llround(rng.uniform() * 60) * kSecond;
      if (rng.below(2) == 0) fault.node = faults.back().node;
    }
    const double down_s = rng.below(3) == 0 ? 20 : 2000;
    fault.until_us = fault.at_us + 10 * kSecond + std::llround(rng.uniform() * down_s * kSecond);
    const int32_t gpus = spec.nodes[static_cast<size_t>(fault.node)].gpus;
    fault.mask = mask_of_low_bits(gpus);
    if (rng.below(2) == 0 && gpus > 0) {
      fault.mask = uint64_t{1} << rng.below(static_cast<uint32_t>(gpus));
      if (rng.below(20) == 0) fault.until_us = kNever;
    }
    fault.kind = static_cast<FaultKind>(rng.below(3));
    if (fault.kind == FaultKind::kReclaim)
      fault.notice_us = kSecond * std::array{0, 30, 120}[rng.below(3)];
    faults.push_back(fault);
  }
  return faults;
}

// Three kinds of jobs; on each type, some pairs of kinds must not share a GPU.
GpuSharingConflicts random_pair_conflicts(Rng rng, const RandomWorld& world) {
  GpuSharingConflicts pair_conflicts;
  if (rng.below(2) == 0) return pair_conflicts;
  pair_conflicts.num_kinds = 3;
  for (size_t j = 0; j < world.jobs.size(); ++j) {
    pair_conflicts.kind.push_back(static_cast<int32_t>(rng.below(4)) - 1);
  }
  for (size_t t = 0; t < world.cluster.types.size(); ++t) {
    std::array<uint64_t, 3> row = {};
    for (size_t one = 0; one < 3; ++one) {
      for (size_t other = 0; other <= one; ++other) {
        if (rng.below(2) == 0) continue;
        row[one] |= uint64_t{1} << other;
        row[other] |= uint64_t{1} << one;
      }
    }
    pair_conflicts.conflicts.insert(pair_conflicts.conflicts.end(), row.begin(), row.end());
  }
  return pair_conflicts;
}

// Racks of two nodes in pods of two racks, links which one busy job fills, and NVLink islands of
// two GPUs. Some nodes overcommit their CPUs.
void give_network(Rng rng, ClusterSpec& spec) {
  for (size_t m = 0; m < spec.nodes.size(); ++m) {
    Node& node = spec.nodes[m];
    node.rack = static_cast<int32_t>(m / 2);
    node.pod = static_cast<int32_t>(m / 4);
    if (rng.below(2) == 0) node.island_gpus = 2;
    if (rng.below(3) == 0) node.cpu_overload = 1.5;
    if (rng.below(4) == 0) node.nic_gbps = 8;
  }
  const auto tier = [&](Tier t) -> NetworkTierSpec& { return spec.tiers[static_cast<size_t>(t)]; };
  tier(Tier::kRack).bandwidth_gbps = std::array{0, 4, 20}[rng.below(3)];
  tier(Tier::kPod).oversubscription = std::array{1, 2, 5}[rng.below(3)];
  tier(Tier::kCore).oversubscription = rng.below(2) == 0 ? 1 : 3;
}

// Two tenants with limits, one of which may own a node. Some jobs belong to neither.
void give_tenants(Rng rng, ClusterSpec& spec, std::vector<Job>& jobs) {
  const auto total = static_cast<uint32_t>(spec.total_gpus());
  const bool owned = rng.below(2) == 0;
  for (const char* name : {"red", "blue"}) {
    Tenant tenant;
    tenant.name = name;
    tenant.quota_gpus = static_cast<int32_t>(total / 3);
    if (rng.below(3) != 0) tenant.limit_gpus = static_cast<int32_t>(2 + rng.below(total - 1));
    tenant.may_borrow = rng.below(3) != 0;
    spec.tenants.push_back(tenant);
  }
  if (owned) {
    spec.tenants[0].may_lend = false;
    spec.nodes[rng.below(static_cast<uint32_t>(spec.nodes.size()))].tenant = 0;
  }
  spec.nodes.back().tenant = 1;  // may be lent
  for (Job& job : jobs) job.tenant = std::array{"red", "blue", "green"}[rng.below(3)];
}

void round_times(RandomWorld& world) {
  const auto step = [](int64_t& us) {
    if (us != kNever) us = us / (10 * kSecond) * (10 * kSecond);
  };
  for (Job& job : world.jobs) step(job.submit_us), step(job.run_us);
  for (Fault& fault : world.faults) step(fault.at_us), step(fault.until_us);
}

}  // namespace

RoleGroup group_of(int32_t count, int32_t gpus, int32_t gpu_milli, int32_t cpu_milli,
                   int64_t mem_mib) {
  RoleGroup group;
  group.count = count;
  group.task = {gpus, gpu_milli, gpu_milli > 0 ? 4.0 : 0.0, cpu_milli, mem_mib, 0};
  return group;
}

RandomWorld random_world(Rng rng, const RandomWorldOptions& options) {
  RandomWorld world;
  Rng kind = rng.split(1), shape = rng.split(2), after = rng.split(3), own = rng.split(10);
  world.cluster = options.equal ? equal_nodes(kind) : random_cluster(kind);
  if (!options.equal) give_extras(rng.split(12), world.cluster);
  world.costs = random_costs(kind);
  RandomJobs jobs{.count = options.jobs};
  if (options.equal) jobs.sizes = {1, 1, 2, 2, 3, 4, 5, 6, 7, 9, 12};
  jobs.mean_gap_s = std::array{5, 30, 60, 150}[kind.below(4)];
  jobs.mean_run_s = kind.below(2) == 0 ? 300 : 1500;
  world.jobs = random_jobs(rng.split(4), jobs);
  for (size_t j = 0; j < world.jobs.size(); ++j) {
    Job& job = world.jobs[j];
    if (options.shapes) give_shape(shape, job);
    if (shape.below(16) == 0) job.run_us = 0;
    if (j % 2 == 0) job.model = "lm";
    if (own.below(4) == 0) job.save_us = own.below(40) * kSecond;
    if (own.below(4) == 0) job.restore_us = own.below(200) * kSecond;
    const bool later = options.after && j > 0 && after.below(4) == 0;
    for (uint32_t n = later ? 1 + after.below(2) : 0; n > 0; --n) {
      job.after.push_back(world.jobs[after.below(static_cast<uint32_t>(j))].id);
    }
  }
  if (options.rates) give_network(rng.split(6), world.cluster);
  if (options.tenants) give_tenants(rng.split(7), world.cluster, world.jobs);
  Trace trace;
  trace.source = "random";
  trace.jobs = std::move(world.jobs);
  check_jobs_fit_cluster(trace, world.cluster, true);
  world.jobs = std::move(trace.jobs);
  world.pair_conflicts = random_pair_conflicts(rng.split(11), world);
  if (options.faults) {
    const auto last_s = static_cast<double>(world.jobs.back().submit_us / kSecond);
    world.faults = random_faults(rng.split(5), world.cluster, last_s + 3000);
  }
  if (kind.below(2) == 0) round_times(world);
  if (options.rates && rng.split(8).below(8) != 0) {
    const auto types = static_cast<int32_t>(world.cluster.types.size());
    world.speeds.emplace(rng.split(9), types, world.jobs.size());
  }
  return world;
}

std::unique_ptr<Scene> scene_of(const RandomWorld& world) {
  auto scene =
      std::make_unique<Scene>(world.cluster, world.jobs, world.costs, world.pair_conflicts);
  if (!world.faults.empty()) scene->set_faults(world.faults);
  if (world.speeds) scene->set_speeds(world.speeds->columns(), world.speeds->classes);
  return scene;
}

}  // namespace yard::testing
