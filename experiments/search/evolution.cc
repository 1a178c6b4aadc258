#include "experiments/search/evolution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "env/base/check.h"
#include "env/base/error.h"
#include "env/base/interrupt.h"
#include "env/base/rng.h"
#include "env/base/text.h"
#include "experiments/parallel.h"
#include "experiments/search/tune.h"

namespace yard {
namespace {

constexpr uint64_t kStream = 0x65766F6C7665;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// u_k: more weight for the better half, none for the worse (Schaul et al., section 2.1).
std::vector<double> utilities(const std::vector<double>& values) {
  const size_t n = values.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
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

}  // namespace

std::vector<double> snes(
    std::vector<double> mu, double step, int candidates, int generations, uint64_t seed,
    const std::function<std::vector<double>(int, const std::vector<std::vector<double>>&)>& f,
    const std::function<void(int, std::span<const double>)>& at) {
  YARD_CHECK(candidates >= 2 && candidates % 2 == 0 && !mu.empty(), "no generation");
  const size_t dims = mu.size(), half = static_cast<size_t>(candidates) / 2;
  const auto d = static_cast<double>(dims);
  const double eta = (3 + std::log(d)) / (5 * std::sqrt(d));
  std::vector<double> sigma(dims, step);
  for (int g = 1; g <= generations; ++g) {
    Rng rng = Rng(seed).split(kStream).split(static_cast<uint64_t>(g));
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
    const std::vector<double> u = utilities(f(g, points));
    for (size_t i = 0; i < dims; ++i) {
      double to_mu = 0, to_sigma = 0;
      for (size_t k = 0; k < z.size(); ++k) {
        to_mu += u[k] * z[k][i];
        to_sigma += u[k] * (z[k][i] * z[k][i] - 1);
      }
      mu[i] += sigma[i] * to_mu;
      sigma[i] *= std::exp(eta / 2 * to_sigma);
    }
    at(g, mu);
  }
  return mu;
}

namespace {

class Learner {
 public:
  Learner(const std::vector<Scenario>& episodes, const std::vector<Scenario>& validation,
          const std::string& policy, const RunOptions& run, const EvolutionOptions& options)
      : episodes_(episodes),
        validation_(validation),
        policy_(policy),
        run_(run),
        options_(options) {
    const std::vector<Field> all = numbers_of(policy, run.policy);
    for (const Field& field : all) {
      const auto& names = options.learn;
      if (names.empty() || std::ranges::find(names, field.key) != names.end()) {
        fields_.push_back(field);
      }
    }
    for (const std::string& name : options.learn) {
      if (std::ranges::find(fields_, name, &Field::key) == fields_.end()) {
        throw InputError("what is to be learned", "numbers of '" + policy + "' that are not given",
                         "'" + name + "'");
      }
    }
  }

  Evolved learn() {
    std::vector<double> mu;
    for (const Field& field : fields_) {
      mu.push_back(to_unit(field, parse_double(field.value).value_or(field.min)));
    }
    start_ = mu;
    start_jct_s_ = play(episodes_, all_of(episodes_), {mu}).front();
    start_valid_s_ = play(validation_, all_of(validation_), {mu}).front();
    best_.settings = settings_of(mu);
    snes(
        mu, options_.step, options_.candidates, options_.generations, options_.seed,
        [&](int g, const std::vector<std::vector<double>>& points) { return score(g, points); },
        [&](int g, std::span<const double> at) {
          validate(g, {at.begin(), at.end()});
        });
    best_.played = played_;
    return best_;
  }

 private:
  static std::vector<int> all_of(const std::vector<Scenario>& scenarios) {
    std::vector<int> out(scenarios.size());
    std::iota(out.begin(), out.end(), 0);
    return out;
  }

  std::vector<std::pair<std::string, std::string>> settings_of(
      const std::vector<double>& point) const {
    std::vector<std::pair<std::string, std::string>> out;
    for (size_t i = 0; i < point.size(); ++i) {
      // The start as it is written, not as the unit range rounds it.
      const bool moved = point[i] != start_[i];
      const double unit = std::clamp(point[i], 0.0, 1.0);
      out.emplace_back(fields_[i].key, moved ? value_text(fields_[i], unit) : fields_[i].value);
    }
    return out;
  }

  // (candidates, which) mean JCT; infinite where some job never ends.
  std::vector<std::vector<double>> play(const std::vector<Scenario>& scenarios,
                                        const std::vector<int>& which,
                                        const std::vector<std::vector<double>>& points) {
    std::vector<Contestant> contestants;
    std::vector<RunOptions> how(points.size(), run_);
    for (size_t k = 0; k < points.size(); ++k) {
      for (const auto& [key, value] : settings_of(points[k])) {
        how[k].policy.set(key, value, "evolution");
      }
      try {
        contestants.push_back(prepare(policy_, how[k]));
      } catch (const InputError&) {
        contestants.emplace_back();  // numbers that each fit, but not together
      }
    }
    std::vector<std::vector<double>> jct_s(points.size(), std::vector<double>(which.size()));
    for_each_index(static_cast<int>(points.size() * which.size()), [&](int i) {
      throw_if_interrupted();
      const size_t k = static_cast<size_t>(i) / which.size();
      const size_t e = static_cast<size_t>(i) % which.size();
      if (contestants[k].policy == nullptr) {
        jct_s[k][e] = kInfinity;
        return;
      }
      const Scenario& scenario = scenarios[static_cast<size_t>(which[e])];
      const JctSummary all = run_prepared(scenario, contestants[k], how[k]).summary.all;
      jct_s[k][e] = all.finished < all.jobs ? kInfinity : all.mean_jct_s;
    });
    played_ += static_cast<int64_t>(points.size() * which.size());
    return jct_s;
  }

  // Mean log ratio to the start over the generation's episodes, which are the same for all.
  std::vector<double> score(int generation, const std::vector<std::vector<double>>& points) {
    std::vector<int> which = all_of(episodes_);
    Rng rng = Rng(options_.seed).split(kStream + 1).split(static_cast<uint64_t>(generation));
    const size_t wanted = std::min(which.size(), static_cast<size_t>(options_.episodes));
    for (size_t i = 0; i < wanted; ++i) {
      std::swap(which[i], which[i + rng.below(static_cast<uint32_t>(which.size() - i))]);
    }
    which.resize(wanted);
    const auto jct_s = play(episodes_, which, points);
    std::vector<double> out;
    for (const std::vector<double>& of_point : jct_s) {
      double sum = 0;
      for (size_t e = 0; e < which.size(); ++e) {
        sum += std::log(of_point[e] / start_jct_s_[static_cast<size_t>(which[e])]);
      }
      out.push_back(sum / static_cast<double>(which.size()));
    }
    return out;
  }

  void validate(int generation, const std::vector<double>& mu) {
    const bool last = generation == options_.generations;
    if (generation % options_.validate_every != 0 && !last) return;
    const std::vector<double> jct_s = play(validation_, all_of(validation_), {mu}).front();
    double sum = 0;
    for (size_t e = 0; e < jct_s.size(); ++e) sum += std::log(jct_s[e] / start_valid_s_[e]);
    const double ratio = std::exp(sum / static_cast<double>(jct_s.size()));
    if (ratio < best_.ratio) {
      best_.ratio = ratio;
      best_.generation = generation;
      best_.settings = settings_of(mu);
    }
    if (options_.progress) {
      options_.progress(policy_ + ": generation " + std::to_string(generation) + " of " +
                        std::to_string(options_.generations) + ", validation x " +
                        shortest(std::round(ratio * 1e4) / 1e4) + " of the start's, best x " +
                        shortest(std::round(best_.ratio * 1e4) / 1e4));
    }
  }

  const std::vector<Scenario>& episodes_;
  const std::vector<Scenario>& validation_;
  const std::string& policy_;
  const RunOptions& run_;
  const EvolutionOptions& options_;
  std::vector<Field> fields_;                        // (D)
  std::vector<double> start_;                        // (D)
  std::vector<double> start_jct_s_, start_valid_s_;  // (E)
  Evolved best_;
  int64_t played_ = 0;
};

}  // namespace

Evolved evolve(const std::vector<Scenario>& episodes, const std::vector<Scenario>& validation,
               const std::string& policy, const RunOptions& run, const EvolutionOptions& options) {
  YARD_CHECK(!episodes.empty() && !validation.empty(), "nothing to learn from");
  return Learner(episodes, validation, policy, run, options).learn();
}

}  // namespace yard
