#include "env/sim/speed/table.h"

#include <algorithm>
#include <cmath>

#include "env/base/core/check.h"
#include "env/sim/speed/servers.h"

namespace yard {
namespace {

bool has_runs(const ModelProfile& profile, const std::string& gpu_type) {
  return std::ranges::any_of(profile.runs, [&](const MeasuredRun& run) {
    return run.gpu_type == gpu_type && run.iteration_s > 0;
  });
}

bool has_server_runs(const ModelProfile& profile, const std::string& gpu_type) {
  return std::ranges::find(profile.parameter_server_runs, gpu_type,
                           &ParameterServerRun::gpu_type) != profile.parameter_server_runs.end();
}

// Returns the batch size of a kind: the job's if it and the profile have one, else the median.
double batch_for(const ModelProfile& profile, int32_t batch) {
  std::vector<double> batches;
  for (const MeasuredRun& run : profile.runs)
    batches.push_back(profile.identifying_batch_size(run));
  const auto is_known = [](double one) { return std::abs(one - 1) > 1e-6; };
  if (batch > 0 && std::ranges::any_of(batches, is_known)) return batch;
  const auto middle = batches.begin() + static_cast<std::ptrdiff_t>(batches.size() / 2);
  std::nth_element(batches.begin(), middle, batches.end());
  return *middle;
}

}  // namespace

SpeedTable::SpeedTable(const Profiles& profiles, SpeedOptions options)
    : profiles_(&profiles), options_(std::move(options)) {
  YARD_CHECK(options_.max_gpus > 0 && options_.node_gpus > 0,
             "a speed table needs max_gpus and node_gpus");
  for (const GpuType& type : options_.types) type_speed_.push_back(type.speed);
  class_kind_.push_back(-1);
  class_reference_.push_back(1);
}

const ModelProfile* SpeedTable::find(const std::string& model, int32_t batch) const {
  const std::string plain = normalised_model_name(model);
  const ModelProfile* first = nullptr;
  for (const ModelProfile& profile : profiles_->models) {
    if (plain.empty() || normalised_model_name(profile.model) != plain) continue;
    for (const MeasuredRun& run : profile.runs) {
      if (std::abs(profile.identifying_batch_size(run) - batch) < 0.5) return &profile;
      if (first == nullptr) first = &profile;  // profiles measured with servers only have no runs
    }
  }
  return first;
}

std::vector<std::string> SpeedTable::ranked_reference_gpu_types(const ModelProfile& profile,
                                                                double batch) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& type) {
    if (has_runs(profile, type) && std::ranges::count(out, type) == 0) out.push_back(type);
  };
  add(lower_case(options_.reference_type));
  // Run times refer to GPUs of speed 1. Ties go to the type with the highest rate
  // (fill_run_times.h).
  std::vector<std::tuple<bool, double, double, std::string>> ranked;
  for (const GpuType& type : options_.types) {
    const std::string name = lower_case(type.name);
    const SpeedCurve* curve = curve_of(profile, name);
    if (curve == nullptr) continue;
    const SpeedCurve::Rates rates = curve->steps_per_s(batch, options_.max_gpus);
    ranked.emplace_back(type.speed != 1, -type.speed, -std::ranges::max(rates.front()), name);
  }
  std::ranges::sort(ranked);
  for (const auto& one : ranked) add(std::get<std::string>(one));
  for (const MeasuredRun& run : profile.runs) add(run.gpu_type);
  return out;
}

double SpeedTable::type_speed(const std::string& name) const {
  for (const GpuType& type : options_.types) {
    if (lower_case(type.name) == name) return type.speed;
  }
  return 1;
}

const SpeedCurve* SpeedTable::curve_of(const ModelProfile& profile, const std::string& type) {
  const auto key = std::pair(&profile, type);
  const auto known = curves_.find(key);
  if (known != curves_.end()) return &known->second;
  if (!has_runs(profile, type)) return nullptr;
  return &curves_.emplace(key, SpeedCurve(profile, type, gradient_bytes(profile), options_.links))
              .first->second;
}

// Returns the size measured layer by layer, else the profile's own.
double SpeedTable::gradient_bytes(const ModelProfile& profile) const {
  for (const MeasuredModelSize& size : profiles_->sizes) {
    if (normalised_model_name(size.model) == normalised_model_name(profile.model))
      return size.bytes;
  }
  return profile.gradient_bytes;
}

double SpeedTable::exchange_time_ratio_to_measured(const ModelVariant& kind, Tier tier,
                                                   int32_t gpus, int32_t nodes) const {
  const Tier measured = tier <= Tier::kNode ? Tier::kNode : Tier::kRack;
  const Link& from = options_.links[static_cast<size_t>(measured)];
  const Link& to = options_.links[static_cast<size_t>(tier)];
  if (tier == measured && kind.pattern == kind.measured) return 1;
  if (from.bytes_per_s <= 0 || to.bytes_per_s <= 0) return 1;
  if (kind.gradient_bytes <= 0) return from.bytes_per_s / to.bytes_per_s;
  const Link& node = options_.links[static_cast<size_t>(Tier::kNode)];
  const int32_t used = std::min(nodes, gpus);
  const auto seconds = [&](Pattern pattern, const Link& link) {
    const Link& inside = used > 1 && node.bytes_per_s > 0 ? node : link;
    return gradient_exchange_s(pattern, used, (gpus + used - 1) / used, kind.gradient_bytes, inside,
                               link);
  };
  return seconds(kind.pattern, to) / seconds(kind.measured, from);
}

SpeedTable::Cell SpeedTable::cell(const SpeedCurve& curve, const SpeedCurve::Rates& rates,
                                  const ModelVariant& kind, Tier tier, int32_t gpus,
                                  int32_t nodes) const {
  const int32_t spread = node_spread_class(nodes);
  const double measured = rates[static_cast<size_t>(spread)][static_cast<size_t>(gpus)];
  if (gpus < 2) return {measured, 0};
  const double longer = exchange_time_ratio_to_measured(kind, tier, gpus, nodes);
  const auto form_s = [&](double times) {
    return curve.pollux_iteration_s(kind.batch, gpus, spread, times);
  };
  return {measured * (form_s(1) / form_s(longer)), form_s(2 * longer) / form_s(longer) - 1};
}

void SpeedTable::add_synchronous_rates(const ModelVariant& kind) {
  const std::string reference = ranked_reference_gpu_types(*kind.profile, kind.batch).front();
  for (const GpuType& type : options_.types) {
    const SpeedCurve* curve = curve_of(*kind.profile, lower_case(type.name));
    const double factor = curve != nullptr ? 1 : type.speed / type_speed(reference);
    if (curve == nullptr) curve = curve_of(*kind.profile, reference);
    const SpeedCurve::Rates rates = curve->steps_per_s(kind.batch, options_.max_gpus);
    for (int32_t gpus = 0; gpus <= options_.max_gpus; ++gpus) {
      for (int32_t t = static_cast<int32_t>(Tier::kIsland); t < kTiers; ++t) {
        const auto tier = static_cast<Tier>(t);
        const size_t first = tier <= Tier::kNode ? 0 : 1, end = first == 0 ? 1 : kSpreads;
        for (size_t spread = first; spread < end; ++spread) {
          const Cell one = cell(*curve, rates, kind, tier, gpus, kMinNodes[spread]);
          steps_per_s_.push_back(one.steps_per_s * factor);
          exchange_share_.push_back(one.share);
        }
      }
    }
  }
}

// The form has no terms for placement or links, so rates are equal over all spans. An unmeasured
// type gets the rates of the reference type times the ratio of the two types' speeds.
void SpeedTable::add_parameter_server_rates(const ModelVariant& kind) {
  const std::string reference = parameter_server_reference_type(*kind.profile);
  bool counts_worker_steps = false;
  for (const GpuType& type : options_.types) {
    const std::string name = lower_case(type.name);
    const bool measured = has_server_runs(*kind.profile, name);
    const ParameterServerSpeedCurve curve(kind.profile->parameter_server_runs,
                                          measured ? name : reference, kind.batch);
    const double factor = measured ? 1 : type.speed / type_speed(reference);
    counts_worker_steps = curve.counts_worker_steps();
    for (int32_t workers = 0; workers <= options_.max_gpus; ++workers) {
      for (int32_t span = 0; span < kSpans; ++span) {
        const bool any = workers > 0;
        steps_per_s_.push_back(any ? curve.steps_per_s(kind.servers, workers) * factor : 0);
        exchange_share_.push_back(any ? curve.exchange_share(kind.servers, workers) : 0);
      }
    }
  }
  worker_steps_.push_back(counts_worker_steps);
}

// Returns the reference type of a profile with servers.
std::string SpeedTable::parameter_server_reference_type(const ModelProfile& profile) const {
  const std::string wanted = lower_case(options_.reference_type);
  if (has_server_runs(profile, wanted)) return wanted;
  std::vector<std::tuple<bool, double, std::string>> ranked;
  for (const GpuType& type : options_.types) {
    const std::string name = lower_case(type.name);
    if (has_server_runs(profile, name)) ranked.emplace_back(type.speed != 1, -type.speed, name);
  }
  if (!ranked.empty()) return std::get<std::string>(std::ranges::min(ranked));
  return profile.parameter_server_runs.front().gpu_type;
}

int32_t SpeedTable::model_variant_of(const ModelProfile& profile, double batch, Pattern pattern,
                                     int32_t servers, Pattern measured) {
  const auto [it, fresh] = kind_index_.try_emplace(
      std::tuple(&profile, batch, pattern, servers, measured), static_cast<int32_t>(kinds_.size()));
  if (!fresh) return it->second;
  kinds_.push_back({&profile, batch, gradient_bytes(profile), pattern, measured, servers});
  gradient_bytes_.push_back(kinds_.back().gradient_bytes);
  server_exchange_.push_back(pattern == Pattern::kParameterServer);
  tree_exchange_.push_back(pattern == Pattern::kTree);
  if (servers > 0) {
    add_parameter_server_rates(kinds_.back());
  } else {
    worker_steps_.push_back(profile.scaling == BatchScaling::kWeak);
    add_synchronous_rates(kinds_.back());
  }
  return it->second;
}

// Returns the steps/s on `gpus` consolidated GPUs of a type, which the cluster need not have.
double SpeedTable::reference_steps_per_s(const ModelVariant& kind, const std::string& type,
                                         int32_t gpus) {
  const SpeedCurve& curve = *curve_of(*kind.profile, type);
  const int32_t island = options_.island_gpus > 0 ? options_.island_gpus : options_.node_gpus;
  const int32_t nodes = (gpus + options_.node_gpus - 1) / options_.node_gpus;
  const Tier tier = nodes > 1 ? Tier::kRack : gpus > island ? Tier::kNode : Tier::kIsland;
  const int32_t fewest = kMinNodes[static_cast<size_t>(node_spread_class(nodes))];
  return cell(curve, curve.steps_per_s(kind.batch, gpus), kind, tier, gpus, fewest).steps_per_s;
}

int32_t SpeedTable::class_of(const std::string& model, int32_t batch, int32_t gpus,
                             Pattern pattern) {
  YARD_CHECK(gpus >= 0 && gpus <= options_.max_gpus, "number of GPUs out of range");
  const ModelProfile* profile = gpus > 0 ? find(model, batch) : nullptr;
  const auto fits = [](const MeasuredRun& run) { return run.iteration_s > 0; };
  if (profile == nullptr || std::ranges::none_of(profile->runs, fits)) return 0;
  // Profiles by links are measured with the two-level all-reduce.
  const Pattern measured = profile->by_links ? Pattern::kHierarchical : pattern;
  const int32_t kind = model_variant_of(*profile, batch_for(*profile, batch), pattern, 0, measured);
  const auto [it, fresh] = class_index_.try_emplace(std::pair(kind, gpus), 0);
  if (!fresh) return it->second;
  const ModelVariant& made = kinds_[static_cast<size_t>(kind)];
  for (const std::string& type : ranked_reference_gpu_types(*profile, made.batch)) {
    const double rate = reference_steps_per_s(made, type, gpus);
    if (rate <= 0) continue;
    it->second = add_job_class(kind, rate);
    break;
  }
  return it->second;
}

int32_t SpeedTable::add_job_class(int32_t kind, double reference) {
  class_kind_.push_back(kind);
  class_reference_.push_back(reference);
  return static_cast<int32_t>(class_kind_.size()) - 1;
}

int32_t SpeedTable::parameter_server_class_of(const std::string& model, int32_t batch,
                                              int32_t servers, int32_t workers) {
  YARD_CHECK(servers > 0 && workers > 0 && workers <= options_.max_gpus,
             "number of servers or workers out of range");
  const std::string plain = normalised_model_name(model);
  const auto found = std::ranges::find_if(profiles_->models, [&](const ModelProfile& profile) {
    return !plain.empty() && !profile.parameter_server_runs.empty() &&
           normalised_model_name(profile.model) == plain;
  });
  if (found == profiles_->models.end()) return 0;
  const double wanted = batch > 0 ? batch : found->parameter_server_runs.front().batch;
  const int32_t kind = model_variant_of(*found, wanted, Pattern::kParameterServer, servers,
                                        Pattern::kParameterServer);
  const auto [it, fresh] = class_index_.try_emplace(std::pair(kind, workers), 0);
  if (!fresh) return it->second;
  const ParameterServerSpeedCurve curve(found->parameter_server_runs,
                                        parameter_server_reference_type(*found), wanted);
  return it->second = add_job_class(kind, curve.steps_per_s(servers, workers));
}

void SpeedTable::allow_parameter_servers_up_to(int32_t job_class, int32_t most) {
  int32_t& known = max_servers_[job_class];
  known = std::max(known, most);
  const int32_t kind = class_kind_[static_cast<size_t>(job_class)];
  YARD_CHECK(kinds_[static_cast<size_t>(kind)].servers > 0, "the class has no parameter servers");
  for (int32_t n = 1; n <= known; ++n) variant_with_servers(kind, n);
}

int32_t SpeedTable::variant_with_servers(int32_t of_kind, int32_t servers) {
  const ModelVariant kind = kinds_[static_cast<size_t>(of_kind)];
  return model_variant_of(*kind.profile, kind.batch, kind.pattern, servers, kind.measured);
}

// Fills `kind_with_`. Beyond a class's own maximum it repeats the kind with most servers.
void SpeedTable::build_table_of_variants_by_servers() {
  kind_with_.clear();
  if (max_servers_.empty()) return;
  int32_t most = 0;
  for (const auto& [job_class, servers] : max_servers_) most = std::max(most, servers);
  for (int32_t c = 0; c < static_cast<int32_t>(class_kind_.size()); ++c) {
    const int32_t requested = class_kind_[static_cast<size_t>(c)];
    const auto allowed = max_servers_.find(c);
    for (int32_t n = 0; n <= most; ++n) {
      const bool fixed = allowed == max_servers_.end() || n == 0;
      kind_with_.push_back(fixed ? requested
                                 : variant_with_servers(requested, std::min(n, allowed->second)));
    }
  }
}

void SpeedTable::allow_all_reduce_choice(int32_t job_class) {
  const int32_t own = class_kind_[static_cast<size_t>(job_class)];
  if (own < 0 || kinds_by_all_reduce_.contains(job_class)) return;
  const ModelVariant kind = kinds_[static_cast<size_t>(own)];
  if (kind.pattern > Pattern::kHierarchical || kind.gradient_bytes <= 0) return;
  for (const Tier tier : {Tier::kNode, Tier::kRack}) {
    if (options_.links[static_cast<size_t>(tier)].bytes_per_s <= 0) return;
  }
  std::array<int32_t, kAllReduces>& by = kinds_by_all_reduce_[job_class];
  by[0] = own;
  for (const Pattern pattern : {Pattern::kRing, Pattern::kTree, Pattern::kHierarchical}) {
    by[static_cast<size_t>(pattern)] =
        model_variant_of(*kind.profile, kind.batch, pattern, 0, kind.measured);
  }
  kind_by_all_reduce_.clear();
}

void SpeedTable::build_table_of_variants_by_all_reduce() {
  const size_t cells = class_kind_.size() * kAllReduces;
  if (kinds_by_all_reduce_.empty() || kind_by_all_reduce_.size() == cells) return;
  kind_by_all_reduce_.assign(cells, -1);
  for (const auto& [job_class, by] : kinds_by_all_reduce_) {
    std::ranges::copy(by, kind_by_all_reduce_.begin() + std::ptrdiff_t{job_class} * kAllReduces);
  }
}

void SpeedTable::build_pair_rate_table() {
  const size_t kinds = kinds_.size();
  pair_rate_.assign(options_.types.size() * kinds * kinds, options_.unmeasured_pair);
  const auto is = [](const ModelVariant& kind, const std::string& source,
                     const MeasuredColocatedPair::ColocatedModel& side) {
    return kind.batch == side.batch && kind.profile->source == source &&
           kind.profile->model == side.model;
  };
  for (size_t t = 0; t < options_.types.size(); ++t) {
    for (const MeasuredColocatedPair& pair : profiles_->pairs) {
      if (pair.gpu_type != lower_case(options_.types[t].name)) continue;
      for (size_t one = 0; one < kinds; ++one) {
        if (!is(kinds_[one], pair.source, pair.one)) continue;
        for (size_t other = 0; other < kinds; ++other) {
          if (!is(kinds_[other], pair.source, pair.other)) continue;
          pair_rate_[(t * kinds + one) * kinds + other] = pair.one.rate;
        }
      }
    }
  }
}

SpeedColumns SpeedTable::columns() {
  build_table_of_variants_by_servers();
  build_table_of_variants_by_all_reduce();
  if (pair_rate_.size() != options_.types.size() * kinds_.size() * kinds_.size())
    build_pair_rate_table();
  return {static_cast<int32_t>(class_kind_.size()),
          static_cast<int32_t>(kinds_.size()),
          static_cast<int32_t>(type_speed_.size()),
          options_.max_gpus,
          options_.unmeasured_pair,
          type_speed_.data(),
          class_kind_.data(),
          class_reference_.data(),
          steps_per_s_.data(),
          exchange_share_.data(),
          pair_rate_.data(),
          gradient_bytes_.data(),
          worker_steps_.data(),
          server_exchange_.data(),
          kind_with_.empty() ? 0 : static_cast<int32_t>(kind_with_.size() / class_kind_.size()) - 1,
          kind_with_.empty() ? nullptr : kind_with_.data(),
          kind_by_all_reduce_.empty() ? nullptr : kind_by_all_reduce_.data(),
          tree_exchange_.data()};
}

}  // namespace yard
