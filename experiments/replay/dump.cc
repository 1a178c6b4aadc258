#include "experiments/replay/dump.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rules/rules.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

double seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

// By Phase.
constexpr const char* kPhaseNames[] = {"done",     "waiting", "starting", "running",
                                       "stopping", "done",    "blocked"};

class Dumper {
 public:
  Dumper(const Scenario& scenario, const SimModel& fixed, const SimState& s,
         PlacementRule placement, int64_t at_us)
      : scenario_(scenario), f_(fixed), s_(s), why_(fixed, placement), at_us_(at_us) {}

  Json dump() {
    const StateHeader& h = *s_.head;
    return {{"at_s", seconds(at_us_)},
            {"since_s", seconds(h.now_us)},  // time of the last event
            {"gpus", f_.spec.total_gpus},
            {"free_gpus", h.free_gpus},
            {"down_gpus", h.down_gpus},
            {"waiting", h.waiting},
            {"blocked", h.blocked},
            {"holding", h.held},
            {"arrived", h.arrived - h.first_job},
            {"submitted_unseen", unadmitted()},
            {"finished", h.finished},
            {"nodes", nodes()},
            {"jobs", jobs()}};
  }

 private:
  const std::string& id(int32_t job) const {
    return scenario_.trace.jobs[static_cast<size_t>(scenario_.original_job_of(job))].id;
  }

  // Submitted jobs which the rule set has not admitted yet: some admit at rounds or whole seconds.
  Json unadmitted() const {
    Json out = Json::array();
    for (int32_t j = s_.head->arrived; j < s_.head->end_job; ++j) {
      if (scenario_.simulated_trace().jobs[static_cast<size_t>(j)].submit_us > at_us_) break;
      out.push_back(id(j));
    }
    return out;
  }

  Json nodes() const {
    std::vector<std::vector<int32_t>> holders(static_cast<size_t>(f_.spec.total_gpus));
    for (const int32_t slot : live()) {
      for (int32_t p = s_.first_part[slot]; p != kNone; p = s_.part_next[p]) {
        for (uint64_t rest = s_.part_mask[p]; rest != 0; rest &= rest - 1) {
          const int32_t gpu = f_.spec.node_gpu0[s_.part_node[p]] + lowest_set_bit_index(rest);
          holders[static_cast<size_t>(gpu)].push_back(slot);
        }
      }
    }
    Json out = Json::array();
    for (int32_t m = 0; m < f_.spec.num_nodes; ++m) {
      const Node& node = scenario_.cluster.nodes[static_cast<size_t>(m)];
      Json one = {{"node", node.name},
                  {"type", scenario_.cluster.types[static_cast<size_t>(node.type)].name},
                  {"free_gpus", s_.free_count[m]}};
      if (f_.jobs.shapes.num_shapes > 0) {
        if (node.cpus > 0) one["free_cpus"] = static_cast<double>(s_.free_cpu_milli[m]) / 1000;
        if (node.mem_gib > 0) one["free_mem_gib"] = static_cast<double>(s_.free_mem_mib[m]) / 1024;
      }
      one["gpus"] = Json::array();
      for (int32_t g = 0; g < f_.spec.node_gpus[m]; ++g) {
        one["gpus"].push_back(gpu(m, g, holders[static_cast<size_t>(f_.spec.node_gpu0[m] + g)]));
      }
      out.push_back(one);
    }
    return out;
  }

  std::vector<int32_t> live() const {
    std::vector<int32_t> slots;
    for (int32_t slot = 0; slot < s_.head->high_water; ++slot) {
      if (s_.phase[slot] != Phase::kFree && s_.phase[slot] != Phase::kDone) slots.push_back(slot);
    }
    std::ranges::sort(slots, {}, [&](int32_t slot) { return s_.job[slot]; });
    return slots;
  }

  Json gpu(int32_t m, int32_t g, const std::vector<int32_t>& holders) const {
    const int32_t at = f_.spec.node_gpu0[m] + g;
    const bool free = (s_.free_mask[m] >> g & 1) != 0;
    const bool down = f_.faults && (s_.down_mask[m] >> g & 1) != 0;
    const bool shared = f_.jobs.shapes.max_loose_tasks > 0 && (s_.shared_mask[m] >> g & 1) != 0;
    Json one = {{"gpu", g}, {"state", free ? "free" : shared ? "shared" : "held"}};
    if (down) one["state"] = holders.empty() ? "down" : "draining";
    if (down && s_.down_until_us[at] != kNever) one["until_s"] = seconds(s_.down_until_us[at]);
    const bool left = free || (down && holders.empty());
    if (left && s_.gpu_ready_us[at] > at_us_) {  // a job that left it still saves
      one["state"] = "vacated";
      one["until_s"] = seconds(s_.gpu_ready_us[at]);
    }
    if (shared) one["free_milli"] = s_.share_milli[at];
    if (!holders.empty()) {
      one["jobs"] = Json::array();
      for (const int32_t slot : holders) one["jobs"].push_back(id(s_.job[slot]));
    }
    return one;
  }

  Json places(int32_t slot) const {
    Json out = Json::array();
    const auto& groups = scenario_.simulated_trace().jobs[static_cast<size_t>(s_.job[slot])].groups;
    for (int32_t p = s_.first_part[slot]; p != kNone; p = s_.part_next[p]) {
      const Node& node = scenario_.cluster.nodes[static_cast<size_t>(s_.part_node[p])];
      Json one = {{"node", node.name}, {"gpus", Json::array()}};
      for (uint64_t rest = s_.part_mask[p]; rest != 0; rest &= rest - 1) {
        one["gpus"].push_back(lowest_set_bit_index(rest));
      }
      const auto group = static_cast<size_t>(s_.part_role_group[p]);
      if (s_.shape[slot] != kNone && group < groups.size()) {
        one["role"] = groups[group].role;
        one["tasks"] = s_.part_tasks[p];
      }
      out.push_back(one);
    }
    return out;
  }

  Json jobs() {
    Json out = Json::array();
    for (const int32_t slot : live()) {
      const Phase phase = s_.phase[slot];
      const bool runs = phase == Phase::kRunning;
      const int64_t ran_us = runs ? at_us_ - s_.since_us[slot] : 0;
      Json one = {{"job_id", id(s_.job[slot])},
                  {"phase", kPhaseNames[static_cast<size_t>(phase)]},
                  {"gpus", s_.gpus[slot]},
                  {"submit_s", seconds(s_.submit_us[slot])},
                  {"since_s", seconds(s_.since_us[slot])}};
      if (phase == Phase::kStarting || phase == Phase::kStopping) {
        one["until_s"] = seconds(s_.until_us[slot]);
      }
      one["ran_s"] = seconds(s_.attained_us[slot] + ran_us);
      one["done_s"] = (s_.work_done_us[slot] + static_cast<double>(ran_us) * s_.rate[slot]) / 1e6;
      if (runs) one["rate"] = s_.rate[slot];
      one["starts"] = s_.started[slot];
      one["preemptions"] = s_.preempted[slot];
      if (s_.first_part[slot] != kNone) {
        one["places"] = places(slot);
      } else {
        const WaitReason reason = why_.reason(s_, slot);
        one["reason"] = kWaitReasonNames[static_cast<size_t>(reason)];
        one["detail"] = why_.detail(s_, slot, reason, [&](int32_t job) { return id(job); });
      }
      out.push_back(one);
    }
    return out;
  }

  const Scenario& scenario_;
  const SimModel& f_;
  const SimState& s_;
  WhyWaiting why_;
  int64_t at_us_;
};

}  // namespace

nlohmann::ordered_json dump_state(const Scenario& scenario, const SimModel& fixed,
                                  const SimState& state, PlacementRule placement, int64_t at_us) {
  return Dumper(scenario, fixed, state, placement, at_us).dump();
}

void StateDumper::begin() {
  last_decision_.assign(at_us_.size(), kNone);
  decisions_ = second_decisions_ = 0;
}

void StateDumper::count_decision(const SimState& state) {
  const int64_t now_us = state.head->now_us;
  first_us_ = std::min(first_us_, now_us);
  for (size_t i = 0; i < at_us_.size(); ++i) {
    if (now_us <= at_us_[i]) last_decision_[i] = decisions_;
  }
  ++decisions_;
}

void StateDumper::end(int64_t end_us) { end_us_ = std::max(end_us_, end_us); }

void StateDumper::check(const char* option) const {
  for (const int64_t at_us : at_us_) {
    if (at_us >= first_us_ && at_us <= end_us_) continue;
    throw InputError(option,
                     "a time within the replay, " + format_seconds(first_us_) + " to " +
                         format_seconds(end_us_) + " s",
                     format_seconds(at_us));
  }
}

void StateDumper::dump_if_due(const Scenario& scenario, const SimModel& fixed,
                              const SimState& state, PlacementRule placement,
                              nlohmann::ordered_json& out) {
  for (size_t i = 0; i < at_us_.size(); ++i) {
    if (last_decision_[i] != second_decisions_) continue;
    out.push_back(dump_state(scenario, fixed, state, placement, at_us_[i]));
  }
  ++second_decisions_;
}

}  // namespace yard
