#include "experiments/search/fit_hazards.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "env/base/text/text.h"
#include "env/predict/hazard.h"
#include "env/predict/job_size.h"
#include "env/predict/prior_strength.h"

namespace yard {
namespace {

constexpr size_t kBins = TimeBins::kBins;
// Prior hazard of all sizes, its prior strength, and the prior strength of all sizes for one.
constexpr float kRootHazard = 0.075F, kRootPriorStrength = 3, kAllPriorStrength = 10;

void add(HazardCounts& row, int64_t seen_us, bool ended) {
  const auto last = static_cast<size_t>(TimeBins::bin_of_us(seen_us));
  for (size_t b = 0; b < last; ++b) row.exposed[b] += 1;
  if (!ended) return;
  row.exposed[last] += 1;
  row.ended[last] += 1;
}

}  // namespace

std::vector<double> fit_hazards(const Scenario& scenario) {
  const std::vector<Job>& jobs = scenario.simulated_trace().jobs;
  std::vector<HazardCounts> rows(1 + kJobSizes, HazardCounts{});
  for (size_t j = 0; j < jobs.size(); ++j) {
    if (!scenario.workload.scored(static_cast<int32_t>(j))) continue;
    const int64_t run_us = jobs[j].run_us;
    const int64_t seen_us = std::min(run_us, scenario.window.to_us - jobs[j].submit_us);
    add(rows[0], seen_us, seen_us == run_us);
    add(rows[1 + static_cast<size_t>(gpu_size_bucket(jobs[j].gpus))], seen_us, seen_us == run_us);
  }
  std::vector<double> hazards;
  for (size_t k = 1; k < rows.size(); ++k) {
    for (size_t b = 0; b < kBins; ++b) {
      const float any =
          posterior_hazard(rows[0].exposed[b], rows[0].ended[b], kRootPriorStrength, kRootHazard);
      hazards.push_back(
          posterior_hazard(rows[k].exposed[b], rows[k].ended[b], kAllPriorStrength, any));
    }
  }
  return hazards;
}

std::string hazards_policy_yaml(const std::vector<double>& hazards, const Scenario& scenario) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "policy" << YAML::Value << "gittins-fitted";
  out << YAML::Key << "settings" << YAML::Value << YAML::BeginMap;
  out << YAML::Key << "hazards" << YAML::Value << YAML::Flow << YAML::BeginSeq;
  for (const double x : hazards) out << shortest_text(std::round(x * 1e6) / 1e6);
  out << YAML::EndSeq << YAML::EndMap;
  out << YAML::Key << "provenance" << YAML::Value << YAML::BeginMap;
  // Name only: the file does not depend on the trace's folder.
  out << YAML::Key << "trace" << YAML::Value
      << std::filesystem::path(scenario.trace.source).filename().string();
  out << YAML::Key << "sha256" << YAML::Value << scenario.trace.sha256;
  out << YAML::Key << "jobs" << YAML::Value << scenario.window.scored << YAML::EndMap;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

}  // namespace yard
