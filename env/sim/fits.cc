#include "env/sim/fits.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "env/base/error.h"
#include "env/base/text.h"
#include "env/sim/choose.h"
#include "env/sim/tables.h"
#include "env/sim/world.h"

namespace yard {
namespace {

struct Unfit {
  std::string reason;    // the same for all jobs of a kind
  std::string expected;  // in a message
  std::string got;
};

// What is wrong with a request by itself, or on this cluster; an empty reason where nothing is.
Unfit unfit(const Job& job, const ClusterSpec& spec, int total_gpus) {
  int64_t tasks = 0, cpu_milli = 0;
  for (const RoleGroup& g : job.groups) {
    tasks += g.count;
    cpu_milli += int64_t{g.count} * g.task.cpu_milli;
  }
  if (job.gpus == 0 && cpu_milli == 0) return {"asks for nothing", "GPUs or CPUs", "neither"};
  if (tasks > kMaxShapeTasks) {
    return {"too many tasks", "at most " + std::to_string(kMaxShapeTasks) + " tasks",
            std::to_string(tasks)};
  }
  if (job.gpus > total_gpus) {
    return {"larger than the cluster",
            "at most " + std::to_string(total_gpus) + " GPUs, the whole cluster",
            std::to_string(job.gpus)};
  }
  const uint64_t types = type_bits(job, spec);
  const bool any = job.gpus == 0 || std::any_of(spec.nodes.begin(), spec.nodes.end(),
                                                [&](const Node& n) { return types >> n.type & 1; });
  if (!any) {
    return {"GPU types that the cluster lacks", "a GPU type of the cluster", join(job.gpu_types)};
  }
  return {};
}

// Jobs that come, by way of others, after themselves, or after one that is not in the trace.
std::vector<char> never_ready(const std::vector<Job>& jobs) {
  std::vector<char> never(jobs.size(), 0);
  std::unordered_map<std::string_view, size_t> index;
  std::vector<std::vector<size_t>> next(jobs.size());
  std::vector<size_t> before(jobs.size(), 0), ready;
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (!jobs[j].after.empty()) break;
    if (j + 1 == jobs.size()) return never;
  }
  for (size_t j = 0; j < jobs.size(); ++j) index.emplace(jobs[j].id, j);
  for (size_t j = 0; j < jobs.size(); ++j) {
    for (const std::string& id : jobs[j].after) {
      ++before[j];  // for one that is not there it never falls
      const auto found = index.find(id);
      if (found != index.end()) next[found->second].push_back(j);
    }
    if (before[j] == 0) ready.push_back(j);
  }
  std::fill(never.begin(), never.end(), 1);
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

// Which of the jobs find no place on the empty cluster.
std::vector<char> placeless(const std::vector<Job>& jobs, const ClusterSpec& spec) {
  if (jobs.empty()) return {};
  const SpecTable nodes(spec);
  const JobTable table(jobs, spec);
  const Fixed fixed{nodes.columns(), table.columns(), {}};
  std::vector<char> known(static_cast<size_t>(fixed.jobs.num_classes), 0), bad = known;  // (K)
  World world(fixed, 1);
  const std::vector<int64_t> no_work(jobs.size(), 0);
  std::vector<Piece> pieces(static_cast<size_t>(fixed.spec.num_nodes) *
                            static_cast<size_t>(fixed.jobs.shapes.max_groups));
  for (size_t j = 0; j < jobs.size(); ++j) {
    const auto k = static_cast<size_t>(fixed.jobs.size_class[j]);
    if (std::exchange(known[k], 1) != 0) continue;
    const auto job = static_cast<int32_t>(j);
    world.reset(job, job + 1);
    world.advance({no_work.data()});
    const View view(world.fixed(), world.state(), Level::kBlind);
    const int32_t slot = view.queue_head();
    bad[k] = place(view, Placement::kBestFit, slot, pieces.data()) == 0 &&
             place(view, Placement::kFirstFit, slot, pieces.data()) == 0;
  }
  std::vector<char> out;
  for (size_t j = 0; j < jobs.size(); ++j) {
    out.push_back(bad[static_cast<size_t>(fixed.jobs.size_class[j])]);
  }
  return out;
}

}  // namespace

void check_fits(Trace& trace, const ClusterSpec& spec, bool skip_unusable) {
  const int total_gpus = spec.total_gpus();
  std::vector<Unfit> why(trace.jobs.size());
  const std::vector<char> never = never_ready(trace.jobs);
  std::vector<size_t> shaped;  // sound requests that only a placement can judge
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const Job& job = trace.jobs[j];
    why[j] = unfit(job, spec, total_gpus);
    if (never[j]) {
      why[j] = {"waits for a job that never ends", "jobs before it that can end",
                "'" + join(job.after) + "'"};
    }
    const bool plain = job.groups.empty() && job.gpu_types.empty();
    if (why[j].reason.empty() && !plain) shaped.push_back(j);
  }
  std::vector<Job> requests;
  for (const size_t j : shaped) requests.push_back(trace.jobs[j]);
  const std::vector<char> bad = placeless(requests, spec);
  for (size_t i = 0; i < shaped.size(); ++i) {
    if (!bad[i]) continue;
    why[shaped[i]] = {"no place on the empty cluster", "tasks that the cluster's nodes can hold",
                      "one that finds no node"};
  }

  const Job* first = nullptr;  // in the file, which need not be the first submitted
  const Unfit* first_why = nullptr;
  int64_t count = 0;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    if (why[j].reason.empty()) continue;
    ++count;
    const Job& job = trace.jobs[j];
    if (first == nullptr || job.line < first->line) first = &job, first_why = &why[j];
  }
  if (count == 0) return;
  const auto where = [&](const Job& job) {
    return job.line > 0 ? trace.source + ":" + std::to_string(job.line) : trace.source;
  };
  if (!skip_unusable) {
    const std::string how_many =
        count == 1 ? "the only such job" : "first of " + std::to_string(count) + " such jobs";
    throw InputError(where(*first), first_why->expected,
                     first_why->got + " for job '" + first->id + "' (" + how_many +
                         "; --skip-unusable leaves them out)");
  }
  std::vector<size_t> order(trace.jobs.size());  // of the file
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return trace.jobs[a].line < trace.jobs[b].line; });
  for (const size_t j : order) {
    if (why[j].reason.empty()) continue;
    const auto same = [&](const Skipped& skipped) { return skipped.reason == why[j].reason; };
    const auto it = std::find_if(trace.skipped.begin(), trace.skipped.end(), same);
    if (it == trace.skipped.end()) {
      trace.skipped.push_back({why[j].reason, 1, where(trace.jobs[j])});
    } else {
      ++it->count;
    }
  }
  std::vector<Job> kept;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    if (why[j].reason.empty()) kept.push_back(std::move(trace.jobs[j]));
  }
  trace.jobs = std::move(kept);
  if (trace.jobs.empty()) {
    throw InputError(trace.source,
                     "a job that fits the cluster of " + std::to_string(total_gpus) + " GPUs",
                     "none");
  }
}

}  // namespace yard
