#include "tests/support/random_world.h"

#include <algorithm>
#include <string>

#include "env/sim/fits.h"
#include "env/sim/free_map.h"
#include "tests/support/scene.h"

namespace yard::testing {
namespace {

ClusterSpec random_cluster(Rng& rng) {
  static const char* const kTexts[] = {"2x4:v100+2x8:a100+1x2:t4", "3x4:v100+1x8:a100",
                                       "1x8:a100+4x2:v100+2x1:t4"};
  ClusterSpec spec = load_cluster(kTexts[rng.below(3)]);
  const double cores_a_gpu = rng.below(2) == 0 ? 4 : 8;
  for (Node& node : spec.nodes) {
    node.cpus = static_cast<int32_t>(cores_a_gpu * node.gpus);
    node.mem_gib = 16.0 * node.gpus;
  }
  for (GpuType& type : spec.types) {
    type.mem_gib = type.name == "a100" ? 40 : 16;
    if (type.name != "t4") type.shares = Shares::kMilli;
    if (type.name == "t4") type.speed = 0.5;
    if (type.name == "a100") type.speed = 1.5;
  }
  return spec;
}

int32_t gpus_of(const std::vector<RoleGroup>& groups) {
  int32_t milli = 0;
  for (const RoleGroup& g : groups) milli += g.count * (1000 * g.task.gpus + g.task.gpu_milli);
  return (milli + 999) / 1000;
}

void give_shape(Rng& rng, Job& job) {
  const auto up_to = [&](int32_t most) { return static_cast<int32_t>(1 + rng.below(most)); };
  switch (rng.below(6)) {
    case 0:  // plain
      return;
    case 1:  // plain, of certain types
      job.gpu_types = {rng.below(2) == 0 ? "v100" : "a100"};
      return;
    case 2:  // a share
      job.groups = {group_of(1, 0, 50 + 50 * up_to(18), 500, 1024)};
      break;
    case 3:  // several shares
      job.groups = {group_of(up_to(4), 0, 300, 1000, 512)};
      break;
    case 4:  // workers of two GPUs beside servers without any
      job.groups = {group_of(up_to(3), 2, 0, 4000, 8192), group_of(up_to(2), 0, 0, 2000, 4096)};
      job.groups[1].role = "ps";
      break;
    default:  // CPUs alone
      job.groups = {group_of(up_to(3), 0, 0, 6000, 2048)};
  }
  job.gpus = gpus_of(job.groups);
}

std::vector<Fault> random_faults(Rng rng, const ClusterSpec& spec, int64_t span_us) {
  std::vector<Fault> faults;
  const auto count = rng.below(12);
  for (uint64_t i = 0; i < count; ++i) {
    Fault fault;
    fault.at_us = static_cast<int64_t>(rng.below(static_cast<uint64_t>(span_us)));
    fault.until_us = fault.at_us + kSecond * static_cast<int64_t>(1 + rng.below(4000));
    fault.node = static_cast<int32_t>(rng.below(spec.nodes.size()));
    const uint64_t all = low_mask(spec.nodes[static_cast<size_t>(fault.node)].gpus);
    fault.mask = rng.below(2) == 0 ? all : uint64_t{1} << rng.below(count_bits(all));
    fault.kind = static_cast<FaultKind>(rng.below(3));
    faults.push_back(fault);
  }
  return faults;
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
  Rng kind = rng.split(1), shape = rng.split(2), after = rng.split(3);
  world.cluster = random_cluster(kind);
  world.jobs = random_jobs(rng.split(4), {.count = options.jobs, .mean_gap_s = 60});
  for (size_t j = 0; j < world.jobs.size(); ++j) {
    Job& job = world.jobs[j];
    if (options.shapes) give_shape(shape, job);
    for (uint64_t n = options.after && j > 0 && after.below(4) == 0 ? 1 + after.below(2) : 0; n > 0;
         --n) {
      job.after.push_back(world.jobs[after.below(j)].id);
    }
  }
  Trace trace;
  trace.source = "random";
  trace.jobs = std::move(world.jobs);
  check_fits(trace, world.cluster, true);
  world.jobs = std::move(trace.jobs);
  if (options.faults) {
    world.faults =
        random_faults(rng.split(5), world.cluster, world.jobs.back().submit_us + 3000 * kSecond);
  }
  return world;
}

}  // namespace yard::testing
