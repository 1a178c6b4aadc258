#include "experiments/scenario/smallest_cluster.h"

#include <algorithm>
#include <map>

#include "env/base/core/error.h"

namespace yard {
namespace {

// Changes of the number of GPUs held, by time.
using Changes = std::map<int64_t, int64_t>;

int64_t max_held(const Changes& changes) {
  int64_t held = 0, most = 0;
  for (const auto& [at_us, gpus] : changes) {
    held += gpus;
    most = std::max(most, held);
  }
  return most;
}

// Calls add(job, from_us, to_us) for each job of the log with a logged time on its GPUs.
template <class Add>
void each_held(const Trace& trace, Add add) {
  for (const Job& job : trace.jobs) {
    if (job.copy || job.logged_start_us < 0) continue;
    // Without a logged end, the job ran from its start.
    const int64_t end_us =
        job.logged_end_us >= 0 ? job.logged_end_us : job.logged_start_us + job.run_us;
    if (end_us <= job.logged_start_us) continue;
    // A requeued or suspended job held nothing in between: only its last run counts.
    const int64_t least_us = job.run_us > 0 ? end_us - job.run_us : job.logged_start_us;
    add(job, std::max(job.logged_start_us, least_us), end_us);
  }
}

void hold(Changes& changes, const Job& job, int64_t from_us, int64_t to_us) {
  changes[from_us] += job.gpus;
  changes[to_us] -= job.gpus;
}

// Returns how many nodes of so many GPUs one job needs.
int64_t nodes_for(const Job& job, int64_t node_gpus) {
  if (job.groups.empty()) return (job.gpus + node_gpus - 1) / node_gpus;
  int64_t nodes = 0;
  for (const RoleGroup& g : job.groups) {
    if (g.task.gpus == 0) continue;
    const int64_t on_one = std::max<int64_t>(1, node_gpus / g.task.gpus);
    nodes += (g.count + on_one - 1) / on_one;
  }
  return nodes;
}

}  // namespace

int64_t max_gpus_held(const Trace& trace) {
  Changes changes;
  each_held(trace, [&](const Job& job, int64_t from_us, int64_t to_us) {
    hold(changes, job, from_us, to_us);
  });
  return max_held(changes);
}

void require_gpu_jobs(const Trace& trace) {
  if (std::ranges::any_of(trace.jobs, [](const Job& job) { return job.gpus > 0; })) return;
  throw InputError(
      trace.source,
      "jobs that hold GPUs (gres/gpu in sacct's ReqTRES or AllocTRES; if the log does not count "
      "them, set a job's GPUs on each node with --set trace.gpus_per_node=N)",
      "no row that counts GPUs");
}

std::string smallest_cluster(const Trace& trace) {
  require_gpu_jobs(trace);
  Changes of_all;
  std::map<std::string, Changes> of_type;
  int64_t node_gpus = 1;
  each_held(trace, [&](const Job& job, int64_t from_us, int64_t to_us) {
    hold(of_all, job, from_us, to_us);
    if (!job.gpu_types.empty()) hold(of_type[job.gpu_types.front()], job, from_us, to_us);
  });
  // Jobs that held nothing in the log are simulated, too.
  for (const Job& job : trace.jobs) {
    for (const RoleGroup& g : job.groups) node_gpus = std::max<int64_t>(node_gpus, g.task.gpus);
    if (!job.gpu_types.empty()) of_type.try_emplace(job.gpu_types.front());
  }
  const int64_t all = max_held(of_all);
  if (all == 0) {
    const auto started = [](const Job& job) { return job.gpus > 0 && job.logged_start_us >= 0; };
    if (std::ranges::any_of(trace.jobs, started)) {
      throw InputError(trace.source, "--cluster, or jobs that ran for more than 0 s on GPUs",
                       "only jobs that ended as soon as they had started");
    }
    throw InputError(trace.source,
                     "--cluster, or jobs whose start is logged, with an end or run time", "none");
  }
  std::string untyped;  // on which jobs run that ask for no type
  const auto part = [&](int64_t gpus, const std::string& type) {
    int64_t nodes = (gpus + node_gpus - 1) / node_gpus;
    for (const Job& job : trace.jobs) {
      const bool is_here = job.gpu_types.empty() ? type == untyped : job.gpu_types.front() == type;
      if (is_here) nodes = std::max(nodes, nodes_for(job, node_gpus));
    }
    return std::to_string(nodes) + "x" + std::to_string(node_gpus);
  };
  if (of_type.empty()) return part(all, "");
  std::map<std::string, int64_t> most;
  int64_t typed = 0;
  for (const auto& [type, changes] : of_type) typed += most[type] = max_held(changes);
  const auto usual = std::ranges::max_element(most, {}, [](const auto& one) { return one.second; });
  usual->second += std::max<int64_t>(0, all - typed);
  untyped = usual->first;
  std::string text;
  for (const auto& [type, gpus] : most) {
    text += (text.empty() ? "" : "+") + part(gpus, type) + ":" + type;
  }
  return text;
}

}  // namespace yard
