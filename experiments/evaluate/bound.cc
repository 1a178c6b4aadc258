#include "experiments/evaluate/bound.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "env/sim/state/exchange.h"

namespace yard {
namespace {

std::vector<int32_t> types_of(const Scenario& scenario, int32_t j) {
  const SimModel& f = scenario.fixed;
  const int32_t shape = f.jobs.shape == nullptr ? kNone : f.jobs.shape[j];
  const uint64_t allowed = shape == kNone ? ~uint64_t{0} : f.jobs.shapes.types[shape];
  std::set<int32_t> out;
  for (int32_t m = 0; m < f.spec.num_nodes; ++m) {
    const int32_t type = f.spec.node_type[m];
    if (f.spec.node_gpus[m] > 0 && (allowed >> type & 1) != 0) out.insert(type);
  }
  return {out.begin(), out.end()};
}

// Returns the (tier, nodes) which `gpus` GPUs may span: one node, or several in a rack, pod or all.
std::vector<std::pair<Tier, int32_t>> spans(const SpecColumns& spec, int32_t gpus) {
  std::vector<std::pair<Tier, int32_t>> out;
  int32_t island = spec.max_node_gpus;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_gpus[m] > 0) island = std::min(island, spec.node_island_gpus[m]);
  }
  if (gpus <= island) out.emplace_back(Tier::kIsland, 1);
  // Two GPUs may be in different islands.
  if (gpus <= spec.max_node_gpus && (gpus > island || (gpus > 1 && island < spec.max_node_gpus))) {
    out.emplace_back(Tier::kNode, 1);
  }
  const int32_t least = (gpus + spec.max_node_gpus - 1) / spec.max_node_gpus;
  for (int32_t n = std::max(2, least); n <= std::min(gpus, spec.num_nodes); ++n) {
    out.emplace_back(Tier::kRack, n);
    if (spec.num_racks > 1) out.emplace_back(Tier::kPod, n);
    if (spec.num_pods > 1) out.emplace_back(Tier::kCore, n);
  }
  return out;
}

class SpeedDependence {
 public:
  explicit SpeedDependence(const Scenario& scenario) : scenario_(scenario), f_(scenario.fixed) {
    const SpecColumns& spec = f_.spec;
    for (int32_t m = 0; m < spec.num_nodes; ++m) limited_ = limited_ || spec.node_up_bytes[m] > 0;
  }

  std::string why(int32_t j) {
    const int32_t job_class = f_.jobs.speed_class == nullptr ? 0 : f_.jobs.speed_class[j];
    const bool modelled = f_.speed.num_classes > 0 && f_.speed.class_kind[job_class] >= 0;
    const std::vector<int32_t> types = types_of(scenario_, j);
    const int32_t gpus = std::min(f_.jobs.gpus[j], f_.speed.max_gpus);
    if (!modelled || gpus < 1) return f_.jobs.gpus[j] > 0 && types_differ(j, types) ? kTypes : "";
    const auto [it, fresh] = known_.try_emplace({job_class, gpus, types});
    if (fresh) it->second = why_of_class(job_class, gpus, types);
    return it->second;
  }

 private:
  static constexpr const char* kTypes = "GPU types of different speeds";
  static constexpr const char* kPlaces = "speeds that depend on placement";
  static constexpr const char* kLinks = "contention between jobs on links";

  bool types_differ(int32_t j, const std::vector<int32_t>& types) const {
    std::map<int32_t, double> speed;
    for (int32_t m = 0; m < f_.spec.num_nodes; ++m) {
      if (f_.spec.node_gpus[m] > 0) speed[f_.spec.node_type[m]] = f_.speed_on(j, m);
    }
    return std::ranges::any_of(types, [&](int32_t t) { return speed[t] != speed[types.front()]; });
  }

  std::string why_of_class(int32_t job_class, int32_t gpus, const std::vector<int32_t>& types) {
    const auto at = [&](int32_t type, const std::pair<Tier, int32_t>& span) {
      return speed_of(f_.speed, job_class, type, gpus, span.first, span.second);
    };
    const auto all = spans(f_.spec, gpus);
    if (all.empty() || types.empty()) return "";
    for (const int32_t type : types) {
      for (const auto& span : all) {
        if (at(type, span) != at(type, all.front())) return kPlaces;
      }
      if (at(type, all.front()) != at(types.front(), all.front())) return kTypes;
    }
    for (const auto& span : all) {
      const int64_t bytes =
          link_bytes_per_s(f_.speed, job_class, types.front(), gpus, span.first, span.second);
      if (limited_ && bytes > 0) return kLinks;
    }
    return "";
  }

  const Scenario& scenario_;
  const SimModel& f_;
  bool limited_ = false;  // whether an uplink has a capacity
  std::map<std::tuple<int32_t, int32_t, std::vector<int32_t>>, std::string> known_;
};

bool asks_for_cpus(const ShapeColumns& shapes) {
  for (int32_t r = 0; shapes.num_shapes > 0 && r < shapes.first_group[shapes.num_shapes]; ++r) {
    if (shapes.cpu_milli[r] > 0) return true;
  }
  return false;
}

}  // namespace

std::string why_oracle_is_no_bound(const Scenario& scenario, const std::string& rules) {
  if (!RuleSetRegistry::info(rules).policies.empty()) return "";
  const SimModel& f = scenario.fixed;
  if (std::ranges::any_of(scenario.trace.jobs, is_elastic)) {
    return "elastic jobs, whose speed depends on the number of GPUs";
  }
  for (int32_t j = 0; f.allows.preempt && j < scenario.workload.size(); ++j) {
    if (f.jobs.curves.may_end_early(j))
      return "jobs that a policy may end before their work is done";
  }
  if (f.spec.overloads && asks_for_cpus(f.jobs.shapes)) return "nodes with overcommitted CPUs";
  const bool modelled = f.speed.num_kinds > 0;
  if (modelled && f.jobs.shapes.max_loose_tasks > 0) {
    return "slowdown between jobs that share a GPU";
  }
  if (modelled && (f.spec.neighbour_weight > 0 || f.spec.shared_exchange)) {
    return "slowdown between co-located jobs";
  }
  if (any_job_may_choose_all_reduce(f))
    return "all-reduce algorithms and link priorities chosen by policies";
  SpeedDependence tables(scenario);
  for (int32_t j = 0; j < scenario.workload.size(); ++j) {
    std::string why = tables.why(j);
    if (!why.empty()) return why;
  }
  if (f.faults) return "faults, which run times do not include";
  if (f.jobs.first_after != nullptr) return "dependencies between jobs";
  return "";
}

}  // namespace yard
