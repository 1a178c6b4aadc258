#include "experiments/tune.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "env/base/error.h"
#include "env/base/interrupt.h"
#include "env/base/rng.h"
#include "env/base/text.h"
#include "experiments/parallel.h"

namespace yard {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDecades = 100;    // from here on a range is searched by logarithm
constexpr double kBelowEnd = 1e-3;  // where the logarithm of a range from 0 begins
constexpr int kTogether = 8;        // candidates drawn before any of them is scored
constexpr double kFirstStep = 0.15, kLastStep = 0.01;  // of the unit range
constexpr double kAroundDefault = 0.15;
constexpr double kChange = 0.6;  // how likely a number is changed in a local step
constexpr uint64_t kTuneStream = 0x74756E65;

using Point = std::vector<double>;  // in the unit cube, a coordinate for each number

bool by_logarithm(const Field& field) {
  return field.min > 0 ? field.max / field.min >= kDecades : field.min == 0 && field.max >= 10;
}

double log_begin(const Field& field) { return field.min > 0 ? field.min : field.max * kBelowEnd; }

// What is searched.
std::vector<Field> numbers_of(const std::string& policy, const Settings& given) {
  std::vector<Field> numbers;
  for (Field& field : PolicyRegistry::info(policy).fields()) {
    const bool number = field.type == "number" || field.type == "integer";
    if (number && given.find(field.key) == nullptr) numbers.push_back(std::move(field));
  }
  if (numbers.empty()) {
    throw InputError("tune", "a policy that declares numbers", "'" + policy + "'");
  }
  return numbers;
}

std::string value_text(const Field& field, double unit) {
  const double value = from_unit(field, unit);
  if (field.type == "integer") return shortest(std::llround(value));
  // Four digits: the search knows no more, and people read them.
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::max(std::abs(value), 1e-12))));
  const double rounded = value == 0 ? 0 : std::round(value * scale) / scale;
  return shortest(std::clamp(rounded, field.min, field.max));
}

class Search {
 public:
  Search(const Scenario& scenario, const std::string& policy, const RunOptions& run,
         const TuneOptions& options)
      : replicas_(replicas_of(scenario, options.replicas, options.seed)),
        policy_(policy),
        run_(run),
        options_(options),
        numbers_(numbers_of(policy, run.policy)),
        rng_(Rng(options.seed).split(kTuneStream)) {}

  Tuned run() {
    score_defaults();
    while (tuned_.evaluated < options_.budget) {
      throw_if_interrupted();
      std::vector<Point> points;
      const int left = options_.budget - tuned_.evaluated;
      for (int i = 0; i < std::min(left, kTogether); ++i) {
        points.push_back(draw(tuned_.evaluated + i));
      }
      score(points);
      if (options_.progress) {
        options_.progress(policy_ + ": " + std::to_string(tuned_.evaluated) + " of " +
                          std::to_string(options_.budget) + ", mean JCT " +
                          shortest(std::round(tuned_.mean_jct_s)) + " s (defaults " +
                          shortest(std::round(tuned_.default_jct_s)) + ")");
      }
    }
    return tuned_;
  }

 private:
  void score_defaults() {
    tuned_.policy = policy_;
    tuned_.level = prepare(policy_, run_).level;
    tuned_.fixed = run_.policy;
    for (const Field& field : numbers_) {
      start_.push_back(to_unit(field, parse_double(field.value).value_or(field.min)));
      tuned_.settings.emplace_back(field.key, field.value);
    }
    best_ = start_;
    tuned_.default_jct_s = tuned_.mean_jct_s = mean_jct_s(run_);
    tuned_.evaluated = 1;
  }

  // The first half of the budget looks everywhere and around the defaults in turn, the rest around
  // the best in steps that shrink.
  Point draw(int number) {
    Rng rng = rng_.split(static_cast<uint64_t>(number));
    const double spent = static_cast<double>(number) / options_.budget;
    Point point(numbers_.size());
    if (spent < 0.5 && number % 2 == 1) {
      for (double& x : point) x = rng.uniform();
      return point;
    }
    const Point& centre = spent < 0.5 ? start_ : best_;
    const double late = std::max(0.0, 2 * spent - 1);
    const double step =
        spent < 0.5 ? kAroundDefault : kFirstStep * std::pow(kLastStep / kFirstStep, late);
    const auto certain = rng.below(static_cast<uint32_t>(point.size()));
    for (size_t i = 0; i < point.size(); ++i) {
      const bool changes = rng.uniform() < kChange || i == certain;
      const double moved = centre[i] + (changes ? step * rng.normal() : 0);
      point[i] = std::clamp(moved, 0.0, 1.0);
    }
    return point;
  }

  RunOptions options_of(const Point& point) const {
    RunOptions how = run_;
    for (size_t i = 0; i < point.size(); ++i) {
      how.policy.set(numbers_[i].key, value_text(numbers_[i], point[i]), "tune");
    }
    return how;
  }

  double mean_jct_s(const RunOptions& how) const {
    double sum = 0;
    const Contestant contestant = prepare(policy_, how);
    for (const Scenario& replica : replicas_) {
      const JctSummary all = run_prepared(replica, contestant, how).summary.all;
      if (all.finished < all.jobs) return kInfinity;
      sum += all.mean_jct_s;
    }
    return sum / static_cast<double>(replicas_.size());
  }

  void score(const std::vector<Point>& points) {
    std::vector<double> jct_s(points.size(), kInfinity);
    std::vector<char> refused(points.size(), 0);
    for_each_index(static_cast<int>(points.size()), [&](int i) {
      throw_if_interrupted();
      const auto at = static_cast<size_t>(i);
      try {
        jct_s[at] = mean_jct_s(options_of(points[at]));
      } catch (const InputError&) {
        refused[at] = 1;  // numbers that each fit, but not together
      }
    });
    for (size_t i = 0; i < points.size(); ++i) {
      ++tuned_.evaluated;
      tuned_.refused += refused[i];
      if (jct_s[i] >= tuned_.mean_jct_s) continue;
      tuned_.mean_jct_s = jct_s[i];
      best_ = points[i];
      for (size_t k = 0; k < numbers_.size(); ++k) {
        tuned_.settings[k].second = value_text(numbers_[k], best_[k]);
      }
    }
  }

  std::vector<Scenario> replicas_;
  std::string policy_;
  RunOptions run_;
  TuneOptions options_;
  std::vector<Field> numbers_;
  Rng rng_;
  Point start_, best_;
  Tuned tuned_;
};

}  // namespace

double to_unit(const Field& field, double value) {
  if (!by_logarithm(field)) {
    return field.max > field.min ? (value - field.min) / (field.max - field.min) : 0;
  }
  const double begin = log_begin(field);
  if (value <= begin) return 0;
  return std::log(value / begin) / std::log(field.max / begin);
}

double from_unit(const Field& field, double unit) {
  double value = 0;
  if (!by_logarithm(field)) {
    value = field.min + unit * (field.max - field.min);
  } else if (unit <= 0) {
    value = field.min;
  } else {
    const double begin = log_begin(field);
    value = begin * std::pow(field.max / begin, unit);
  }
  return std::clamp(value, field.min, field.max);
}

Tuned tune(const Scenario& scenario, const std::string& policy, const RunOptions& run,
           const TuneOptions& options) {
  return Search(scenario, policy, run, options).run();
}

std::string tuned_yaml(const Tuned& tuned, const Scenario& scenario, const TuneOptions& options) {
  YAML::Emitter out;
  const auto entry = [&](const std::string& key, const std::string& value) {
    out << YAML::Key << key << YAML::Value << value;
  };
  out << YAML::BeginMap;
  entry("policy", tuned.policy);
  out << YAML::Key << "settings" << YAML::Value << YAML::BeginMap;
  for (const Setting& setting : tuned.fixed.entries()) entry(setting.key, setting.value);
  for (const auto& [key, value] : tuned.settings) entry(key, value);
  out << YAML::EndMap;
  out << YAML::Key << "provenance" << YAML::Value << YAML::BeginMap;
  // The name alone: the file is to say the same wherever the traces lie.
  entry("trace", std::filesystem::path(scenario.trace.source).filename().string());
  entry("sha256", scenario.trace.sha256);
  entry("cluster", scenario.cluster.text);
  entry("from_s", format_seconds(scenario.window.from_us));
  entry("to_s", format_seconds(scenario.window.to_us));
  entry("scored_jobs", std::to_string(scenario.window.scored));
  entry("arrival_factor", shortest(scenario.factor));
  if (!std::isnan(scenario.load)) entry("load", shortest(scenario.load));
  entry("cost_scale", shortest(scenario.cost_scale));
  entry("budget", std::to_string(options.budget));
  entry("refused", std::to_string(tuned.refused));
  entry("replicas", std::to_string(options.replicas));
  entry("seed", std::to_string(options.seed));
  entry("default_mean_jct_s", shortest(tuned.default_jct_s));
  entry("mean_jct_s", shortest(tuned.mean_jct_s));
  out << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace yard
