#include "env/predict/survival.h"

#include <algorithm>

namespace yard {

size_t Survival::bytes(const View& view) {
  return BumpAllocator::bytes<HazardCounts>(num_rows(view)) +
         BumpAllocator::bytes<PriorStrength>(kLayers * kAges) +
         BumpAllocator::bytes<float>(kJobSizes * TimeBins::kBins) +
         2 * BumpAllocator::bytes<EndPositionsInBins>(kJobSizes) +
         BumpAllocator::bytes<LatestStartedJobs>(kJobSizes + view.num_users()) +
         HazardEvents::bytes(view) + BumpAllocator::bytes<int32_t>(1);
}

Survival::Survival(const View& view, BumpAllocator& bump, Attained attained)
    : attained_(attained),
      num_users_(view.num_users()),
      rows_(bump.allocate<HazardCounts>(num_rows(view))),
      prior_strengths_(bump.allocate<PriorStrength>(kLayers * kAges)),
      by_size_(bump.allocate<float>(kJobSizes * TimeBins::kBins)),
      end_counts_(bump.allocate<EndPositionsInBins>(kJobSizes)),
      ends_within_bin_(bump.allocate<EndPositionsInBins>(kJobSizes)),
      siblings_(bump.allocate<LatestStartedJobs>(kJobSizes + view.num_users())),
      events_(view, bump, attained),
      ready_(bump.allocate<int32_t>(1)) {}

void Survival::on_events(const View& view) {
  if (*ready_ == 0) {
    for (int32_t i = 0; i < kLayers * kAges; ++i) prior_strengths_[i] = PriorStrength();
  }
  events_.scan(view);
  update_prior_strengths(view);
  learn(view);
  update_siblings(view);
  events_.update_tracked_jobs(view);
  if (*ready_ == 0 || !events_.events().empty()) update_size_hazards();
  *ready_ = 1;
}

void Survival::hazards(const View& view, int32_t slot, float* out) const {
  const int32_t from = TimeBins::bin_of_us(attained_us(view, slot, attained_)),
                from_age = from / kAge;
  const float* size = size_hazards(view, slot);
  for (int32_t b = from_age * kAge; b < TimeBins::kBins; ++b) out[b] = size[b];
  for_each_applicable_row(view, slot, [&](Layer layer, const HazardCounts& row) {
    if (layer > kSizes) blend(layer, row.exposed, row.ended, from_age, out);
  });
  float exposed[TimeBins::kBins + 1], ended[TimeBins::kBins];
  std::fill(exposed + from_age * kAge, std::end(exposed), 0);
  std::fill(ended + from_age * kAge, std::end(ended), 0);
  int32_t last = from;  // exposures do not change after this bin
  for_each_sibling(view, slot, [&](float weight, int32_t bin, bool ends) {
    if (bin < from) return;  // it ended earlier: not exposed to these bins
    exposed[from] += weight;
    if (ends) ended[bin] += weight;
    exposed[ends ? bin + 1 : bin] -= weight;
    last = std::max(last, ends ? bin + 1 : bin);
  });
  for (int32_t b = from + 1; b <= last; ++b) exposed[b] += exposed[b - 1];
  std::fill(exposed + last, std::end(exposed), exposed[last]);
  blend(kSiblings, exposed, ended, from_age, out);
}

int64_t Survival::num_rows(const View& view) {
  return 1 + 2 * kJobSizes + TimeBins::kBins + int64_t{view.num_users()} * kUserSizes +
         view.num_job_names();
}

template <class Does>
void Survival::for_each_applicable_row(const View& view, int32_t slot, const Does& does) const {
  const int32_t size = gpu_size_bucket(view.gpus(slot)), user = view.user(slot),
                name = view.name(slot);
  HazardCounts* row = rows_;
  does(kAll, *row++);
  does(kSizes, row[size]);
  does(kRecent, row[kJobSizes + size]);
  row += 2 * kJobSizes;
  if (const int64_t limit_us = visible_limit_us(view, slot); limit_us > 0) {
    does(kLimits, row[TimeBins::bin_of_us(limit_us)]);
  }
  row += TimeBins::kBins;
  if (user >= 0)
    does(kUsers, row[int64_t{user} * kUserSizes + coarse_gpu_size_bucket(view.gpus(slot))]);
  row += int64_t{num_users_} * kUserSizes;
  if (name >= 0) does(kNames, row[name]);
}

LatestStartedJobs& Survival::siblings(const View& view, int32_t slot) const {
  const int32_t user = view.user(slot);
  return siblings_[user >= 0 ? kJobSizes + user : gpu_size_bucket(view.gpus(slot))];
}

template <class Does>
void Survival::for_each_sibling(const View& view, int32_t slot, const Does& does) const {
  const int64_t submit_us = view.submit_us(slot);
  const int32_t gpus = view.gpus(slot);
  siblings(view, slot)
      .for_each_submitted_near(submit_us, kFarUs, [&](const LatestStartedJobs::Sibling& other) {
        if (other.gpus != gpus || other.slot == slot) return;
        const float apart = static_cast<float>(submit_us - other.submit_us) * (1.0F / kApartUs);
        does(1 / (1 + apart * apart), other.slot >= 0 ? events_.bin(other.slot) : other.bin,
             other.ended != 0);
      });
}

void Survival::blend(Layer layer, const float* exposed, const float* ended, int32_t from_age,
                     float* out) const {
  for (int32_t age = from_age; age < kAges; ++age) {
    const float jobs = prior_strengths_[layer * kAges + age].jobs;
    const int32_t first = age * kAge;
    float blended[kAge];  // overlaps nothing: the compiler vectorises the loop without checks
    for (int32_t i = 0; i < kAge; ++i) {
      const int32_t b = first + i;
      blended[i] = posterior_hazard(exposed[b], ended[b], jobs, out[b]);
    }
    std::copy_n(blended, kAge, out + first);
  }
}

void Survival::update_prior_strengths(const View& view) {
  if (events_.events().empty()) return;
  PriorStrengthUpdate changes[kLayers * kAges];
  for (const HazardEvent& p : events_.events()) {
    if (p.ended_by_limit()) continue;
    float chance = kFirstChance;
    const auto score_layer = [&](Layer layer, float exposed, float ended) {
      changes[layer * kAges + p.bin / kAge].add(exposed, ended, chance, p.ended);
      chance = posterior_hazard(exposed, ended, prior_strength(layer, p.bin), chance);
    };
    for_each_applicable_row(view, p.slot, [&](Layer layer, const HazardCounts& row) {
      score_layer(layer, row.exposed[p.bin], row.ended[p.bin]);
    });
    float exposed = 0, ended = 0;
    for_each_sibling(view, p.slot, [&](float weight, int32_t bin, bool ends) {
      if (bin > p.bin || (bin == p.bin && ends)) exposed += weight;
      if (bin == p.bin && ends) ended += weight;
    });
    score_layer(kSiblings, exposed, ended);
  }
  for (int32_t i = 0; i < kLayers * kAges; ++i) changes[i].learn(prior_strengths_[i]);
}

void Survival::learn(const View& view) {
  for (const HazardEvent& p : events_.events()) {
    for_each_applicable_row(
        view, p.slot, [&](Layer layer, HazardCounts& row) { row.decay(p.bin, kKeep[layer]); });
    if (p.ended) end_counts_[gpu_size_bucket(view.gpus(p.slot))].decay(p.bin, kKeepPlaces);
  }
  for (const HazardEvent& p : events_.events()) {
    for_each_applicable_row(view, p.slot, [&](Layer, HazardCounts& row) {
      row.exposed[p.bin] += p.ended ? 1 : p.part;
      row.ended[p.bin] += p.ended ? 1 : 0;
    });
    if (p.ended) end_counts_[gpu_size_bucket(view.gpus(p.slot))].add(p.bin, p.part);
  }
}

void Survival::update_siblings(const View& view) {
  for (const HazardEvents::JobProgress& m : events_.progress()) {
    LatestStartedJobs& sibling_jobs = siblings(view, m.slot);
    if (m.begins) sibling_jobs.enter(view.submit_us(m.slot), view.gpus(m.slot), m.slot);
    if (view.finished(m.slot)) sibling_jobs.end(m.slot, m.bins, m.ended);
    changes_.push_back({view.submit_us(m.slot), view.user(m.slot), view.gpus(m.slot)});
  }
}

void Survival::update_size_hazards() {
  for (int32_t b = 0; b < TimeBins::kBins; ++b) {
    const float any = posterior_hazard(rows_[0].exposed[b], rows_[0].ended[b],
                                       prior_strength(kAll, b), kFirstChance);
    for (int32_t k = 0; k < kJobSizes; ++k) {
      const HazardCounts& row = rows_[1 + k];
      by_size_[k * TimeBins::kBins + b] =
          posterior_hazard(row.exposed[b], row.ended[b], prior_strength(kSizes, b), any);
      ends_within_bin_[k].set_smoothed_shares(end_counts_[k], b, kEven);
    }
  }
}

}  // namespace yard
