#include "experiments/scenario/tenant_note.h"

#include <cstddef>
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
  return counted_text(jobs, "job") + (jobs == 1 ? " has" : " have") +
         (unknown.size() == 1 ? " a tenant" : " tenants") +
         " that the cluster does not define: " + shown(unknown) +
         ". No tenant quota or limit applies to " + (jobs == 1 ? "it" : "them") +
         ". The cluster defines " + shown(known);
}

}  // namespace yard
