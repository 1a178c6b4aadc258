#include "env/trace/core/batches.h"

#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "env/base/core/check.h"

namespace yard {

const std::string& owner_of(const Job& job, Owner kind) {
  static const std::string kNone;
  return kind == Owner::kUser ? job.user : kind == Owner::kTenant ? job.tenant : kNone;
}

Owner owner_kind(const std::vector<Job>& jobs) {
  for (const Owner kind : {Owner::kUser, Owner::kTenant}) {
    std::set<std::string_view> names;
    for (const Job& job : jobs) {
      const std::string& name = owner_of(job, kind);
      if (!name.empty()) names.insert(name);
      if (names.size() > 1) return kind;
    }
  }
  return Owner::kNone;
}

SubmissionBatches find_submission_batches(const std::vector<Job>& jobs) {
  SubmissionBatches out;
  out.kind = owner_kind(jobs);
  out.of_job.reserve(jobs.size());
  std::unordered_map<std::string_view, int32_t> owners;
  std::map<std::pair<int32_t, int32_t>, int32_t> latest;  // batch by owner and size
  int64_t before_us = 0;
  for (size_t j = 0; j < jobs.size(); ++j) {
    const Job& job = jobs[j];
    YARD_CHECK(j == 0 || job.submit_us >= before_us, "jobs must be sorted by submission");
    before_us = job.submit_us;
    const int32_t owner =
        owners.try_emplace(owner_of(job, out.kind), static_cast<int32_t>(owners.size()))
            .first->second;
    const auto [at, first] = latest.try_emplace({owner, job.gpus}, -1);
    const int32_t before = at->second;
    if (first || job.submit_us - jobs[out.all[before].jobs.back()].submit_us >= kBatchGapUs) {
      at->second = static_cast<int32_t>(out.all.size());
      out.all.push_back({owner, job.gpus, before, {}});
    }
    out.all[at->second].jobs.push_back(static_cast<int32_t>(j));
    out.of_job.push_back(at->second);
  }
  out.owners = static_cast<int32_t>(owners.size());
  return out;
}

}  // namespace yard
