#include "experiments/scenario/tenants.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "env/base/text/text.h"
#include "experiments/stats/number_text.h"

namespace yard {
namespace {

constexpr size_t kMaxNames = 5;

std::string shown(const std::set<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (out.size() == kMaxNames) {
      return join(out) + " and " + std::to_string(names.size() - kMaxNames) + " more";
    }
    out.push_back("'" + name + "'");
  }
  return join(out);
}

}  // namespace

void draw_tenants_if_needed(Trace& trace, const ClusterSpec& cluster, const Rng& rng) {
  const auto named = [](const Job& job) { return !job.tenant.empty(); };
  const auto open_to_all = [&](const Node& node) {
    return node.tenant == kNoTenant || cluster.tenants[static_cast<size_t>(node.tenant)].may_lend;
  };
  if (std::ranges::any_of(trace.jobs, named) || std::ranges::any_of(cluster.nodes, open_to_all))
    return;
  std::vector<int64_t> gpus(cluster.tenants.size(), 0);
  for (const Node& node : cluster.nodes) gpus[static_cast<size_t>(node.tenant)] += node.gpus;
  const int64_t most = *std::ranges::max_element(gpus);
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    const int64_t needed =
        std::min<int64_t>(job.gpus, most);  // jobs larger than any tenant fail later
    int64_t open = 0;
    for (const int64_t own : gpus) open += own >= needed ? own : 0;
    Rng own_draw = rng.split(j);
    auto at = static_cast<int64_t>(own_draw.uniform() * static_cast<double>(open));
    for (size_t t = 0; t < gpus.size(); ++t) {
      if (gpus[t] < needed || gpus[t] == 0) continue;
      job.tenant = cluster.tenants[t].name;
      if (at < gpus[t]) break;
      at -= gpus[t];
    }
  }
}

std::string unknown_tenants_note(const Trace& trace, const ClusterSpec& cluster) {
  std::set<std::string> known, unknown;
  for (const Tenant& tenant : cluster.tenants) known.insert(tenant.name);
  if (known.empty()) return "";
  int64_t jobs = 0;
  for (const Job& job : trace.jobs) {
    if (job.tenant.empty() || known.contains(job.tenant)) continue;
    ++jobs;
    unknown.insert(job.tenant);
  }
  if (jobs == 0) return "";
  return pluralised_count_text(jobs, "job") + (jobs == 1 ? " has" : " have") +
         (unknown.size() == 1 ? " a tenant" : " tenants") +
         " that the cluster does not define: " + shown(unknown) +
         ". No tenant quota or limit applies to " + (jobs == 1 ? "it" : "them") +
         ". The cluster defines " + shown(known);
}

}  // namespace yard
