#include "experiments/scenario/type_notes.h"

#include <algorithm>

#include "env/base/text/text.h"
#include "env/cluster/parse.h"
#include "env/cluster/ready.h"
#include "env/sim/rulesets/speed_estimator.h"
#include "env/trace/core/notices.h"

namespace yard {
namespace {

// Whether no file describes the type: default speed, no memory, price or power.
bool is_bare(const GpuType& type) {
  return type.name != kDefaultType && type.speed == 1 && type.mem_gib == 0 &&
         type.speed_of_model.empty() && type.price_per_h == 0 && type.busy_w == 0 &&
         type.source.empty() && type.shares == Shares::kNone;
}

// Whether a profile has speeds on the type or a job requests it.
bool is_named(const std::string& type, const Scenario& scenario) {
  const auto is_it = [&](const std::string& name) { return lower_case(name) == lower_case(type); };
  for (const Job& job : scenario.trace.jobs) {
    if (std::ranges::any_of(job.gpu_types, is_it)) return true;
  }
  return scenario.speeds &&
         std::ranges::any_of(scenario.speeds->profiles().models, [&](const ModelProfile& model) {
           return std::ranges::any_of(model.runs, is_it, &MeasuredRun::gpu_type);
         });
}

}  // namespace

std::vector<std::string> gpu_type_notes(const Scenario& scenario) {
  std::vector<std::string> notes, bare, equal;
  for (const GpuType& type : scenario.cluster.types) {
    if (is_bare(type)) bare.push_back(type.name);
  }
  if (bare.empty()) return notes;
  const std::vector<std::string> ready = predefined_gpu_types();
  for (const std::string& type : bare) {
    const bool described = std::ranges::any_of(
        ready, [&](const std::string& name) { return lower_case(name) == lower_case(type); });
    if (is_named(type, scenario)) continue;
    equal.push_back(type);
    if (described) continue;
    notes.push_back("GPU type '" + type +
                    "' is unknown: no job, profile or ready-made cluster names it. It gets speed 1 "
                    "and no memory size; describe it in a YAML file "
                    "(docs/guides/describe-a-cluster.md)" +
                    (ready.empty() ? "" : ". Known types: " + join(ready)));
  }
  if (scenario.cluster.types.size() > 1 && equal.size() == scenario.cluster.types.size()) {
    notes.push_back("GPU types " + join(equal) +
                    " are assumed to be equally fast; set their speeds with --profiles or in a "
                    "cluster's YAML file (docs/guides/describe-a-cluster.md)");
  }
  return notes;
}

std::string unused_speeds_note(const Scenario& scenario, SpeedInformation speeds) {
  const SimModel& f = scenario.fixed;
  const bool measured = f.speed.num_kinds > 0, said = f.jobs.model_speed != nullptr;
  if (speeds == SpeedInformation::kExact || measured || said) return "";
  return std::string("--speeds ") + speed_information_name(speeds) +
         " has no effect: no job here has a model with known speeds (set them with --profiles or "
         "in a cluster's YAML file)";
}

std::vector<std::string> scenario_notes(const Scenario& scenario, SpeedInformation speeds) {
  std::vector<std::string> lines;
  for (const CountedRows& what : scenario.trace.skipped)
    lines.push_back(format_left_out_rows(what));
  const auto note = [&](const std::string& text) { lines.push_back("note: " + text); };
  for (const CountedRows& what : scenario.trace.notices) note(format_notice(what));
  for (const std::string& text : gpu_type_notes(scenario)) note(text);
  if (const std::string text = unused_speeds_note(scenario, speeds); !text.empty()) note(text);
  return lines;
}

}  // namespace yard
