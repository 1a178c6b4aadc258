#include "env/sim/metrics/why_waiting.h"

#include <algorithm>

#include "env/base/text/text.h"
#include "env/sim/rules/rules.h"

namespace yard {

using std::to_string;

PlacementRule placement_rule_named(const std::string& name) {
  // Tiresias' yarn and Lucid's consolidate wait for few nodes, as ours does. Other placements of
  // published rule sets take GPUs anywhere.
  if (name == "consolidate" || name == "yarn") return PlacementRule::kConsolidate;
  if (name == "elastic") return PlacementRule::kElastic;
  return name == "first-fit" ? PlacementRule::kFirstFit : PlacementRule::kBestFit;
}

WhyWaiting::WhyWaiting(const SimModel& fixed, PlacementRule placement)
    : fixed_(fixed),
      placement_(placement),
      seen_(static_cast<size_t>(fixed.jobs.num_classes), 0),
      reason_(seen_.size(), WaitReason::kOrder),
      pieces_(fixed.max_pieces()) {}

WaitReason WhyWaiting::reason(const SimState& s, int32_t slot) {
  if (s.phase[slot] == Phase::kBlocked) return WaitReason::kDependencies;
  if (s.phase[slot] == Phase::kStopping) return WaitReason::kSaving;
  YARD_CHECK(s.phase[slot] == Phase::kWaiting, "the job is not waiting");
  const auto k = static_cast<size_t>(s.request_class[slot]);
  if (seen_[k] != epoch_) {
    seen_[k] = epoch_;
    reason_[k] = reason_for_request_class(s, slot);
  }
  return reason_[k];
}

WaitReason WhyWaiting::reason_for_request_class(const SimState& s, int32_t slot) {
  const View view(fixed_, s, InformationLevel::kBlind);
  const int32_t wanted = fixed_.jobs.class_gpus[s.request_class[slot]];
  if (!view.within_tenant_limit(slot)) {
    // A tenant without a limit may hold the whole cluster: what the job lacks is free GPUs.
    const bool limited = fixed_.spec.tenant_limit[s.tenant[slot]] < fixed_.spec.total_gpus;
    if (limited || wanted <= s.head->free_gpus) return WaitReason::kTenantLimit;
  } else if (place(view, placement_, slot, pieces_.data()) > 0) {
    return WaitReason::kOrder;
  }
  if (wanted > s.head->free_gpus) {
    return wanted > s.head->free_gpus + s.head->down_gpus ? WaitReason::kTooFewGpus
                                                          : WaitReason::kGpusDown;
  }
  return view.shaped(slot) ? reason_for_shaped_job(s, slot) : WaitReason::kFragmented;
}

int32_t WhyWaiting::free_gpus_on_open_nodes(const SimState& s, int32_t slot) const {
  int32_t gpus = 0;
  for (int32_t m = 0; m < fixed_.spec.num_nodes; ++m) {
    if (is_node_open_to_job(s, slot, m)) gpus += s.free_count[m];
  }
  return gpus;
}

bool WhyWaiting::is_node_open_to_job(const SimState& s, int32_t slot, int32_t node) const {
  const ShapeColumns& h = fixed_.jobs.shapes;
  const NodeLedger ledger(fixed_, s, node);
  for (int32_t g = 0; g < num_groups(h, s.shape[slot]); ++g) {
    const TaskNeed need = need_of(h, s.shape[slot], g);
    const bool on_gpus = need.gpus + need.gpu_milli > 0;
    if (on_gpus && ledger.suits_task(fixed_, s.shape[slot], need)) return true;
  }
  return false;
}

bool WhyWaiting::holds_on_open_node(const SimState& s, int32_t holder, int32_t slot) const {
  for (int32_t part = s.first_part[holder]; part != kNone; part = s.part_next[part]) {
    if (is_node_open_to_job(s, slot, s.part_node[part])) return true;
  }
  return false;
}

Blockers WhyWaiting::blockers(const SimState& s, int32_t slot, WaitReason reason) const {
  Blockers out;
  using enum WaitReason;
  if (reason == kOrder || reason == kNextRound || reason == kSaving) return out;
  if (reason == WaitReason::kDependencies) {
    out.jobs = unfinished_dependencies(s, slot);
  } else {
    std::vector<int32_t> holders;  // slots
    for (int32_t i = 0; i < s.head->held; ++i) {
      const int32_t holder = s.holder_slots[i];
      const bool of_tenant = s.tenant[holder] == s.tenant[slot];
      if (reason == WaitReason::kTenantLimit && !of_tenant) continue;
      if (reason == WaitReason::kGpuType && !holds_on_open_node(s, holder, slot)) continue;
      holders.push_back(holder);
    }
    std::ranges::sort(holders, [&](int32_t a, int32_t b) {
      return s.gpus[a] != s.gpus[b] ? s.gpus[a] > s.gpus[b] : s.job[a] < s.job[b];
    });
    for (const int32_t holder : holders) out.jobs.push_back(s.job[holder]);
  }
  if (out.jobs.size() > kMaxBlockers) {
    out.more = static_cast<int32_t>(out.jobs.size() - kMaxBlockers);
    out.jobs.resize(kMaxBlockers);
  }
  return out;
}

// Whether the tasks of each role group, taken separately, would fit without the marked needs.
bool WhyWaiting::has_room_ignoring(const SimState& s, int32_t slot, bool cpu, bool memory,
                                   bool gpu_memory) const {
  const ShapeColumns& h = fixed_.jobs.shapes;
  const int32_t shape = s.shape[slot];
  for (int32_t g = 0; g < num_groups(h, shape); ++g) {
    TaskNeed need = need_of(h, shape, g);
    if (cpu) need.cpu_milli = 0;
    if (memory) need.mem_mib = 0;
    if (gpu_memory) need.gpu_mem_mib = 0;
    int32_t left = tasks_of(h, shape, g);
    for (int32_t m = 0; m < fixed_.spec.num_nodes && left > 0; ++m) {
      NodeLedger ledger(fixed_, s, m);
      // A type that never has the memory cannot become free.
      if (!ledger.suits_task(fixed_, shape, need_of(h, shape, g))) continue;
      left -= take_tasks(fixed_, s, ledger, need, left);
    }
    if (left > 0) return false;
  }
  return true;
}

WaitReason WhyWaiting::reason_for_shaped_job(const SimState& s, int32_t slot) const {
  if (has_room_ignoring(s, slot, false, false, false))
    return WaitReason::kFragmented;  // not all together
  if (has_room_ignoring(s, slot, true, false, false)) return WaitReason::kCpu;
  if (has_room_ignoring(s, slot, false, true, false)) return WaitReason::kMemory;
  if (has_room_ignoring(s, slot, false, false, true)) return WaitReason::kGpuMemory;
  if (has_room_ignoring(s, slot, true, true, false)) return WaitReason::kCpu;
  if (has_room_ignoring(s, slot, true, true, true)) return WaitReason::kGpuMemory;
  const int32_t open = free_gpus_on_open_nodes(s, slot);
  if (open < fixed_.jobs.class_gpus[s.request_class[slot]]) return WaitReason::kGpuType;
  // Shares alone need no whole GPU; if no GPU has enough left, too little is free.
  return open == 0 ? WaitReason::kTooFewGpus : WaitReason::kFragmented;
}

std::vector<int32_t> WhyWaiting::unfinished_dependencies(const SimState& s, int32_t slot) const {
  std::vector<int32_t> out;
  const JobColumns& jobs = fixed_.jobs;
  const int32_t j = s.job[slot];
  for (int32_t i = jobs.first_after[j]; i < jobs.first_after[j + 1]; ++i) {
    const int32_t before = jobs.after_job[i], bit = jobs.parent[before];
    const bool played = before >= s.head->first_job && before < s.head->end_job;
    if (played && (s.ended_bits[bit >> 6] >> (bit & 63) & 1) == 0) out.push_back(before);
  }
  return out;
}

std::string WhyWaiting::gpu_counts_text(const SimState& s, int32_t slot, WaitReason reason) const {
  const std::string gpus = "needs " + to_string(s.gpus[slot]) + " GPUs; ";
  const std::string free = to_string(s.head->free_gpus) + " free";
  switch (reason) {
    case WaitReason::kSaving:
      return "until " + format_seconds(s.until_us[slot]) + " s";
    case WaitReason::kTenantLimit: {
      const int32_t t = s.tenant[slot];
      return gpus + "tenant holds " + to_string(s.tenant_gpus[t]) + " of at most " +
             to_string(fixed_.spec.tenant_limit[t]);
    }
    case WaitReason::kGpusDown:
      return gpus + free + "; " + to_string(s.head->down_gpus) + " down";
    case WaitReason::kGpuType:
      return gpus + free + "; " + to_string(free_gpus_on_open_nodes(s, slot)) +
             " of them on eligible nodes";
    case WaitReason::kFragmented: {
      const int32_t* most = std::max_element(s.free_count, s.free_count + fixed_.spec.num_nodes);
      return gpus + free + "; at most " + to_string(*most) + " on one node";
    }
    default:
      return gpus + free;
  }
}

}  // namespace yard
