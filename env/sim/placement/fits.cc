#include "env/sim/placement/fits.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/placement/unfit_reason.h"
#include "env/sim/rules/world.h"
#include "env/sim/state/tables.h"
#include "env/trace/core/stages.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

// GPUs of a cluster which a job's tenant may use.
struct Allowance {
  int64_t gpus = 0;  // of its own nodes and of lent nodes
  int64_t limit = INT64_MAX;
};

Allowance allowance_of(const std::string& tenant, const ClusterSpec& spec) {
  Allowance out;
  for (const Node& node : spec.nodes) {
    if (may_use_node(node, tenant, spec)) out.gpus += node.gpus;
  }
  for (const Tenant& one : spec.tenants) {
    if (one.name != tenant) continue;
    if (one.limit_gpus > 0) out.limit = one.limit_gpus;
    if (!one.may_borrow) out.limit = std::min<int64_t>(out.limit, one.quota_gpus);
  }
  return out;
}

// Returns what makes a request unusable; an empty reason if nothing.
UnusableReason unfit(const Job& job, const ClusterSpec& spec, int total_gpus,
                     const Allowance& allowance) {
  int64_t tasks = 0, cpu_milli = 0;
  for (const RoleGroup& g : job.groups) {
    tasks += g.count;
    cpu_milli += int64_t{g.count} * g.task.cpu_milli;
  }
  if (job.gpus == 0 && cpu_milli == 0) return {"requests nothing", "GPUs or CPUs", "neither"};
  if (tasks > kMaxShapeTasks) {
    return {"too many tasks", "at most " + std::to_string(kMaxShapeTasks) + " tasks",
            std::to_string(tasks)};
  }
  if (job.gpus > total_gpus) {
    return {"larger than the cluster",
            "at most " + std::to_string(total_gpus) + " GPUs, the whole cluster",
            std::to_string(job.gpus)};
  }
  if (job.gpus > 0 && allowance.gpus == 0) {
    std::vector<std::string> names;
    for (const Tenant& tenant : spec.tenants) names.push_back(tenant.name);
    return {"no node that its tenant may use",
            "a tenant with nodes of its own, since no node is lent (tenants: " + join(names) + ")",
            job.tenant.empty() ? "none" : "'" + job.tenant + "'"};
  }
  // without_placement() checks jobs with a shape.
  const int64_t most = std::min(allowance.gpus, allowance.limit);
  if (job.groups.empty() && job.gpus > most) {
    return {"more than its tenant may hold",
            "at most " + std::to_string(most) + " GPUs, the limit of " +
                (job.tenant.empty() ? "jobs without a tenant" : "'" + job.tenant + "'"),
            std::to_string(job.gpus)};
  }
  return unfit_types_reason(job, spec, usable_type_bits(job, spec));
}

// Marks jobs which depend, directly or indirectly, on themselves or on a job outside the trace.
std::vector<char> never_startable(const std::vector<Job>& jobs) {
  if (std::ranges::all_of(jobs, [](const Job& job) { return job.after.empty(); })) {
    return std::vector<char>(jobs.size(), 0);
  }
  std::vector<char> never(jobs.size(), 1);
  std::unordered_map<std::string_view, size_t> index;
  std::vector<std::vector<size_t>> next(jobs.size());
  std::vector<size_t> before(jobs.size(), 0), ready;
  for (size_t j = 0; j < jobs.size(); ++j) index.emplace(jobs[j].id, j);
  for (size_t j = 0; j < jobs.size(); ++j) {
    for (const std::string& id : jobs[j].after) {
      ++before[j];  // never decremented for a job outside the trace
      const auto found = index.find(id);
      if (found != index.end()) next[found->second].push_back(j);
    }
    if (before[j] == 0) ready.push_back(j);
  }
  while (!ready.empty()) {
    const size_t j = ready.back();
    ready.pop_back();
    never[j] = 0;
    for (const size_t n : next[j]) {
      if (--before[n] == 0) ready.push_back(n);
    }
  }
  return never;
}

// Marks jobs which have no placement on the empty cluster.
std::vector<char> without_placement(const std::vector<Job>& jobs, const ClusterSpec& spec) {
  if (jobs.empty()) return {};
  const SpecTable nodes(spec);
  const JobTable table(jobs, spec);
  const SimModel fixed{nodes.columns(), table.columns(), {}};
  std::vector<char> known(static_cast<size_t>(fixed.jobs.num_classes), 0), bad = known;  // (K)
  World world(fixed, 1);
  const std::vector<int64_t> no_work(jobs.size(), 0);
  std::vector<Piece> pieces(fixed.max_pieces());
  for (size_t j = 0; j < jobs.size(); ++j) {
    const auto k = static_cast<size_t>(fixed.jobs.request_class[j]);
    if (std::exchange(known[k], 1) != 0) continue;
    const auto job = static_cast<int32_t>(j);
    world.reset(job, job + 1);
    world.advance({no_work.data()});
    const View view(world.fixed(), world.state(), InformationLevel::kBlind);
    const int32_t slot = view.queue_head();
    bad[k] = place(view, PlacementRule::kBestFit, slot, pieces.data()) == 0 &&
             place(view, PlacementRule::kFirstFit, slot, pieces.data()) == 0;
  }
  std::vector<char> out;
  for (size_t j = 0; j < jobs.size(); ++j) {
    out.push_back(bad[static_cast<size_t>(fixed.jobs.request_class[j])]);
  }
  return out;
}

// Throws InputError if all jobs, run one after the other, could overflow the clock.
void check_length(const Trace& trace) {
  constexpr double kMaxS = 4e12;
  double sum_us = trace.jobs.empty() ? 0 : static_cast<double>(trace.jobs.back().submit_us);
  for (const Job& job : trace.jobs) sum_us += static_cast<double>(job.run_us);
  if (sum_us <= 1e6 * kMaxS) return;
  throw InputError(
      trace.source,
      "at most " + shortest_text(kMaxS) + " s for the last submission plus all run times",
      shortest_text(1e-6 * sum_us));
}

}  // namespace

void check_jobs_fit_cluster(Trace& trace, const ClusterSpec& spec, bool skip_unusable) {
  check_length(trace);
  const int total_gpus = spec.total_gpus();
  const std::vector<char> never = never_startable(trace.jobs);
  // Jobs with stages are placed stage by stage.
  const StageJobs stages = any_job_has_stages(trace) ? split_stages(trace.jobs) : StageJobs{};
  const std::vector<Job>& asked = stages.jobs.empty() ? trace.jobs : stages.jobs;
  const auto job_of = [&](size_t e) {
    return stages.jobs.empty() ? e : static_cast<size_t>(stages.job_of[e]);
  };
  std::vector<UnusableReason> why(trace.jobs.size());
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    if (!never[j]) continue;
    why[j] = {"depends on a job that never ends", "dependencies that can end",
              "'" + join(trace.jobs[j].after) + "'"};
  }
  std::vector<size_t> shaped;  // jobs of `requests`, which only a placement can check
  std::vector<Job> requests;
  std::unordered_map<std::string_view, Allowance> tenants;
  for (size_t e = 0; e < asked.size(); ++e) {
    UnusableReason& what = why[job_of(e)];
    const auto [tenant, first] = tenants.try_emplace(asked[e].tenant);
    if (first) tenant->second = allowance_of(asked[e].tenant, spec);
    if (what.reason.empty()) what = unfit(asked[e], spec, total_gpus, tenant->second);
    // With tenants, plain jobs are bound by limits and exclusive nodes, too.
    const bool plain = asked[e].groups.empty() && asked[e].gpu_types.empty() &&
                       spec.tenants.empty() && !spec.one_type;
    if (!what.reason.empty() || plain) continue;
    shaped.push_back(job_of(e));
    requests.push_back(asked[e]);
  }
  const std::vector<char> bad = without_placement(requests, spec);
  for (size_t i = 0; i < shaped.size(); ++i) {
    if (!bad[i]) continue;
    why[shaped[i]] = no_placement_reason(requests[i], spec, usable_type_bits(requests[i], spec));
  }
  const Job* const first = trace.jobs.data();
  const auto found = [&](const Job& job) -> std::optional<UnusableReason> {
    UnusableReason& one = why[static_cast<size_t>(&job - first)];
    if (one.reason.empty()) return std::nullopt;
    one.got += " for job '" + job.id + "'";
    return one;
  };
  check_usable(trace, found, skip_unusable);
}

void check_jobs_request_gpus(Trace& trace, bool skip_unusable) {
  const auto found = [](const Job& job) -> std::optional<UnusableReason> {
    if (job.gpus > 0) return std::nullopt;
    return UnusableReason{"no GPUs",
                          "at least 1 GPU (published rule sets do not support CPU-only jobs)",
                          "0 for job '" + job.id + "'"};
  };
  check_usable(trace, found, skip_unusable);
}

}  // namespace yard
