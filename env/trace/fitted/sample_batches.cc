// Draws batches: owner, size, kind and number of jobs.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/core/normal.h"
#include "env/base/os/interrupt.h"
#include "env/trace/fitted/fit_steps.h"
#include "env/trace/fitted/workload_sampling.h"

namespace yard {
namespace {

class Chooser {
 public:
  explicit Chooser(const OwnerHabit& habit) : habit_(habit) {}

  template <class Any>
  int32_t operator()(const std::pair<int32_t, int32_t>& owner_and_size, Rng& rng, Any any) {
    std::vector<int32_t>& before = before_[owner_and_size];
    const double drawn = rng.uniform();
    int32_t what = 0;
    if (!before.empty() && drawn < habit_.last) {
      what = before.back();
    } else if (!before.empty() && drawn < habit_.last + habit_.own) {
      what = before[rng.below(static_cast<uint32_t>(before.size()))];
    } else {
      what = any(rng);
    }
    before.push_back(what);
    return what;
  }

 private:
  OwnerHabit habit_;
  std::map<std::pair<int32_t, int32_t>, std::vector<int32_t>> before_;
};

std::vector<double> shares_of_sizes(const WorkloadModel& model, int32_t most_gpus) {
  std::vector<double> shares;
  for (const SizeShare& size : model.sizes) {
    shares.push_back(most_gpus > 0 && size.gpus > most_gpus ? 0 : size.share);
  }
  return shares;
}

// Draws a plan. `levels`: level of each batch's number of jobs; the last is used for the rest.
PlannedBatches plan_with(const WorkloadModel& model, int64_t jobs, int32_t most_gpus,
                         const std::vector<double>& levels, const Rng& seed) {
  const WeightedSampler sizes(shares_of_sizes(model, most_gpus));
  if (!sizes.any()) {
    throw InputError("synthetic:like",
                     "a model with jobs of at most " + std::to_string(most_gpus) + " GPUs",
                     "only larger jobs");
  }
  struct Kinds {
    std::vector<int32_t> all;
    WeightedSampler pick;
  };
  std::map<int32_t, Kinds> kinds;  // by size
  for (const SizeShare& size : model.sizes) {
    std::vector<int32_t> of;
    std::vector<double> shares;
    for (size_t k = 0; k < model.kinds.size(); ++k) {
      if (model.kinds[k].gpus != size.gpus) continue;
      of.push_back(static_cast<int32_t>(k));
      shares.push_back(model.kinds[k].share);
    }
    kinds.try_emplace(size.gpus, Kinds{std::move(of), WeightedSampler(shares)});
  }
  OwnerSampler owners(model, seed);
  Chooser size_of(model.size_habit), kind_of(model.kind_habit);
  std::map<std::pair<int32_t, int32_t>, int32_t> latest;
  PlannedBatches plan;
  for (int64_t next = 0; next < jobs;) {
    throw_if_interrupted();
    const size_t b = plan.batches.size();
    Rng rng = stream_of(seed, SampleStream::kBatch).split(b);
    PlannedBatch batch;
    batch.owner = owners.next();
    batch.gpus = size_of({batch.owner, 0}, rng, [&](Rng& r) { return model.sizes[sizes(r)].gpus; });
    const std::pair stream(batch.owner, batch.gpus);
    const Kinds& of_size = kinds.at(batch.gpus);
    if (of_size.pick.any()) {
      batch.kind = kind_of(stream, rng, [&](Rng& r) { return of_size.all[of_size.pick(r)]; });
    }
    const auto [at, first] = latest.try_emplace(stream, -1);
    batch.before = std::exchange(at->second, static_cast<int32_t>(b));
    const double own = stream_of(seed, batch.owner, OwnerStream::kNumber).normal();
    const double rest = 1 - model.batch_jobs_owner - model.batch_jobs_level;
    const double score =
        std::sqrt(model.batch_jobs_owner) * own +
        std::sqrt(model.batch_jobs_level) * levels[std::min(b, levels.size() - 1)] +
        std::sqrt(std::max(0.0, rest)) * rng.normal();
    const double more = class_of(model, batch.gpus).batch_jobs.at(clamped_normal_cdf(score));
    batch.first = next;
    batch.end = std::min<int64_t>(jobs, next + 1 + std::llround(std::min(more, 1e9)));
    next = batch.end;
    plan.batches.push_back(batch);
  }
  plan.owners = owners.number();
  return plan;
}

// Returns the levels at which `batches` batches begin, minus their mean. Busy times hold more
// batches, and numbers of jobs must keep the fitted distribution.
std::vector<double> levels_of(const ArrivalTimeMap& times, size_t batches) {
  std::vector<double> levels;
  double mean = 0;
  for (size_t b = 0; b < batches; ++b) {
    levels.push_back(times.level((static_cast<double>(b) + 0.5) / static_cast<double>(batches)));
    mean += levels.back() / static_cast<double>(batches);
  }
  for (double& level : levels) level -= mean;
  return levels;
}

}  // namespace

OwnerSampler::OwnerSampler(const WorkloadModel& model, const Rng& seed)
    : model_(model),
      seed_(seed),
      rng_(stream_of(seed, SampleStream::kOwnerOrder)),
      memory_(model.memory) {
  double recent = 0;
  for (const double share : model.memory) recent += share;
  memory_.add(std::max(1e-9, 1 - recent));
}

int32_t OwnerSampler::next() {
  const auto n = static_cast<double>(of_.size());
  const double fresh = (model_.newcomers + model_.growth * number_) / (model_.newcomers + n);
  int32_t owner = 0;
  if (of_.empty() || (model_.owner != "nobody" && rng_.uniform() < fresh)) {
    owner = number_++;
    Rng own = stream_of(seed_, owner, OwnerStream::kActivity);
    active_.add(std::exp(model_.activity_sd * own.normal()));
  } else if (const size_t memory = memory_(rng_); memory < WorkloadModel::kMemory.size()) {
    // A batch k batches ago has weight exp(-k / length), k = 1 to n.
    const double length = WorkloadModel::kMemory[memory];
    const double back = -length * std::log1p(rng_.uniform() * std::expm1(-n / length));
    owner = of_[of_.size() - 1 - std::min(static_cast<size_t>(back), of_.size() - 1)];
  } else {
    owner = static_cast<int32_t>(active_(rng_));
  }
  of_.push_back(owner);
  return owner;
}

PlannedBatches plan_batches(const WorkloadModel& model, int64_t jobs, int32_t most_gpus,
                            const ArrivalTimeMap& times, const Rng& seed) {
  PlannedBatches plan = plan_with(model, jobs, most_gpus, {0}, seed);
  if (model.batch_jobs_level <= 0) return plan;
  // Starts of batches depend on their number, and that on the levels: so iterate.
  constexpr int kRounds = 2;
  for (int round = 0; round < kRounds; ++round) {
    plan = plan_with(model, jobs, most_gpus, levels_of(times, plan.batches.size()), seed);
  }
  return plan;
}

}  // namespace yard
