#include "experiments/scenario/model_draw.h"

#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "env/base/core/error.h"

namespace yard {
namespace {

using ModelChoice = std::pair<std::string, int32_t>;  // model, batch

struct ModelChoices {
  std::vector<ModelChoice> of_one, of_several;  // by name: independent of the order of files

  const std::vector<ModelChoice>& of(int32_t gpus) const { return gpus > 1 ? of_several : of_one; }
};

ModelChoices choices_in(const Profiles& profiles) {
  std::set<ModelChoice> one, several;
  for (const ModelProfile& profile : profiles.models) {
    for (const MeasuredRun& run : profile.runs) {
      if (run.iteration_s <= 0) continue;
      const auto batch = static_cast<int32_t>(std::lround(profile.batch_of(run)));
      (run.gpus() > 1 ? several : one).emplace(profile.model, batch);
      if (profile.by_links) several.emplace(profile.model, batch);
    }
  }
  return {{one.begin(), one.end()}, {several.begin(), several.end()}};
}

bool draws(const Job& job) { return job.gpus > 0 && (job.model.empty() || job.model_drawn); }

void set_model(Job& job, const ModelChoice& lot) {
  job.model = lot.first;
  job.batch_size = lot.second;
  job.model_drawn = true;
  job.gpu_types.clear();
}

}  // namespace

void draw_models(Trace& trace, const Profiles& profiles, const Rng& rng) {
  const ModelChoices choices = choices_in(profiles);
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    Job& job = trace.jobs[j];
    if (!draws(job)) continue;
    const std::vector<ModelChoice>& from = choices.of(job.gpus);
    if (from.empty()) {
      throw InputError("models.draw",
                       std::string("--profiles with models measured on ") +
                           (job.gpus > 1 ? "several GPUs" : "one GPU"),
                       "none");
    }
    Rng lot = rng.split(j);
    set_model(job, from[lot.below(static_cast<uint32_t>(from.size()))]);
  }
}

Trace all_model_jobs(const Trace& trace, const Profiles& profiles) {
  const ModelChoices choices = choices_in(profiles);
  std::set<int32_t> sizes;
  for (const Job& job : trace.jobs) {
    if (draws(job)) sizes.insert(job.gpus);
  }
  Trace out;
  for (const int32_t gpus : sizes) {
    for (const ModelChoice& lot : choices.of(gpus)) {
      Job job;
      job.gpus = gpus;
      set_model(job, lot);
      out.jobs.push_back(job);
    }
  }
  return out;
}

}  // namespace yard
