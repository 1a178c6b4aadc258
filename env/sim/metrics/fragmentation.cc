#include "env/sim/metrics/fragmentation.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace yard {
namespace {

// Returns the distinct tasks of the workload.
std::vector<TaskFrequency> task_mix(const SimModel& fixed) {
  // Tasks with equal keys count as one.
  using Key = std::tuple<uint64_t, int32_t, int32_t, int32_t, int32_t, int64_t, int64_t>;
  std::map<Key, TaskFrequency> tasks;
  double total = 0;
  const JobColumns& jobs = fixed.jobs;
  const ShapeColumns& h = jobs.shapes;
  const auto add = [&](int32_t shape, const TaskNeed& need, int64_t count) {
    if (count == 0) return;
    const Key key(shape == kNone ? ~uint64_t{0} : h.types[shape],
                  shape == kNone ? kNone : h.tenant[shape], need.gpus, need.gpu_milli,
                  need.gpu_mem_mib, need.cpu_milli, need.mem_mib);
    auto [at, fresh] = tasks.try_emplace(key, TaskFrequency{shape, need, 0});
    at->second.share += static_cast<double>(count);
    total += static_cast<double>(count);
  };
  const int32_t node_gpus = fixed.spec.max_node_gpus;
  for (int32_t j = 0; j < jobs.num_jobs; ++j) {
    const int32_t shape = jobs.shape == nullptr ? kNone : jobs.shape[j];
    if (shape == kNone) {
      TaskNeed need{};
      need.gpus = node_gpus;
      add(kNone, need, jobs.gpus[j] / node_gpus);
      need.gpus = jobs.gpus[j] % node_gpus;
      add(kNone, need, need.gpus > 0 ? 1 : 0);
      continue;
    }
    for (int32_t g = 0; g < num_groups(h, shape); ++g) {
      add(shape, need_of(h, shape, g), tasks_of(h, shape, g));
    }
  }
  std::vector<TaskFrequency> out;
  for (auto& [key, task] : tasks) {
    task.share /= total;
    out.push_back(task);
  }
  return out;
}

}  // namespace

Fragmentation::Fragmentation(const SimModel& fixed)
    : fixed_(fixed), mix_(task_mix(fixed)), parts_(static_cast<size_t>(fixed.spec.num_nodes)) {
  const size_t nodes = parts_.size(), gpus = static_cast<size_t>(fixed.spec.total_gpus);
  free_mask_.resize(nodes);
  if (fixed.jobs.shapes.num_shapes > 0) {
    cpu_milli_.resize(nodes);
    mem_mib_.resize(nodes);
  }
  if (fixed.jobs.shapes.max_loose_tasks > 0) {
    shared_mask_.resize(nodes);
    share_milli_.resize(gpus);
    share_mem_mib_.resize(gpus);
  }
}

// Stores the node's resources. Returns whether they differ from those of the last call.
bool Fragmentation::update_if_changed(const SimState& s, int32_t node) {
  bool any = fresh_;
  const auto note = [&any](auto& seen, auto now) {
    any = any || seen != now;
    seen = now;
  };
  const auto m = static_cast<size_t>(node);
  note(free_mask_[m], s.free_mask[m]);
  if (!cpu_milli_.empty()) {
    note(cpu_milli_[m], s.free_cpu_milli[m]);
    note(mem_mib_[m], s.free_mem_mib[m]);
  }
  if (shared_mask_.empty()) return any;
  uint64_t shared = s.shared_mask[m];
  if (fixed_.faults) shared &= ~s.down_mask[m];
  note(shared_mask_[m], shared);
  for (; shared != 0; shared &= shared - 1) {
    const auto gpu = static_cast<size_t>(fixed_.spec.node_gpu0[m] + lowest_set_bit_index(shared));
    note(share_milli_[gpu], s.share_milli[gpu]);
    note(share_mem_mib_[gpu], s.share_mem_mib[gpu]);
  }
  return any;
}

Fragmentation::NodeFreeGpus Fragmentation::compute(const SimState& s, int32_t node) const {
  const NodeLedger now(fixed_, s, node);
  const int32_t gpu0 = fixed_.spec.node_gpu0[node];
  int64_t free_milli = int64_t{kWholeGpu} * count_bits(now.free);
  for (uint64_t rest = now.shared; rest != 0; rest &= rest - 1) {
    free_milli += s.share_milli[gpu0 + lowest_set_bit_index(rest)];
  }
  NodeFreeGpus part{.free = static_cast<double>(free_milli) / kWholeGpu,
                    .stranded = free_milli > 0};
  if (free_milli == 0) return part;
  for (const TaskFrequency& task : mix_) {
    const TaskNeed& need = task.need;
    int64_t unusable_milli = free_milli;
    NodeLedger ledger = now;
    const bool suits = task.shape == kNone || ledger.suits_task(fixed_, task.shape, need);
    const bool on_gpu = need.gpus > 0 || need.gpu_milli > 0;
    if (on_gpu && suits && take_tasks(fixed_, s, ledger, need, 1) == 1) {
      part.stranded = false;
      unusable_milli = 0;
      const int32_t wanted = need.gpus > 0 ? kWholeGpu : gpu_milli_on_node(fixed_, node, need);
      for (uint64_t rest = now.shared; rest != 0; rest &= rest - 1) {
        const int32_t gpu = gpu0 + lowest_set_bit_index(rest);
        if (s.share_milli[gpu] >= wanted && s.share_mem_mib[gpu] >= need.gpu_mem_mib) continue;
        unusable_milli += s.share_milli[gpu];
      }
    }
    part.unusable += task.share * static_cast<double>(unusable_milli) / kWholeGpu;
  }
  return part;
}

const FreeGpuCounts& Fragmentation::of(const SimState& s) {
  bool any = false;
  for (int32_t m = 0; m < fixed_.spec.num_nodes; ++m) {
    if (!update_if_changed(s, m)) continue;
    parts_[static_cast<size_t>(m)] = compute(s, m);
    any = true;
  }
  fresh_ = false;
  if (!any) return last_;
  last_ = {};
  for (int32_t m = 0; m < fixed_.spec.num_nodes; ++m) {
    const NodeFreeGpus& part = parts_[static_cast<size_t>(m)];
    last_.free += part.free;
    last_.unusable += part.unusable;
    if (s.free_count[m] < fixed_.spec.node_gpus[m]) last_.partial += part.free;
    if (part.stranded) last_.stranded += part.free;
    last_.largest_block = std::max(last_.largest_block, static_cast<double>(s.free_count[m]));
  }
  last_.ideal_block = std::min(s.head->free_gpus, fixed_.spec.max_node_gpus);
  return last_;
}

}  // namespace yard
