#include "env/sim/rulesets/speed_estimator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/text/nearest_name.h"
#include "env/sim/rules/rates.h"

namespace yard {
namespace {

constexpr std::string_view kOtherExact = "told";  // another name of the level
constexpr std::array<const char*, 3> kNames = {"exact", "noisy", "learned"};
constexpr uint64_t kStream = 0x73706565647321;
// Streams of errors: a model's own speeds, pairs, and speeds in a cluster's file.
enum Errors : uint64_t { kOwn, kPairs, kModels };
constexpr int64_t kMinUs = 1000;   // shorter runs are rounding errors
constexpr double kSame = 1e-6;     // of a rate: counts as unchanged
constexpr double kPairStep = 0.5;  // share of the error in slowdowns that one step corrects

// Copies a column, which may be null, and points to the copy.
void replace(const double*& column, std::vector<double>& copy, size_t count) {
  if (column != nullptr) copy.assign(column, column + count);
  column = copy.data();
}

// The spread over nodes that a span belongs to.
size_t spread_of_span(int32_t span) {
  return span < 2 ? 0 : static_cast<size_t>((span - 2) % (kSpreads - 1) + 1);
}

void add(double value, auto& mean) {
  mean.sum += value;
  ++mean.count;
}

}  // namespace

const char* speed_information_name(SpeedInformation level) {
  return kNames[static_cast<size_t>(level)];
}

SpeedInformation parse_speed_information(const std::string& name, const std::string& where) {
  const auto it = std::ranges::find(kNames, name == kOtherExact ? "exact" : name);
  if (it == kNames.end()) throw unknown_name(where, {kNames.begin(), kNames.end()}, name);
  return static_cast<SpeedInformation>(it - kNames.begin());
}

SpeedEstimator::SpeedEstimator(const SimModel& fixed, SpeedInformation level, double noise,
                               uint64_t seed)
    : fixed_(fixed), level_(level), exact_(fixed.speed) {
  if (level == SpeedInformation::kExact) return;
  copy_tables();
  map_variants_to_base_variants();
  if (level == SpeedInformation::kNoisy) {
    add_noise(noise, seed);
  } else {
    reset_to_prior();
  }
}

void SpeedEstimator::copy_tables() {
  const auto kinds = static_cast<size_t>(exact_.num_kinds);
  const auto types = static_cast<size_t>(exact_.num_types);
  const size_t cells = kinds * types * static_cast<size_t>(exact_.max_gpus + 1) * kSpans;
  SpeedColumns& table = shown_.table;
  table = exact_;
  replace(table.steps_per_s, steps_, cells);
  replace(table.exchange_share, exchange_share_, cells);
  replace(table.pair_rate, pair_, types * kinds * kinds);
  replace(table.class_reference, reference_, static_cast<size_t>(exact_.num_classes));
  replace(table.gradient_bytes, gradients_, kinds);
  const JobColumns& jobs = fixed_.jobs;
  const SpecColumns& spec = fixed_.spec;
  type_speed_.assign(static_cast<size_t>(spec.num_types), 1);
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    type_speed_[static_cast<size_t>(spec.node_type[m])] = spec.node_speed[m];
  }
  int32_t rows = 0;
  for (int32_t j = 0; jobs.model_row != nullptr && j < jobs.num_jobs; ++j) {
    rows = std::max(rows, jobs.model_row[j] + 1);
  }
  shown_.model_speed = jobs.model_speed;
  replace(shown_.model_speed, model_speed_, static_cast<size_t>(rows * jobs.num_types));
}

void SpeedEstimator::map_variants_to_base_variants() {
  for (int32_t k = 0; k < exact_.num_kinds; ++k) base_.push_back(k);
  const auto unite = [&](int32_t job_class, const int32_t* variants, int32_t count) {
    const int32_t own = exact_.class_kind[job_class];
    for (int32_t i = 0; own >= 0 && i < count; ++i) {
      const int32_t one = variants[i];
      if (one >= 0) base_[static_cast<size_t>(one)] = base_[static_cast<size_t>(own)];
    }
  };
  for (int32_t c = 0; c < exact_.num_classes; ++c) {
    // What is learned about one all-reduce holds for the others. Errors differ between them;
    // otherwise a choice among them would rest on exact ratios.
    const bool all_reduces =
        level_ == SpeedInformation::kLearned && exact_.kind_by_all_reduce != nullptr;
    if (all_reduces) unite(c, exact_.kind_by_all_reduce + c * kAllReduces, kAllReduces);
    const int32_t servers = exact_.max_servers + 1;
    if (exact_.kind_with != nullptr) unite(c, exact_.kind_with + c * servers, servers);
  }
}

// All numbers of parameter servers of a model share its errors, as numbers of GPUs do. Each
// all-reduce has its own.
void SpeedEstimator::add_noise(double noise, uint64_t seed) {
  const Rng rng = Rng{seed}.split(kStream);
  const auto factor = [&](Errors what, uint64_t a, uint64_t b, uint64_t c) {
    Rng one = rng.split(what).split(a).split(b).split(c);
    return std::exp(noise * one.normal());
  };
  const auto id = [](int32_t i) { return static_cast<uint64_t>(i); };
  for (int32_t k = 0; k < exact_.num_kinds; ++k) {
    const uint64_t base = id(base_[static_cast<size_t>(k)]);
    for (int32_t t = 0; t < exact_.num_types; ++t) {
      std::array<double, kSpreads> off;
      for (size_t b = 0; b < off.size(); ++b) off[b] = factor(kOwn, base, id(t), b);
      for (int32_t n = 0; n <= exact_.max_gpus; ++n) {
        for (int32_t s = 0; s < kSpans; ++s) steps_[cell(k, t, n, s)] *= off[spread_of_span(s)];
      }
      for (int32_t other = 0; other < exact_.num_kinds; ++other) {
        double& rate = pair_[pair_index(t, k, other)];
        const uint64_t its = id(base_[static_cast<size_t>(other)]);
        if (rate > 0) rate = std::min(1.0, rate * factor(kPairs, base, id(t), its));
      }
    }
  }
  const auto types = static_cast<size_t>(std::max(1, fixed_.jobs.num_types));
  for (size_t i = 0; i < model_speed_.size(); ++i) {
    model_speed_[i] *= factor(kModels, i / types, i % types, 0);
  }
}

// What a class's speeds are measured by: a number of GPUs of one type.
void SpeedEstimator::find_reference_placements() {
  const auto classes = static_cast<size_t>(exact_.num_classes);
  reference_gpus_.assign(classes, 1);
  reference_type_.assign(classes, kNone);
  reference_seen_.assign(classes, 0);
  reference_span_.assign(classes, 0);
  const JobColumns& jobs = fixed_.jobs;
  for (int32_t j = jobs.speed_class == nullptr ? 0 : jobs.num_jobs; j-- > 0;) {  // the first counts
    reference_gpus_[static_cast<size_t>(jobs.speed_class[j])] =
        std::clamp(jobs.gpus[j], 1, std::max(1, exact_.max_gpus));
  }
  const SpecColumns& spec = fixed_.spec;
  for (size_t c = 0; c < classes; ++c) {
    const int32_t kind = exact_.class_kind[c], gpus = reference_gpus_[c];
    const int32_t nodes = (gpus + spec.max_node_gpus - 1) / std::max(1, spec.max_node_gpus);
    for (int32_t m = spec.num_nodes; kind >= 0 && m-- > 0;) {
      const Tier tier = nodes > 1 ? Tier::kRack : tier_on_node(spec, m, gpus);
      const int32_t span = exchange_span_of(tier, nodes), type = spec.node_type[m];
      if (exact_.steps_per_s[cell(kind, type, gpus, span)] != exact_.class_reference[c]) continue;
      reference_type_[c] = type;
      reference_span_[c] = span;
    }
  }
}

void SpeedEstimator::reset_to_prior() {
  const auto kinds = static_cast<size_t>(exact_.num_kinds);
  of_cell_.resize(steps_.size());
  of_type_.resize(kinds * static_cast<size_t>(exact_.num_types));
  crowded_.resize(of_type_.size());
  of_spread_.resize(of_type_.size() * kSpreads);
  of_base_.resize(kinds);
  loss_.assign(pair_.size(), 0);
  of_model_.resize(model_speed_.size());
  stale_.assign(kinds, 0);
  runs_.clear();
  std::ranges::fill(exchange_share_, 0);
  std::ranges::fill(gradients_, 0);
  for (double& rate : pair_) rate = rate > 0 ? 1 : 0;
  const auto types = static_cast<size_t>(std::max(1, fixed_.jobs.num_types));
  for (size_t i = 0; i < model_speed_.size(); ++i) model_speed_[i] = type_speed_[i % types];
  find_reference_placements();
  for (int32_t k = 0; k < exact_.num_kinds; ++k) {
    if (base_[static_cast<size_t>(k)] == k) recompute_speeds_of_variants(k);
  }
  fill_reference_speeds();
}

double SpeedEstimator::learned_efficiency_of_spread_class(int32_t kind, int32_t type,
                                                          size_t spread) const {
  const size_t at = index_of_type(kind, type);
  const auto base = static_cast<size_t>(base_[static_cast<size_t>(kind)]);
  for (const Mean* seen :
       {&of_spread_[at * kSpreads + spread], &of_type_[at], &of_base_[base], &crowded_[at]}) {
    if (seen->count > 0) return std::exp(seen->value());
  }
  return 1;
}

double SpeedEstimator::learned_efficiency(int32_t kind, int32_t type, int32_t gpus,
                                          int32_t span) const {
  const Mean& seen = of_cell_[cell(kind, type, gpus, span)];
  return seen.count > 0 ? std::exp(seen.value())
                        : learned_efficiency_of_spread_class(kind, type, spread_of_span(span));
}

// Estimates for all variants of a model.
void SpeedEstimator::recompute_speeds_of_variants(int32_t base) {
  for (int32_t k = 0; k < exact_.num_kinds; ++k) {
    if (base_[static_cast<size_t>(k)] != base) continue;
    if (of_base_[static_cast<size_t>(base)].count > 0) {
      gradients_[static_cast<size_t>(k)] = exact_.gradient_bytes[k];
    }
    for (int32_t t = 0; t < exact_.num_types; ++t) {
      std::array<double, kSpreads> coarse;
      for (size_t b = 0; b < coarse.size(); ++b)
        coarse[b] = learned_efficiency_of_spread_class(k, t, b);
      for (int32_t n = 0; n <= exact_.max_gpus; ++n) {
        for (int32_t s = 0; s < kSpans; ++s) {
          const size_t at = cell(k, t, n, s);
          if (!(exact_.steps_per_s[at] > 0)) continue;
          const Mean& seen = of_cell_[at];
          const double own = seen.count > 0 ? std::exp(seen.value()) : coarse[spread_of_span(s)];
          steps_[at] = n * exact_.type_speed[t] * own;
        }
      }
    }
  }
}

void SpeedEstimator::fill_reference_speeds() {
  for (size_t c = 0; c < reference_.size(); ++c) {
    const int32_t kind = exact_.class_kind[c], gpus = reference_gpus_[c], type = reference_type_[c];
    if (kind < 0) continue;
    if (reference_seen_[c] != 0) {
      reference_[c] = exact_.class_reference[c];
    } else if (type != kNone) {
      reference_[c] =
          gpus * exact_.type_speed[type] * learned_efficiency(kind, type, gpus, reference_span_[c]);
    } else {
      const Mean& seen = of_base_[static_cast<size_t>(base_[static_cast<size_t>(kind)])];
      reference_[c] = gpus * (seen.count > 0 ? std::exp(seen.value()) : 1);
    }
  }
}

// --- what running jobs show

int32_t SpeedEstimator::slowest_type(const SimState& s, int32_t slot, const Run& at) const {
  int32_t out = kNone;
  double least = 0;
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    if (s.part_mask[p] == 0) continue;
    const int32_t type = fixed_.spec.node_type[s.part_node[p]];
    double speed = type_speed_[static_cast<size_t>(type)];
    if (at.kind >= 0) {
      speed = steps_[cell(at.kind, type, at.gpus, exchange_span_of(at.tier, at.nodes))];
    } else if (const int32_t row = fixed_.jobs.model_row[at.job]; row != kNone) {
      speed = model_speed_[static_cast<size_t>(row * fixed_.jobs.num_types + type)];
    }
    if (out == kNone || speed < least || (speed == least && type < out)) least = speed, out = type;
  }
  return out;
}

void SpeedEstimator::find_running_jobs_by_node(const SimState& s) {
  if (fixed_.spec.neighbour_weight <= 0 || exact_.num_kinds == 0) return;
  holders_.resize(static_cast<size_t>(fixed_.spec.num_nodes));
  for (std::vector<JobOnNode>& on : holders_) on.clear();
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t slot = s.holder_slots[i];
    const int32_t kind = exact_.class_kind[fixed_.jobs.speed_class[s.job[slot]]];
    if (s.phase[slot] != Phase::kRunning || kind < 0) continue;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      if (s.part_mask[p] == 0) continue;
      std::vector<JobOnNode>& on = holders_[static_cast<size_t>(s.part_node[p])];
      if (on.empty() || on.back().slot != slot) on.push_back({kind, slot, 0});
      on.back().gpus += count_bits(s.part_mask[p]);
    }
  }
}

void SpeedEstimator::find_colocated_jobs(const SimState& s, int32_t slot, Run& out) const {
  double most = 0;
  for (int32_t p = s.first_part[slot]; p != kNone && !holders_.empty(); p = s.part_next[p]) {
    if (s.part_mask[p] == 0) continue;
    const int32_t node = s.part_node[p];
    int32_t gpus = 0;
    for (const JobOnNode& other : holders_[static_cast<size_t>(node)]) {
      if (other.slot != slot) gpus += other.gpus;
    }
    const double share = static_cast<double>(gpus) / fixed_.spec.node_gpus[node];
    if (share <= most) continue;
    most = share;
    out.neighbours.clear();
    for (const JobOnNode& other : holders_[static_cast<size_t>(node)]) {
      if (other.slot == slot) continue;
      out.neighbours.emplace_back(other.kind,
                                  static_cast<double>(other.gpus) / fixed_.spec.node_gpus[node]);
    }
  }
  // The order of holder_slots depends on history, and a sum of doubles on its order.
  std::ranges::sort(out.neighbours);
}

// Describes a running job. It is known only if it holds whole GPUs and has a speed in the tables or
// in the cluster's file.
SpeedEstimator::Run SpeedEstimator::run_of(const SimState& s, int32_t slot) const {
  Run out;
  const JobColumns& jobs = fixed_.jobs;
  out.job = s.job[slot];
  const PlacementFootprint at = footprint_of(fixed_, s, slot);
  const int32_t job_class = jobs.speed_class == nullptr ? 0 : jobs.speed_class[out.job];
  const bool modelled = exact_.num_classes > 0 && exact_.class_kind[job_class] >= 0;
  if (at.gpus == 0) return out;
  if (modelled) {
    if (at.gpus > exact_.max_gpus) return out;
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      if (is_gpu_share(fixed_, s, slot, p)) return out;
    }
    out.kind = model_variant_of(exact_, job_class, at.servers, at.by);
  } else if (jobs.model_row == nullptr || jobs.model_row[out.job] == kNone) {
    return out;
  } else if (s.shape[slot] != kNone) {
    out.held_fraction_of_first_task_group =
        yard::held_fraction_of_first_task_group(jobs.shapes, s, slot);
  }
  out.known = true;
  out.generation = s.generation[slot];
  out.started = s.started[slot];
  out.attained_us = s.attained_us[slot] + s.head->now_us - s.since_us[slot];
  out.work_done_us =
      s.work_done_us[slot] + static_cast<double>(s.head->now_us - s.since_us[slot]) * s.rate[slot];
  out.gpus = at.gpus, out.nodes = at.nodes, out.tier = at.tier;
  out.type = slowest_type(s, slot, out);
  if (modelled) find_colocated_jobs(s, slot, out);
  return out;
}

void SpeedEstimator::record_placements(const SimState& s) {
  if (level_ != SpeedInformation::kLearned) return;
  if (exact_.num_kinds == 0 && model_speed_.empty()) return;
  if (runs_.size() < static_cast<size_t>(s.head->high_water)) {
    runs_.resize(static_cast<size_t>(s.head->high_water));
  }
  find_running_jobs_by_node(s);
  for (int32_t slot = 0; slot < s.head->high_water; ++slot) {
    Run& before = runs_[static_cast<size_t>(slot)];
    if (s.phase[slot] != Phase::kRunning) {
      before.known = false;
      continue;
    }
    Run now = run_of(s, slot);
    const bool same = before.known && now.known && before.generation == now.generation &&
                      before.started == now.started && before.kind == now.kind &&
                      before.type == now.type && before.gpus == now.gpus &&
                      before.nodes == now.nodes && before.tier == now.tier &&
                      before.neighbours == now.neighbours;
    if (same) now.learned_rate = before.learned_rate;
    before = std::move(now);
  }
}

void SpeedEstimator::learn_from_progress(const SimState& s) {
  if (level_ != SpeedInformation::kLearned) return;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const auto slot = static_cast<int32_t>(i);
    Run& before = runs_[i];
    // A job that was stopped by a failure lost work, which says nothing about its speed.
    const bool runs = s.phase[slot] == Phase::kRunning, done = s.phase[slot] == Phase::kDone;
    if (!before.known || before.generation != s.generation[slot] || !(runs || done)) continue;
    const int64_t since_us = runs ? s.head->now_us - s.since_us[slot] : 0;
    const int64_t ran_us = s.attained_us[slot] + since_us - before.attained_us;
    const double worked_us =
        s.work_done_us[slot] + static_cast<double>(since_us) * s.rate[slot] - before.work_done_us;
    if (ran_us < kMinUs || !(worked_us > 0)) continue;
    const double rate = worked_us / static_cast<double>(ran_us);
    if (std::abs(rate - before.learned_rate) <= kSame * rate) continue;
    before.learned_rate = rate;
    learn(before, rate);
  }
  if (std::ranges::count(stale_, 1) == 0) return;
  for (int32_t k = 0; k < exact_.num_kinds; ++k) {
    if (std::exchange(stale_[static_cast<size_t>(k)], 0) != 0) recompute_speeds_of_variants(k);
  }
  fill_reference_speeds();
}

void SpeedEstimator::learn(const Run& at, double rate) {
  if (at.kind < 0) {
    const int32_t row = fixed_.jobs.model_row[at.job];
    const auto i = static_cast<size_t>(row * fixed_.jobs.num_types + at.type);
    add(std::log(rate / at.held_fraction_of_first_task_group), of_model_[i]);
    model_speed_[i] = std::exp(of_model_[i].value());
    return;
  }
  // Jobs report their steps and their progress, so the unit of their work is known.
  reference_seen_[static_cast<size_t>(fixed_.jobs.speed_class[at.job])] = 1;
  const double steps = rate * exact_.class_reference[fixed_.jobs.speed_class[at.job]];
  const int32_t span = exchange_span_of(at.tier, at.nodes);
  const size_t at_cell = cell(at.kind, at.type, at.gpus, span),
               type = index_of_type(at.kind, at.type);
  if (exact_.steps_per_s[at_cell] <= 0) return;  // at the minimal rate
  const double linear = at.gpus * exact_.type_speed[at.type];
  if (!at.neighbours.empty() && of_type_[type].count > 0) {
    learn_colocation_loss(at, linear * learned_efficiency(at.kind, at.type, at.gpus, span) / steps);
    return;
  }
  const double seen = std::log(steps / linear);
  const int32_t base = base_[static_cast<size_t>(at.kind)];
  stale_[static_cast<size_t>(base)] = 1;
  if (!at.neighbours.empty()) {
    add(seen, crowded_[type]);
    return;
  }
  add(seen, of_cell_[at_cell]);
  add(seen, of_spread_[type * kSpreads + spread_of_span(span)]);
  add(seen, of_type_[type]);
  add(seen, of_base_[static_cast<size_t>(base)]);
}

// `time_over_alone`: of its work with those neighbours, over that alone. The error is corrected in
// proportion to the GPUs that each neighbour holds.
void SpeedEstimator::learn_colocation_loss(const Run& at, double time_over_alone) {
  const double weight = fixed_.spec.neighbour_weight;
  const int32_t one = exact_.class_kind[fixed_.jobs.speed_class[at.job]];
  double predicted = 1, squares = 0;
  for (const auto& [kind, share] : at.neighbours) {
    predicted += weight * share * loss_[pair_index(at.type, one, kind)];
    squares += weight * weight * share * share;
  }
  for (const auto& [kind, share] : at.neighbours) {
    const size_t i = pair_index(at.type, one, kind);
    if (pair_[i] <= 0) continue;
    loss_[i] = std::max(
        0.0, loss_[i] + kPairStep * weight * share * (time_over_alone - predicted) / squares);
    pair_[i] = 1 / (1 + loss_[i]);
  }
}

}  // namespace yard
