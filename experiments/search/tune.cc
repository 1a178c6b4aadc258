#include "experiments/search/tune.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "experiments/search/cma_es.h"

namespace yard {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kDecades = 100;    // from this ratio of its ends on, a range is logarithmic
constexpr double kLogBegin = 1e-3;  // where a logarithmic range from 0 begins, relative to its end
bool by_logarithm(const Field& field) {
  return field.min > 0 ? field.max / field.min >= kDecades : field.min == 0 && field.max >= 10;
}

double log_begin(const Field& field) { return field.min > 0 ? field.min : field.max * kLogBegin; }

double log_sum(const std::vector<double>& jct_s) {
  double sum = 0;
  for (const double of_cell : jct_s) sum += std::log(of_cell);
  return sum;
}

class TuneSearch {
 public:
  TuneSearch(const std::vector<TuneCell>& cells, const std::string& policy, const RunOptions& run,
             const TuneOptions& options)
      : evaluator_(cells, options.results),
        policy_(policy),
        run_(run),
        options_(options),
        numbers_(free_numeric_settings(policy, run.policy)) {}

  TuningResult run() {
    tuned_.policy = policy_;
    tuned_.level = prepare(policy_, run_).level;
    tuned_.speeds = run_.speeds;
    tuned_.fixed = run_.policy;
    Point start;
    for (const Field& field : numbers_) {
      start.push_back(to_unit_interval(field, parse_double(field.value).value_or(field.min)));
      tuned_.settings.emplace_back(field.key, field.value);
    }
    const auto score = [&](const std::vector<Point>& points) {
      std::vector<RunOptions> how;
      for (const Point& point : points) how.push_back(options_at(point));
      // The defaults keep their exact text, without the rounding of the unit range.
      const bool first = tuned_.evaluated == 0;
      if (first) how.front() = run_;
      const std::vector<MeanJcts> jct_s = evaluator_.evaluate(policy_, how);
      std::vector<double> values;
      for (size_t i = 0; i < points.size(); ++i) {
        ++tuned_.evaluated;
        tuned_.refused += jct_s[i].empty();
        values.push_back(jct_s[i].empty() ? kInfinity : log_sum(jct_s[i]));
        if (first && i == 0) {
          tuned_.default_jct_s = tuned_.jct_s = jct_s[i];
          best_value_ = values[i];
        } else if (values[i] < best_value_) {
          best_value_ = values[i];
          tuned_.jct_s = jct_s[i];
          for (size_t k = 0; k < numbers_.size(); ++k) {
            tuned_.settings[k].second = text_from_unit_interval(numbers_[k], points[i][k]);
          }
        }
      }
      if (options_.progress) {
        options_.progress(policy_ + ": " + std::to_string(tuned_.evaluated) + " of " +
                          std::to_string(options_.budget) + ", mean JCT " +
                          shortest_text(std::round(ratio() * 1000) / 1000) +
                          " times the defaults'");
      }
      return values;
    };
    minimise(start, score, options_.budget, options_.seed);
    tuned_.ratio = ratio();
    return tuned_;
  }

 private:
  RunOptions options_at(const Point& point) const {
    RunOptions how = run_;
    for (size_t i = 0; i < point.size(); ++i) {
      how.policy.set(numbers_[i].key, text_from_unit_interval(numbers_[i], point[i]), "tune");
    }
    return how;
  }

  double ratio() const {
    const auto cells = static_cast<double>(tuned_.jct_s.size());
    return std::exp((log_sum(tuned_.jct_s) - log_sum(tuned_.default_jct_s)) / cells);
  }

  CandidateEvaluator evaluator_;
  std::string policy_;
  RunOptions run_;
  TuneOptions options_;
  std::vector<Field> numbers_;
  TuningResult tuned_;
  double best_value_ = kInfinity;
};

}  // namespace

std::vector<Field> free_numeric_settings(const std::string& policy, const Settings& given) {
  std::vector<Field> numbers;
  for (Field& field : PolicyRegistry::info(policy).fields()) {
    const bool number = field.type == "number" || field.type == "integer";
    if (number && given.find(field.key) == nullptr) numbers.push_back(std::move(field));
  }
  if (numbers.empty()) {
    throw InputError("--policy", "a policy with numeric settings that are not set",
                     "'" + policy + "'");
  }
  return numbers;
}

std::string text_from_unit_interval(const Field& field, double unit) {
  const double value = from_unit_interval(field, unit);
  if (field.type == "integer") return shortest_text(std::llround(value));
  // Four digits: the resolution of the search, and readable.
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::max(std::abs(value), 1e-12))));
  const double rounded = value == 0 ? 0 : std::round(value * scale) / scale;
  return shortest_text(std::clamp(rounded, field.min, field.max));
}

double to_unit_interval(const Field& field, double value) {
  if (!by_logarithm(field)) {
    return field.max > field.min ? (value - field.min) / (field.max - field.min) : 0;
  }
  const double begin = log_begin(field);
  if (value <= begin) return 0;
  return std::log(value / begin) / std::log(field.max / begin);
}

double from_unit_interval(const Field& field, double unit) {
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

TuningResult tune(const std::vector<TuneCell>& cells, const std::string& policy,
                  const RunOptions& run, const TuneOptions& options) {
  return TuneSearch(cells, policy, run, options).run();
}

size_t best_of(const std::vector<TuningResult>& tuned) {
  const auto sum_of = [](const TuningResult& one) { return log_sum(one.jct_s); };
  return static_cast<size_t>(std::ranges::min_element(tuned, {}, sum_of) - tuned.begin());
}

std::string tuned_yaml(const TuningResult& tuned, const std::vector<TuneCell>& cells,
                       const TuneOptions& options) {
  YAML::Emitter out;
  const auto entry = [&](const std::string& key, const std::string& value) {
    out << YAML::Key << key << YAML::Value << value;
  };
  out << YAML::BeginMap;
  entry("policy", tuned.policy);
  out << YAML::Key << "settings" << YAML::Value << YAML::BeginMap;
  for (const GivenSetting& setting : tuned.fixed.entries()) entry(setting.key, setting.value);
  for (const auto& [key, value] : tuned.settings) entry(key, value);
  out << YAML::EndMap;
  out << YAML::Key << "provenance" << YAML::Value << YAML::BeginMap;
  entry("budget", std::to_string(options.budget));
  entry("refused", std::to_string(tuned.refused));
  entry("seed", std::to_string(options.seed));
  if (tuned.speeds != SpeedInformation::kExact)
    entry("speeds", speed_information_name(tuned.speeds));
  entry("ratio_to_defaults", shortest_text(tuned.ratio));
  out << YAML::Key << "cells" << YAML::Value << YAML::BeginMap;
  for (size_t c = 0; c < cells.size(); ++c) {
    const Scenario& cell = cells[c].scenario;
    out << YAML::Key << cells[c].name << YAML::Value << YAML::BeginMap;
    if (!cells[c].hash.empty()) entry("hash", cells[c].hash);
    // Name only: the file does not depend on the trace's folder.
    entry("trace", std::filesystem::path(cell.trace.source).filename().string());
    entry("sha256", cell.trace.sha256);
    entry("cluster", cell.cluster.text);
    entry("from_s", format_seconds(cell.window.from_us));
    entry("to_s", format_seconds(cell.window.to_us));
    entry("scored_jobs", std::to_string(cell.window.scored));
    entry("replicas", std::to_string(cells[c].replicas.size()));
    if (cell.congestion > 0) entry("congestion", shortest_text(cell.congestion));
    entry("arrival_factor", shortest_text(cell.factor));
    if (!std::isnan(cell.load)) entry("load", shortest_text(cell.load));
    entry("cost_scale", shortest_text(cell.cost_scale));
    entry("default_mean_jct_s", shortest_text(tuned.default_jct_s[c]));
    entry("mean_jct_s", shortest_text(tuned.jct_s[c]));
    out << YAML::EndMap;
  }
  out << YAML::EndMap << YAML::EndMap << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace yard
