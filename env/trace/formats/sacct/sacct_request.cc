#include "env/trace/formats/sacct/sacct_request.h"

#include <algorithm>
#include <utility>

#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr int64_t kMaxGpus = 1 << 20;
constexpr int64_t kMpsOfGpu = 100;

// Fractional GPUs: `count` per node, `of_gpu` to a GPU.
struct GpuParts {
  int64_t count = -1, of_gpu = 1;
};

GpuParts split_by_rows(const Tres& tres, const SlurmRequestRules& rules) {
  if (tres.mps > 0) return {tres.mps, kMpsOfGpu};
  // Without shards_per_gpu, the shards of a node count as one GPU.
  if (tres.shards > 0 && rules.shards_per_gpu == 0) return {1, 1};
  if (tres.shards > 0) return {tres.shards, rules.shards_per_gpu};
  return {};
}

RoleGroup group_of(int64_t count, int64_t gpus_each, int64_t milli, int64_t cpus, int64_t mem_mib) {
  RoleGroup group;
  group.count = static_cast<int32_t>(count);
  group.task.gpus = static_cast<int32_t>(gpus_each);
  group.task.gpu_milli = static_cast<int32_t>(milli);
  group.task.cpu_milli = static_cast<int32_t>(std::max<int64_t>(cpus, 0) * 1000 / count);
  group.task.mem_mib = std::max<int64_t>(mem_mib, 0) / count;
  return group;
}

void add_slices(const Tres& tres, int64_t cpus, int64_t mem_mib, Job& job) {
  int64_t milli = 0, number = static_cast<int64_t>(job.groups.size());
  for (const GpuSlices& slices : tres.slices) {
    const bool first = job.groups.empty();
    job.groups.push_back(
        group_of(slices.count, 0, slices.gpu_milli, first ? cpus : 0, first ? mem_mib : 0));
    if (number > 0) job.groups.back().role = "slices" + std::to_string(number);
    ++number;
    milli += slices.count * slices.gpu_milli;
  }
  job.gpus += static_cast<int32_t>((milli + 999) / 1000);
}

}  // namespace

std::optional<SlurmFlaw> set_job_resources(const SlurmRequest& request,
                                           const SlurmRequestRules& rules, Job& job) {
  const Tres& first = rules.allocated ? request.given : request.asked;
  const Tres& second = rules.allocated ? request.asked : request.given;
  const auto pick = [](int64_t one, int64_t other) { return one >= 0 ? one : other; };
  const int64_t nodes = std::max<int64_t>(1, pick(pick(first.nodes, second.nodes), request.nodes));
  const SlurmFlaw too_many{"", "too many resources",
                           "at most " + std::to_string(kMaxGpus) + " GPUs, nodes and CPUs", "more"};
  if (nodes > kMaxGpus) return too_many;
  const int64_t cpus = pick(pick(first.cpus, second.cpus), request.cpus);
  int64_t mem_mib = pick(first.mem_mib, second.mem_mib);
  if (mem_mib < 0 && !request.mem.empty()) {
    const auto mib = parse_slurm_mib(request.mem, nodes, cpus);
    if (!mib) {
      return SlurmFlaw{"ReqMem", "ReqMem is not a size", "a size like 4000M or 16G",
                       in_quotes(request.mem)};
    }
    mem_mib = *mib;
  }
  const Tres& tres = first.names_gpus() ? first : second;
  int64_t gpus = tres.gpus;
  const bool counted = tres.names_gpus();
  if (rules.gpus_per_node > 0) {
    gpus = nodes * rules.gpus_per_node;
  } else if (!counted && !request.gpus_each.empty()) {
    const std::optional<int64_t> each = parse_gres_gpus_per_node(request.gpus_each);
    if (!each) {
      return SlurmFlaw{request.gpus_each_column,
                       request.gpus_each_column + " is not a list of resources", "gpu:TYPE:N",
                       in_quotes(request.gpus_each)};
    }
    gpus = *each * nodes;
  }
  gpus = std::max<int64_t>(gpus, 0);
  const bool by_row = rules.gpus_per_node == 0;
  int64_t slices = 0, milli = 0;
  for (const GpuSlices& one : tres.slices) slices += by_row ? one.count : 0;
  if (by_row && gpus == 0 && slices == 0) {
    const GpuParts parts = split_by_rows(tres, rules);
    const int64_t each = (std::max<int64_t>(parts.count, 0) + nodes - 1) / nodes;
    gpus = (each + parts.of_gpu - 1) / parts.of_gpu * nodes;
    if (each > 0 && each < parts.of_gpu) milli = std::max<int64_t>(1, 1000 * each / parts.of_gpu);
  }
  if (gpus > kMaxGpus || slices > kMaxGpus || cpus > kMaxGpus) return too_many;
  job.gpus = static_cast<int32_t>(gpus);
  if (!request.asked.gpu_type.empty()) job.gpu_types = {request.asked.gpu_type};
  job.groups.clear();
  if (milli > 0) {
    job.groups = {group_of(nodes, 0, milli, cpus, mem_mib)};
  } else if (gpus % nodes == 0 && (gpus > 0 || slices == 0)) {
    job.groups = {group_of(nodes, gpus / nodes, 0, cpus, mem_mib)};
  } else if (gpus > 0 && slices > 0) {
    job.groups = {group_of(gpus, 1, 0, cpus, mem_mib)};
  }
  if (slices > 0) add_slices(tres, cpus, mem_mib, job);
  return std::nullopt;
}

}  // namespace yard
