#include "env/sim/rules/digest.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>

#include "env/sim/rules/link_loads.h"
#include "env/sim/rules/rules.h"

namespace yard {
namespace {

class Hash {
 public:
  // Adds each number as a word of 64 bits.
  void add(auto... numbers) { (mix(word_of(numbers)), ...); }
  uint64_t value() const { return h_; }

 private:
  template <class T>
  static uint64_t word_of(T number) {
    if constexpr (std::is_same_v<T, double>) {
      return std::bit_cast<uint64_t>(number);
    } else {
      return static_cast<uint64_t>(static_cast<int64_t>(number));  // extends the sign
    }
  }

  void mix(uint64_t word) {
    // Finaliser of splitmix64 over a running sum: every bit of every word affects the result.
    h_ += word + 0x9E3779B97F4A7C15u;
    h_ = (h_ ^ (h_ >> 30)) * 0xBF58476D1CE4E5B9u;
    h_ = (h_ ^ (h_ >> 27)) * 0x94D049BB133111EBu;
    h_ ^= h_ >> 31;
  }

  uint64_t h_ = 0;
};

bool is_live(Phase phase) { return phase != Phase::kFree && phase != Phase::kDone; }

std::vector<int32_t> live_slots_by_job(const SimState& s) {
  std::vector<int32_t> slots;
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    if (is_live(s.phase[slot])) slots.push_back(slot);
  }
  std::ranges::sort(slots, {}, [&](int32_t slot) { return s.job[slot]; });
  return slots;
}

}  // namespace

uint64_t digest(const SimModel& fixed, const SimState& s) {
  const StateHeader& h = *s.head;
  Hash hash;
  hash.add(h.now_us, h.timer_us, h.job_time_us, h.held_time_us, h.first_job, h.end_job, h.arrived,
           h.finished, h.preemptions, h.starts);
  for (const int32_t slot : live_slots_by_job(s)) {
    hash.add(s.job[slot], s.phase[slot], s.preempted[slot], s.started[slot]);
    if (s.pinned[slot]) hash.add(1);
    if (s.ended[slot]) hash.add(2);
    const bool timed = s.phase[slot] == Phase::kStarting || s.phase[slot] == Phase::kStopping;
    hash.add(s.first_start_us[slot], s.since_us[slot], timed ? s.until_us[slot] : 0,
             std::max<int64_t>(s.saved_us[slot] - h.now_us, 0), s.attained_us[slot],
             s.work_done_us[slot]);
    if (s.first_part[slot] != kNone) hash.add(s.rate[slot]);
    if (s.first_part[slot] != kNone && any_job_may_choose_all_reduce(fixed)) {
      hash.add(s.all_reduce[slot], s.link_priority[slot]);
    }
    if (fixed.faults) {
      hash.add(s.failed[slot], s.checkpointed_us[slot],
               s.phase[slot] == Phase::kRunning ? s.run_start_us[slot] : 0);
    }
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      hash.add(s.part_node[p], s.part_mask[p]);
      if (s.shape[slot] != kNone) hash.add(s.part_role_group[p], s.part_tasks[p]);
    }
  }
  for (int32_t slot = h.queue_head; slot != kNone; slot = s.queue_next[slot]) hash.add(s.job[slot]);
  if (fixed.rated) {
    for (const int32_t slot : live_slots_by_job(s)) hash.add(s.traffic[slot]);
    const int32_t links = num_links(fixed.spec);
    for (int32_t i = 0; i < links; ++i) hash.add(s.link_load[i]);
    hash.add(h.moved_bytes);
  }
  for (int32_t m = 0; m < fixed.spec.num_nodes; ++m) hash.add(s.free_mask[m]);
  if (fixed.faults) {
    hash.add(h.down_time_us, h.lost_time_us, h.failures);
    for (int32_t m = 0; m < fixed.spec.num_nodes; ++m) {
      hash.add(s.down_mask[m], s.idle_down_mask[m]);
    }
  }
  for (int32_t g = 0; g < fixed.spec.total_gpus; ++g) {
    const int64_t vacating_us = std::max<int64_t>(s.gpu_ready_us[g] - h.now_us, 0);
    hash.add(vacating_us);
    if (vacating_us == 0 || fixed.jobs.shapes.max_loose_tasks == 0) continue;
    hash.add(s.leaving_milli[g], s.leaving_mem_mib[g]);
    if (fixed.jobs.shapes.num_kinds > 0) hash.add(s.leaving_kinds[g]);
  }
  for (int32_t m = 0; fixed.jobs.shapes.num_shapes > 0 && m < fixed.spec.num_nodes; ++m) {
    if (s.node_ready_us[m] <= h.now_us) continue;
    hash.add(s.node_ready_us[m], s.leaving_cpu_milli[m], s.leaving_ram_mib[m]);
  }
  return hash.value();
}

namespace {

// Returns what is broken of free CPUs, memory, GPU shares and complete gangs, or "".
std::string broken_share(const SimModel& fixed, const SimState& s) {
  const ShapeColumns& shapes = fixed.jobs.shapes;
  if (shapes.num_shapes == 0) return "";
  const auto nodes = static_cast<size_t>(fixed.spec.num_nodes);
  const auto gpus = static_cast<size_t>(fixed.spec.total_gpus);
  std::vector<int64_t> cpu(nodes, 0), mem(nodes, 0), milli(gpus, 0), gpu_mem(gpus, 0);
  std::vector<uint64_t> kinds(gpus, 0);
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    if (!is_live(s.phase[slot]) || s.shape[slot] == kNone) continue;
    std::vector<int32_t> tasks(static_cast<size_t>(num_groups(shapes, s.shape[slot])), 0);
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      const auto node = static_cast<size_t>(s.part_node[p]);
      const TaskNeed need = need_of(shapes, s.shape[slot], s.part_role_group[p]);
      tasks[static_cast<size_t>(s.part_role_group[p])] += s.part_tasks[p];
      cpu[node] += s.part_tasks[p] * need.cpu_milli;
      mem[node] += s.part_tasks[p] * need.mem_mib;
      if (need.gpu_milli == 0) continue;
      const auto gpu =
          static_cast<size_t>(fixed.spec.node_gpu0[node] + lowest_set_bit_index(s.part_mask[p]));
      milli[gpu] += gpu_milli_on_node(fixed, s.part_node[p], need);
      gpu_mem[gpu] += need.gpu_mem_mib;
      if (need.kind != kNone) kinds[gpu] |= uint64_t{1} << need.kind;
    }
    if (s.first_part[slot] == kNone) continue;
    for (int32_t g = 0; g < num_groups(shapes, s.shape[slot]); ++g) {
      if (!is_legal_task_count(shapes, s.shape[slot], g, tasks[static_cast<size_t>(g)])) {
        return "incomplete gang at slot " + std::to_string(slot);
      }
    }
  }
  for (size_t m = 0; m < nodes; ++m) {
    if (s.free_cpu_milli[m] != fixed.spec.node_cpu_milli[m] - cpu[m] || s.free_cpu_milli[m] < 0) {
      return "wrong free CPUs of node " + std::to_string(m);
    }
    if (s.free_mem_mib[m] != fixed.spec.node_mem_mib[m] - mem[m] || s.free_mem_mib[m] < 0) {
      return "wrong free memory of node " + std::to_string(m);
    }
    if (shapes.max_loose_tasks == 0) continue;
    for (int32_t i = 0; i < fixed.spec.node_gpus[m]; ++i) {
      const auto gpu = static_cast<size_t>(fixed.spec.node_gpu0[m] + i);
      const bool shared = (s.shared_mask[m] >> i & 1) != 0;
      const bool fits = s.share_milli[gpu] == kWholeGpu - milli[gpu] && s.share_milli[gpu] >= 0 &&
                        s.share_mem_mib[gpu] >= 0;
      if (!fits || shared != (milli[gpu] > 0) || (shared && (s.free_mask[m] >> i & 1) != 0)) {
        return "wrong shares of GPU " + std::to_string(gpu);
      }
      if (shapes.num_kinds > 0 && s.share_kinds[gpu] != kinds[gpu]) {
        return "wrong kinds of jobs on GPU " + std::to_string(gpu);
      }
      for (uint64_t rest = kinds[gpu]; rest != 0; rest &= rest - 1) {
        const int32_t kind = lowest_set_bit_index(rest);
        const uint64_t conflicts =
            shapes.conflicts[fixed.spec.node_type[m] * shapes.num_kinds + kind] &
            ~(uint64_t{1} << kind);
        if ((kinds[gpu] & conflicts) != 0) return "conflicting jobs on GPU " + std::to_string(gpu);
      }
    }
  }
  return "";
}

// Returns which link's load differs from what running jobs send, or "".
std::string broken_link(const SimModel& fixed, const SimState& s) {
  if (!fixed.rated) return "";
  const auto num = static_cast<size_t>(num_links(fixed.spec));
  std::vector<int64_t> load(num, 0), of_priority(num * kLinkPriorities, 0);
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    if (!is_live(s.phase[slot])) continue;
    if (s.phase[slot] != Phase::kRunning && s.traffic[slot] != 0) {
      return "traffic of a job that does not run: slot " + std::to_string(slot);
    }
    const JobLinkTraffic traffic = link_traffic_of(fixed, s, slot);
    for (const int32_t link : traffic.links) {
      const auto i = static_cast<size_t>(link);
      load[i] += traffic.bytes_per_s;
      of_priority[num * static_cast<size_t>(traffic.priority) + i] += traffic.bytes_per_s;
    }
  }
  for (size_t i = 0; i < load.size(); ++i) {
    if (s.link_load[i] != load[i]) return "wrong load of link " + std::to_string(i);
  }
  for (size_t i = 0; any_job_may_choose_all_reduce(fixed) && i < of_priority.size(); ++i) {
    if (s.priority_load[i] != of_priority[i]) return "wrong load by priority " + std::to_string(i);
  }
  return "";
}

}  // namespace

std::string broken_invariant(const SimModel& fixed, const SimState& s) {
  const StateHeader& h = *s.head;
  if (std::string broken = broken_share(fixed, s); !broken.empty()) return broken;
  if (std::string broken = broken_link(fixed, s); !broken.empty()) return broken;
  const auto at = [](const char* what, int64_t i) { return std::string(what) + std::to_string(i); };
  std::vector<uint64_t> owned(static_cast<size_t>(fixed.spec.num_nodes), 0);
  int32_t live = 0, waiting = 0, held = 0, blocked = 0;
  for (int32_t slot = 0; slot < h.high_water; ++slot) {
    const Phase phase = s.phase[slot];
    if (!is_live(phase)) continue;
    ++live;
    const bool holds = phase == Phase::kStarting || phase == Phase::kRunning;
    waiting += phase == Phase::kWaiting;
    blocked += phase == Phase::kBlocked;
    if (phase == Phase::kBlocked && has_no_pending_dependency(fixed, s, s.job[slot])) {
      return at("blocked without a dependency: slot ", slot);
    }
    held += holds;
    int32_t sum = 0;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      uint64_t& node = owned[static_cast<size_t>(s.part_node[p])];
      if (!is_gpu_share(fixed, s, slot, p) && (node & s.part_mask[p]) != 0)
        return at("a GPU is held twice on node ", s.part_node[p]);
      node |= s.part_mask[p];
      sum += count_bits(s.part_mask[p]);
      if (s.shape[slot] == kNone && (s.part_role_group[p] != 0 || s.part_tasks[p] != 0)) {
        return at("plain job with tasks at slot ", slot);
      }
    }
    const bool plain = s.shape[slot] == kNone;  // other jobs: see broken_share()
    if (plain && sum != (holds ? s.gpus[slot] : 0))
      return at("wrong number of GPUs at slot ", slot);
    if (holds && (s.held_pos[slot] >= h.held || s.holder_slots[s.held_pos[slot]] != slot)) {
      return at("not in the list of holders: slot ", slot);
    }
    if (s.work_done_us[slot] < 0 || s.attained_us[slot] < 0)
      return at("negative work at slot ", slot);
  }
  if (live != h.live) return at("wrong number of live jobs; counted: ", live);
  if (held != h.held) return at("wrong number of holders; counted: ", held);
  if (blocked != h.blocked) return at("wrong number of blocked jobs; counted: ", blocked);
  if (h.arrived - h.first_job != h.live + h.finished) return "a job was lost or duplicated";
  int32_t free_gpus = 0, down_gpus = 0;
  for (int32_t m = 0; m < fixed.spec.num_nodes; ++m) {
    const uint64_t all = mask_of_low_bits(fixed.spec.node_gpus[m]);
    const uint64_t down = fixed.faults ? s.idle_down_mask[m] : 0;
    if ((owned[static_cast<size_t>(m)] ^ s.free_mask[m] ^ down) != all) {
      return at("GPUs lost on node ", m);
    }
    if (fixed.faults && ((s.free_mask[m] & s.down_mask[m]) != 0 || (down & ~s.down_mask[m]) != 0)) {
      return at("wrong mask of down GPUs on node ", m);
    }
    down_gpus += count_bits(down);
    if (s.free_count[m] != count_bits(s.free_mask[m])) return at("wrong free count of node ", m);
    const FreeNodeIndex map(fixed.spec);
    for (int32_t c = 0; c <= fixed.spec.max_node_gpus; ++c) {
      if ((map.first_node_with_exactly(s, c, m) == m) != (c == s.free_count[m]))
        return at("wrong free bitmap of node ", m);
    }
    free_gpus += s.free_count[m];
  }
  if (free_gpus != h.free_gpus) return at("wrong number of free GPUs; counted: ", free_gpus);
  if (down_gpus != h.down_gpus) return at("wrong number of down GPUs; counted: ", down_gpus);
  std::vector<int32_t> tenant_gpus(static_cast<size_t>(fixed.spec.num_tenants), 0);
  for (int32_t i = 0; i < h.held; ++i) {
    const int32_t slot = s.holder_slots[i], t = s.tenant[slot];
    if (t != kNone) tenant_gpus[static_cast<size_t>(t)] += s.gpus[slot];
  }
  for (int32_t t = 0; t < fixed.spec.num_tenants; ++t) {
    const int32_t holds = tenant_gpus[static_cast<size_t>(t)];
    if (s.tenant_gpus[t] != holds || holds > fixed.spec.tenant_limit[t]) {
      return at("wrong number of GPUs of tenant ", t);
    }
  }
  int32_t queued = 0;
  int64_t asked_for = 0;
  for (int32_t slot = h.queue_head; slot != kNone; slot = s.queue_next[slot], ++queued) {
    asked_for += s.gpus[slot];
    if (s.phase[slot] != Phase::kWaiting) return at("queued but not waiting: slot ", slot);
    const int32_t next = s.queue_next[slot];
    if (next != kNone && s.queue_rank[next] <= s.queue_rank[slot])
      return "the queue is out of order";
    if (queued > waiting) return "the queue has a loop";
  }
  if (queued != waiting || waiting != h.waiting)
    return at("wrong number of queued jobs; counted: ", queued);
  if (asked_for != h.waiting_gpus)
    return at("wrong number of requested GPUs; counted: ", asked_for);
  for (int32_t k = 0; k < fixed.jobs.num_classes; ++k) {
    int64_t rank = kNone;
    int32_t counted = 0;
    for (int32_t slot = s.class_head[k]; slot != kNone; slot = s.class_next[slot], ++counted) {
      if (s.request_class[slot] != k || s.queue_rank[slot] <= rank || counted >= s.class_count[k]) {
        return at("wrong queue of size class ", k);
      }
      rank = s.queue_rank[slot];
    }
    if (counted != s.class_count[k]) return at("jobs missing in size class ", k);
    queued -= counted;
  }
  if (queued != 0) return at("jobs in no size class: ", queued);
  return "";
}

}  // namespace yard
