#include "experiments/search/tune.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>

#include "env/base/error.h"
#include "env/base/interrupt.h"
#include "env/base/text.h"
#include "experiments/parallel.h"

namespace yard {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDecades = 100;    // from here on a range is searched by logarithm
constexpr double kBelowEnd = 1e-3;  // where the logarithm of a range from 0 begins
bool by_logarithm(const Field& field) {
  return field.min > 0 ? field.max / field.min >= kDecades : field.min == 0 && field.max >= 10;
}

double log_begin(const Field& field) { return field.min > 0 ? field.min : field.max * kBelowEnd; }

double log_sum(const std::vector<double>& jct_s) {
  double sum = 0;
  for (const double of_cell : jct_s) sum += std::log(of_cell);
  return sum;
}

class Search {
 public:
  Search(const std::vector<Scenario>& cells, const std::string& policy, const RunOptions& run,
         const TuneOptions& options)
      : policy_(policy), run_(run), options_(options), numbers_(numbers_of(policy, run.policy)) {
    for (const Scenario& cell : cells) {
      replicas_.push_back(replicas_of(cell, options.replicas, options.seed));
    }
  }

  Tuned run() {
    tuned_.policy = policy_;
    tuned_.level = prepare(policy_, run_).level;
    tuned_.fixed = run_.policy;
    Point start;
    for (const Field& field : numbers_) {
      start.push_back(to_unit(field, parse_double(field.value).value_or(field.min)));
      tuned_.settings.emplace_back(field.key, field.value);
    }
    // The defaults as they are written, not as the unit range rounds them.
    tuned_.default_jct_s = tuned_.jct_s = jct_s(run_);
    least_ = log_sum(tuned_.jct_s);
    tuned_.evaluated = 1;
    // The search begins with the start, whose value is known by now.
    minimise(
        start, [&](const Point& point) { return point == start ? least_ : score(point); },
        options_.budget, options_.seed);
    const auto cells = static_cast<double>(tuned_.jct_s.size());
    tuned_.ratio = std::exp((log_sum(tuned_.jct_s) - log_sum(tuned_.default_jct_s)) / cells);
    return tuned_;
  }

 private:
  // By cell: mean JCT over replicas; infinite where some job never ends.
  std::vector<double> jct_s(const RunOptions& how) const {
    const Contestant contestant = prepare(policy_, how);
    const auto per_cell = static_cast<size_t>(options_.replicas);
    std::vector<double> means(replicas_.size() * per_cell);
    for_each_index(static_cast<int>(means.size()), [&](int i) {
      throw_if_interrupted();
      const auto at = static_cast<size_t>(i);
      const Scenario& replica = replicas_[at / per_cell][at % per_cell];
      const JctSummary all = run_prepared(replica, contestant, how).summary.all;
      means[at] = all.finished < all.jobs ? kInfinity : all.mean_jct_s;
    });
    std::vector<double> out;
    for (size_t c = 0; c < replicas_.size(); ++c) {
      const auto first = means.begin() + static_cast<std::ptrdiff_t>(c * per_cell);
      out.push_back(std::accumulate(first, first + options_.replicas, 0.0) / options_.replicas);
    }
    return out;
  }

  // Sum of the logarithms of jct_s(); infinite for numbers that each fit, but not together.
  double score(const Point& point) {
    ++tuned_.evaluated;
    RunOptions how = run_;
    for (size_t i = 0; i < point.size(); ++i) {
      how.policy.set(numbers_[i].key, value_text(numbers_[i], point[i]), "tune");
    }
    double value = kInfinity;
    try {
      const std::vector<double> jct = jct_s(how);
      value = log_sum(jct);
      if (value < least_) keep(point, jct, value);
    } catch (const InputError&) {
      ++tuned_.refused;
    }
    report();
    return value;
  }

  void keep(const Point& point, const std::vector<double>& jct_s, double value) {
    least_ = value;
    tuned_.jct_s = jct_s;
    for (size_t k = 0; k < numbers_.size(); ++k) {
      tuned_.settings[k].second = value_text(numbers_[k], point[k]);
    }
  }

  void report() const {
    if (!options_.progress) return;
    const auto cells = static_cast<double>(tuned_.jct_s.size());
    const double ratio = std::exp((least_ - log_sum(tuned_.default_jct_s)) / cells);
    options_.progress(policy_ + ": " + std::to_string(tuned_.evaluated) + " of " +
                      std::to_string(options_.budget) + ", mean JCT x " +
                      shortest(std::round(ratio * 1000) / 1000) + " of the defaults'");
  }

  std::vector<std::vector<Scenario>> replicas_;  // by cell
  std::string policy_;
  RunOptions run_;
  TuneOptions options_;
  std::vector<Field> numbers_;
  Tuned tuned_;
  double least_ = kInfinity;
};

}  // namespace

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

Tuned tune(const std::vector<Scenario>& cells, const std::string& policy, const RunOptions& run,
           const TuneOptions& options) {
  return Search(cells, policy, run, options).run();
}

size_t best_of(const std::vector<Tuned>& tuned) {
  const auto less = [](const Tuned& a, const Tuned& b) {
    return log_sum(a.jct_s) < log_sum(b.jct_s);
  };
  return static_cast<size_t>(std::min_element(tuned.begin(), tuned.end(), less) - tuned.begin());
}

std::string tuned_yaml(const Tuned& tuned, const std::vector<Scenario>& cells,
                       const TuneOptions& options) {
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
  entry("budget", std::to_string(options.budget));
  entry("refused", std::to_string(tuned.refused));
  entry("replicas", std::to_string(options.replicas));
  entry("seed", std::to_string(options.seed));
  entry("ratio_to_defaults", shortest(tuned.ratio));
  out << YAML::Key << "cells" << YAML::Value << YAML::BeginMap;
  for (size_t c = 0; c < cells.size(); ++c) {
    const Scenario& cell = cells[c];
    out << YAML::Key << "cell_" + std::to_string(c + 1) << YAML::Value << YAML::BeginMap;
    // The name alone: the file is to say the same wherever the traces lie.
    entry("trace", std::filesystem::path(cell.trace.source).filename().string());
    entry("sha256", cell.trace.sha256);
    entry("cluster", cell.cluster.text);
    entry("from_s", format_seconds(cell.window.from_us));
    entry("to_s", format_seconds(cell.window.to_us));
    entry("scored_jobs", std::to_string(cell.window.scored));
    if (cell.congestion > 0) entry("congestion", shortest(cell.congestion));
    entry("arrival_factor", shortest(cell.factor));
    if (!std::isnan(cell.load)) entry("load", shortest(cell.load));
    entry("cost_scale", shortest(cell.cost_scale));
    entry("default_mean_jct_s", shortest(tuned.default_jct_s[c]));
    entry("mean_jct_s", shortest(tuned.jct_s[c]));
    out << YAML::EndMap;
  }
  out << YAML::EndMap << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace yard
