#include "tests/support/step_checker.h"

#include <algorithm>

#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"

namespace yard::testing {

void StepChecker::observe(const SimState& s) {
  if (!broken_.empty()) return;
  broken_ = broken_invariant(fixed_, s);
  if (broken_.empty() && begun_) broken_ = decreased(s);
  if (broken_.empty()) broken_ = overcommitted(s);
  if (!broken_.empty()) broken_ += ", at " + std::to_string(s.head->now_us) + " us";
  begun_ = true;
  last_ = *s.head;
}

std::string StepChecker::decreased(const SimState& s) {
  const StateHeader &a = last_, &b = *s.head;
  if (b.now_us < a.now_us) return "the clock fell";
  const bool counted = b.arrived >= a.arrived && b.finished >= a.finished &&
                       b.preemptions >= a.preemptions && b.starts >= a.starts &&
                       b.failures >= a.failures;
  if (!counted) return "a counter fell";
  if (b.moved_bytes < a.moved_bytes || b.lost_time_us < a.lost_time_us) return "an integral fell";
  const WideUs dt_us = b.now_us - a.now_us;
  const int32_t held = fixed_.spec.total_gpus - a.free_gpus - a.down_gpus;
  if (b.held_time_us - a.held_time_us != dt_us * held) return "the integral of GPUs held";
  if (b.down_time_us - a.down_time_us != dt_us * a.down_gpus) return "the integral of GPUs down";
  if (b.job_time_us - a.job_time_us != dt_us * a.live) return "the integral of jobs";
  return "";
}

std::vector<StepChecker::Holding> StepChecker::holdings_of(const SimState& s, int32_t slot) const {
  std::vector<Holding> holdings;
  int64_t from_us = s.head->now_us;
  if (s.phase[slot] == Phase::kStarting) {  // it waits for GPUs being saved first, then restores
    from_us = s.until_us[slot] -
              (s.work_done_us[slot] > 0 ? fixed_.restore_us(s.job[slot], s.gpus[slot]) : 0);
  }
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    Holding& holding = holdings.emplace_back();
    holding = {s.part_node[p], s.part_mask[p], kWholeGpu, 0, 0, 0, from_us, kNever};
    if (s.shape[slot] == kNone) continue;
    const TaskNeed need = need_of(fixed_.jobs.shapes, s.shape[slot], s.part_role_group[p]);
    if (need.gpu_milli > 0) {
      holding.gpu_milli = gpu_milli_on_node(fixed_, holding.node, need);
      holding.gpu_mem_mib = need.gpu_mem_mib;
    }
    holding.cpu_milli = s.part_tasks[p] * need.cpu_milli;
    holding.mem_mib = s.part_tasks[p] * need.mem_mib;
  }
  return holdings;
}

std::string StepChecker::overcommitted(const SimState& s) {
  const int64_t now_us = s.head->now_us;
  std::vector<Holding> holdings;
  std::vector<int64_t> moments = {now_us};
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    const Phase phase = s.phase[slot];
    if (phase == Phase::kFree) continue;
    if (phase == Phase::kDone) {
      held_jobs_.erase(s.job[slot]);
      continue;
    }
    HeldJob& held_job = held_jobs_[s.job[slot]];
    if (s.preempted[slot] > held_job.preempted && s.saved_us[slot] > held_job.saved_us) {
      for (Holding holding : held_job.holdings) {  // it saves on its old GPUs
        holding.until_us = s.saved_us[slot];
        leaving_.push_back(holding);
      }
    }
    held_job = {s.preempted[slot], s.saved_us[slot], holdings_of(s, slot)};
    holdings.insert(holdings.end(), held_job.holdings.begin(), held_job.holdings.end());
    if (phase == Phase::kStarting && !held_job.holdings.empty()) {
      moments.push_back(held_job.holdings[0].from_us);
    }
  }
  std::erase_if(leaving_, [&](const Holding& holding) { return holding.until_us <= now_us; });
  if (leaving_.empty()) return "";  // broken_invariant() covers the rest
  holdings.insert(holdings.end(), leaving_.begin(), leaving_.end());
  for (const int64_t at_us : moments) {
    if (std::string what = overcommitted_at(at_us, holdings); !what.empty()) return what;
  }
  return "";
}

std::string StepChecker::overcommitted_at(int64_t at_us,
                                          const std::vector<Holding>& holdings) const {
  const SpecColumns& spec = fixed_.spec;
  const auto gpus = static_cast<size_t>(spec.total_gpus);
  const auto nodes = static_cast<size_t>(spec.num_nodes);
  std::vector<int64_t> milli(gpus, 0), gpu_mem(gpus, 0), cpu(nodes, 0), mem(nodes, 0);
  for (const Holding& holding : holdings) {
    if (holding.from_us > at_us || holding.until_us <= at_us) continue;
    for (uint64_t rest = holding.mask; rest != 0; rest &= rest - 1) {
      const auto g = static_cast<size_t>(spec.node_gpu0[holding.node] + lowest_set_bit_index(rest));
      milli[g] += holding.gpu_milli;
      gpu_mem[g] += holding.gpu_mem_mib;
    }
    cpu[static_cast<size_t>(holding.node)] += holding.cpu_milli;
    mem[static_cast<size_t>(holding.node)] += holding.mem_mib;
  }
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    const auto node = static_cast<size_t>(m);
    const std::string where = " of node " + std::to_string(m) + " given twice";
    if (cpu[node] > spec.node_cpu_milli[m]) return "CPUs" + where;
    if (mem[node] > spec.node_mem_mib[m]) return "memory" + where;
    for (int32_t i = 0; i < spec.node_gpus[m]; ++i) {
      const auto g = static_cast<size_t>(spec.node_gpu0[m] + i);
      if (milli[g] > kWholeGpu) return "GPU " + std::to_string(i) + where;
      if (gpu_mem[g] > spec.type_mem_mib[spec.node_type[m]]) {
        return "memory of GPU " + std::to_string(i) + where;
      }
    }
  }
  return "";
}

}  // namespace yard::testing
