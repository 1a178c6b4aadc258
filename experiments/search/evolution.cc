#include "experiments/search/evolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/core/rng.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/json_flaw.h"
#include "env/base/text/text.h"
#include "experiments/run/parallel.h"
#include "experiments/search/tune.h"

namespace yard {
namespace {

constexpr uint64_t kEvolutionStream = 0x65766F6C7665;
// An episode is aborted beyond these multiples of the start's jobs in the system and decisions. Its
// score is then kAbortedScore times the start's.
constexpr double kMaxJobTime = 3, kMaxDecisions = 10, kAbortedScore = 4;
constexpr double kUnfinishedScore = std::numeric_limits<double>::infinity();

// Utilities u_k: positive weights for the better half (Schaul et al., section 2.1).
std::vector<double> utilities(const std::vector<double>& values) {
  const size_t n = values.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t k) { return values[k]; });
  std::vector<double> u(n, 0);
  double sum = 0;
  for (size_t i = 0; i < n; ++i) {
    const double weight =
        std::log(static_cast<double>(n) / 2 + 1) - std::log(1.0 + static_cast<double>(i));
    u[order[i]] = std::max(0.0, weight);
    sum += u[order[i]];
  }
  for (double& one : u) one = one / sum - 1 / static_cast<double>(n);
  return u;
}

class EvolutionSearch {
 public:
  EvolutionSearch(const std::vector<Scenario>& episodes, const std::vector<Scenario>& validation,
                  const std::string& policy, const RunOptions& run, const EvolutionOptions& options,
                  const Settings& start)
      : episodes_(episodes),
        validation_(validation),
        policy_(policy),
        run_(run),
        options_(options),
        fields_(free_numeric_settings(policy, run.policy)) {
    std::erase_if(fields_, [&names = options.learn](const Field& field) {
      return !names.empty() && std::ranges::find(names, field.key) == names.end();
    });
    for (const std::string& name : options.learn) {
      if (std::ranges::find(fields_, name, &Field::key) == fields_.end()) {
        throw InputError("--learn", "numeric settings of '" + policy + "' that are not set",
                         "'" + name + "'");
      }
    }
    for (const GivenSetting& setting : start.entries()) {
      const auto field = std::ranges::find(fields_, setting.key, &Field::key);
      if (field != fields_.end()) {
        field->value = setting.value;
      } else if (run_.policy.find(setting.key) == nullptr) {
        run_.policy.set(setting.key, setting.value, setting.origin);
      }
    }
    prepare(policy, run_);
    constexpr size_t kMaxDropped = 16;
    if (options.drop.size() > kMaxDropped) {
      throw InputError("--drop", "at most 16 settings", std::to_string(options.drop.size()));
    }
    const auto declared = PolicyRegistry::info(policy).fields();
    for (const std::string& name : options.drop) {
      const auto field = std::ranges::find(declared, name, &Field::key);
      if (field != declared.end() && field->type == "bool") continue;
      throw InputError("--drop", "boolean settings of '" + policy + "'", "'" + name + "'");
    }
  }

  EvolutionResult learn(EvolutionState state,
                        const std::function<void(const EvolutionState&)>& keep) {
    for (const Field& field : fields_) {
      start_.push_back(to_unit_interval(field, parse_double(field.value).value_or(field.min)));
    }
    if (state.snes.mu.empty()) {
      state.snes = {start_, std::vector<double>(start_.size(), options_.step), 0};
      state.start = run_episodes(episodes_, every_index(episodes_), {start_}, nullptr).front();
      state.start_on_validation =
          run_episodes(validation_, every_index(validation_), {start_}, nullptr).front();
      state.best.settings = settings_of(start_);
      state.best.played = played_;
    }
    const bool fits = state.snes.mu.size() == start_.size() &&
                      state.snes.sigma.size() == start_.size() &&
                      state.start.size() == episodes_.size() &&
                      state.start_on_validation.size() == validation_.size();
    if (!fits)
      throw InputError("saved search", "one of the same settings and episodes", "a different one");
    for (const auto* scores : {&state.start, &state.start_on_validation}) {
      for (const EpisodeScore& score : *scores) {
        if (std::isfinite(score.mean_jct_s)) continue;
        throw InputError("start settings", "settings with which every job of every episode ends",
                         "an unfinished job");
      }
    }
    if (state.snes.generation > options_.generations) {
      throw InputError(
          "--generations",
          "at least " + std::to_string(state.snes.generation) + ", the generations already done",
          std::to_string(options_.generations));
    }
    while (state.snes.generation < options_.generations) {
      played_ = 0;
      state.snes.step(options_.candidates, options_.seed, [&](const auto& points) {
        return score(state.snes.generation, points, state.start);
      });
      // All points beyond a number's range are equivalent.
      for (double& one : state.snes.mu) one = std::clamp(one, 0.0, 1.0);
      validate(state);
      state.best.played += played_;
      if (keep) keep(state);
    }
    return state.best;
  }

 private:
  static std::vector<int> every_index(const std::vector<Scenario>& scenarios) {
    std::vector<int> out(scenarios.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  std::vector<std::pair<std::string, std::string>> settings_of(
      const std::vector<double>& point) const {
    std::vector<std::pair<std::string, std::string>> out;
    for (size_t i = 0; i < point.size(); ++i) {
      // The start keeps its exact text, without the rounding of the unit range.
      const bool moved = point[i] != start_[i];
      const double unit = std::clamp(point[i], 0.0, 1.0);
      out.emplace_back(fields_[i].key,
                       moved ? text_from_unit_interval(fields_[i], unit) : fields_[i].value);
    }
    return out;
  }

  // Returns which of `options.drop` are off in an episode, as bits.
  uint32_t dropped(const std::vector<Scenario>& scenarios, int episode) const {
    const uint64_t kind = &scenarios == &episodes_ ? 2 : 3;
    const Rng rng =
        Rng(options_.seed).split(kEvolutionStream + kind).split(static_cast<uint64_t>(episode));
    uint32_t bits = 0;
    for (size_t i = 0; i < options_.drop.size(); ++i) {
      if (rng.split(i).uniform() < options_.drop_share) bits |= 1U << i;
    }
    return bits;
  }

  // Returns the policy with these numbers; no policy if they are invalid together.
  PreparedPolicy policy_at(const std::vector<double>& point, uint32_t dropped,
                           RunOptions& how) const {
    how = run_;
    for (const auto& [key, value] : settings_of(point)) how.policy.set(key, value, "evolution");
    for (size_t i = 0; i < options_.drop.size(); ++i) {
      if (dropped >> i & 1U) how.policy.set(options_.drop[i], "false", "evolution");
    }
    try {
      return prepare(policy_, how);
    } catch (const InputError&) {
      return {};
    }
  }

  struct EpisodeAborted {};

  // Replays an episode. Aborts it if it costs many times what `start` did.
  static EpisodeScore run_episode(const Scenario& scenario, const PreparedPolicy& prepared,
                                  RunOptions how, const EpisodeScore* start) {
    double job_time_s = 0, decisions = 0;
    how.watch = [&](const SimModel&, const SimState& state) {
      job_time_s = 1e-6 * static_cast<double>(state.head->job_time_us);
      ++decisions;
      if (start == nullptr) return;
      const bool endless = job_time_s > kMaxJobTime * start->job_time_s ||
                           decisions > kMaxDecisions * start->decisions;
      if (endless) throw EpisodeAborted();
    };
    try {
      EpisodeScore out = score_of(run_prepared(scenario, prepared, how).summary);
      out.job_time_s = job_time_s, out.decisions = decisions;
      return out;
    } catch (const EpisodeAborted&) {
      return {kAbortedScore * start->mean_jct_s, kAbortedScore * start->p99_jct_s,
              kAbortedScore * start->largest_jct_s};
    }
  }

  // Returns scores (candidates, which); infinite if a job never ends. `start`: the start's scores
  // of all scenarios; null if unknown.
  std::vector<std::vector<EpisodeScore>> run_episodes(
      const std::vector<Scenario>& scenarios, const std::vector<int>& which,
      const std::vector<std::vector<double>>& points, const std::vector<EpisodeScore>* start) {
    std::vector<std::vector<EpisodeScore>> out(points.size(),
                                               std::vector<EpisodeScore>(which.size()));
    parallel_for_each_index(static_cast<int>(points.size() * which.size()), [&](int i) {
      throw_if_interrupted();
      const size_t k = static_cast<size_t>(i) / which.size();
      const size_t e = static_cast<size_t>(i) % which.size();
      RunOptions how;
      const PreparedPolicy prepared = policy_at(points[k], dropped(scenarios, which[e]), how);
      const Scenario& scenario = scenarios[static_cast<size_t>(which[e])];
      out[k][e] = {kUnfinishedScore, kUnfinishedScore, kUnfinishedScore};
      if (prepared.policy == nullptr) return;
      const EpisodeScore* least =
          start == nullptr ? nullptr : &(*start)[static_cast<size_t>(which[e])];
      out[k][e] = run_episode(scenario, prepared, how, least);
    });
    played_ += static_cast<int64_t>(points.size() * which.size());
    return out;
  }

  static EpisodeScore score_of(const Summary& summary) {
    if (summary.all.finished < summary.all.jobs)
      return {kUnfinishedScore, kUnfinishedScore, kUnfinishedScore};
    double sum = 0;
    int64_t jobs = 0;
    for (auto of = summary.classes.rbegin(); of != summary.classes.rend(); ++of) {
      if (jobs * 10 >= summary.all.jobs) break;
      sum += of->all.mean_jct_s * static_cast<double>(of->all.jobs);
      jobs += of->all.jobs;
    }
    return {summary.all.mean_jct_s, summary.all.p99_jct_s,
            sum / static_cast<double>(std::max<int64_t>(jobs, 1))};
  }

  // Mean log ratio of `played` (E) to the start on the same episodes; infinite if a job never ends.
  double log_ratio(const std::vector<EpisodeScore>& played,
                   const std::vector<EpisodeScore>& start) const {
    double mean = 0, p99 = 0, largest = 0;
    for (size_t e = 0; e < played.size(); ++e) {
      const EpisodeScore &to = played[e], &from = start[e];
      if (!std::isfinite(to.mean_jct_s)) return kUnfinishedScore;
      const auto ln = [](double a, double b) { return a > 0 && b > 0 ? std::log(a / b) : 0; };
      mean += ln(to.mean_jct_s, from.mean_jct_s);
      p99 += ln(to.p99_jct_s, from.p99_jct_s);
      largest += ln(to.largest_jct_s, from.largest_jct_s);
    }
    const double tails = std::max(0.0, p99) + std::max(0.0, largest);
    return (mean + options_.tails * tails) / static_cast<double>(played.size());
  }

  // Mean log ratio to the start over the episodes of the generation, common to all candidates.
  std::vector<double> score(int generation, const std::vector<std::vector<double>>& points,
                            const std::vector<EpisodeScore>& start) {
    std::vector<int> which = every_index(episodes_);
    Rng rng =
        Rng(options_.seed).split(kEvolutionStream + 1).split(static_cast<uint64_t>(generation));
    const size_t wanted = std::min(which.size(), static_cast<size_t>(options_.episodes));
    for (size_t i = 0; i < wanted; ++i) {
      std::swap(which[i], which[i + rng.below(static_cast<uint32_t>(which.size() - i))]);
    }
    which.resize(wanted);
    std::vector<EpisodeScore> of_start;
    for (const int e : which) of_start.push_back(start[static_cast<size_t>(e)]);
    std::vector<double> out;
    for (const std::vector<EpisodeScore>& of_point :
         run_episodes(episodes_, which, points, &start)) {
      out.push_back(log_ratio(of_point, of_start));
    }
    return out;
  }

  void validate(EvolutionState& state) {
    const int generation = state.snes.generation;
    const bool last = generation == options_.generations;
    if (generation % options_.validate_every != 0 && !last) return;
    const std::vector<EpisodeScore> now = run_episodes(validation_, every_index(validation_),
                                                       {state.snes.mu}, &state.start_on_validation)
                                              .front();
    const double ratio = std::exp(log_ratio(now, state.start_on_validation));
    if (ratio < state.best.ratio) {
      state.best.ratio = ratio;
      state.best.generation = generation;
      state.best.settings = settings_of(state.snes.mu);
    }
    if (options_.progress) {
      options_.progress(policy_ + ": generation " + std::to_string(generation) + " of " +
                        std::to_string(options_.generations) + ", validation score " +
                        shortest_text(std::round(ratio * 1e4) / 1e4) +
                        " times that of the start, best " +
                        shortest_text(std::round(state.best.ratio * 1e4) / 1e4));
    }
  }

  const std::vector<Scenario>& episodes_;
  const std::vector<Scenario>& validation_;
  const std::string& policy_;
  RunOptions run_;
  const EvolutionOptions& options_;
  std::vector<Field> fields_;  // (D)
  std::vector<double> start_;  // (D)
  int64_t played_ = 0;         // episodes in this generation
};

}  // namespace

void SeparableNaturalEvolution::step(int candidates, uint64_t seed, const Score& f) {
  YARD_CHECK(candidates >= 2 && candidates % 2 == 0 && !mu.empty(),
             "candidates must be even and mu not empty");
  const size_t dims = mu.size(), half = static_cast<size_t>(candidates) / 2;
  const auto d = static_cast<double>(dims);
  const double eta = (3 + std::log(d)) / (5 * std::sqrt(d));
  ++generation;
  Rng rng = Rng(seed).split(kEvolutionStream).split(static_cast<uint64_t>(generation));
  std::vector<std::vector<double>> z(2 * half, std::vector<double>(dims)), points = z;
  for (size_t k = 0; k < half; ++k) {
    for (size_t i = 0; i < dims; ++i) {
      z[k][i] = rng.normal();
      z[half + k][i] = -z[k][i];
    }
  }
  for (size_t k = 0; k < z.size(); ++k) {
    for (size_t i = 0; i < dims; ++i) points[k][i] = mu[i] + sigma[i] * z[k][i];
  }
  const std::vector<double> u = utilities(f(points));
  for (size_t i = 0; i < dims; ++i) {
    double to_mu = 0, to_sigma = 0;
    for (size_t k = 0; k < z.size(); ++k) {
      to_mu += u[k] * z[k][i];
      to_sigma += u[k] * (z[k][i] * z[k][i] - 1);
    }
    mu[i] += sigma[i] * to_mu;
    sigma[i] *= std::exp(eta / 2 * to_sigma);
  }
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EvolutionResult, settings, ratio, generation, played)

void to_json(nlohmann::json& out, const EpisodeScore& s) {
  out = {s.mean_jct_s, s.p99_jct_s, s.largest_jct_s, s.job_time_s, s.decisions};
}

void from_json(const nlohmann::json& in, EpisodeScore& s) {
  s = {in.at(0), in.at(1), in.at(2), in.at(3), in.at(4)};
}

std::string to_json(const EvolutionState& state) {
  return nlohmann::json({{"generation", state.snes.generation},
                         {"mu", state.snes.mu},
                         {"sigma", state.snes.sigma},
                         {"best", state.best},
                         {"start", state.start},
                         {"start_on_validation", state.start_on_validation}})
      .dump();
}

EvolutionState parse_evolution_state(const std::string& json, const std::string& where) {
  try {
    const nlohmann::json all = nlohmann::json::parse(json);
    return {{all.at("mu"), all.at("sigma"), all.at("generation")},
            all.at("best"),
            all.at("start"),
            all.at("start_on_validation")};
  } catch (const nlohmann::json::exception& error) {
    throw InputError(where, "a saved search", json_error_text(error));
  }
}

EvolutionResult evolve(const std::vector<Scenario>& episodes,
                       const std::vector<Scenario>& validation, const std::string& policy,
                       const RunOptions& run, const EvolutionOptions& options,
                       const Settings& start, EvolutionState state,
                       const std::function<void(const EvolutionState&)>& keep) {
  YARD_CHECK(!episodes.empty() && !validation.empty(),
             "a search needs episodes and validation episodes");
  return EvolutionSearch(episodes, validation, policy, run, options, start)
      .learn(std::move(state), keep);
}

}  // namespace yard
