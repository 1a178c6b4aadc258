#include "env/trace/core/thin.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "env/base/core/check.h"
#include "env/base/core/hash.h"
#include "env/trace/core/batches.h"

namespace yard {

void thin(std::vector<Job>& jobs, double keep_probability, ThinBy by, const Rng& rng) {
  YARD_CHECK(keep_probability > 0 && keep_probability <= 1,
             "the share to keep must be above 0 and at most 1");
  if (keep_probability == 1 || jobs.empty()) return;
  const SubmissionBatches batches =
      by == ThinBy::kBatch ? find_submission_batches(jobs) : SubmissionBatches{};
  // Returns the job whose draw decides about job j.
  const auto decider = [&](size_t j) -> const Job& {
    if (by == ThinBy::kJob) return jobs[j];
    return jobs[static_cast<size_t>(batches.all[static_cast<size_t>(batches.of_job[j])].jobs[0])];
  };
  std::vector<double> drawn;
  for (size_t j = 0; j < jobs.size(); ++j) {
    drawn.push_back(rng.split(hash_text(decider(j).id)).uniform());
  }
  keep_probability =
      std::max(keep_probability, std::nextafter(*std::ranges::min_element(drawn), 1.0));
  std::set<std::string> gone;
  std::vector<Job> kept;
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (drawn[j] < keep_probability) {
      kept.push_back(std::move(jobs[j]));
    } else {
      gone.insert(jobs[j].id);
    }
  }
  for (Job& job : kept) {
    std::erase_if(job.after, [&](const std::string& id) { return gone.contains(id); });
  }
  jobs = std::move(kept);
}

}  // namespace yard
