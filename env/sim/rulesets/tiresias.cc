// Rules of the simulator of Tiresias (Gu et al., NSDI 2019), job for job: pure events in whole
// seconds, no costs, progress survives preemption. An end and an arrival at one time are one event:
// ends, then arrivals, then placement.
//
//   fifo          strict head of line         sjf           fewest GPUs first, preemptive
//   fjf           skips what does not fit     shortest      shortest remaining time, preemptive
//   dlas, ...     see tiresias_dlas.cc        shortest-gpu  shortest remaining time x GPUs
//
//   count  GPUs are counted, not placed: ours are free GPUs in node order
//   yarn   see YarnPlacer; the dlas policies count whatever the placement
//
// Differences from the original: under yarn with sjf and shortest*, the original does not return a
// node's memory when it places all jobs again, and stops with an error after some 51 placements on
// a node. We go on. CPU and host memory are not counted (with 64 CPUs and 256 GB on a node of up to
// 8 GPUs neither is short, up to 210 GPUs per job). A job of less than a second ends in its own
// event right after its start; the original's fifo and fjf never end it.

#include "env/sim/rulesets/tiresias.h"

#include <cctype>
#include <optional>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/sim/rulesets/fifo_engine.h"

namespace yard {
namespace {

constexpr std::string_view kStarvation = "dlas-gpu-";

// Reads the N of dlas-gpu-N; the original writes 0.5 as "05".
std::optional<double> parse_starvation(std::string_view text) {
  const bool fraction = text.size() > 1 && text[0] == '0' && std::isdigit(text[1]) != 0;
  const auto value =
      fraction ? parse_double("0." + std::string(text.substr(1))) : parse_double(text);
  return value && *value > 0 && *value <= 1e9 ? value : std::nullopt;
}

DlasMode dlas_mode(const std::string& policy) {
  if (policy == "dlas") return {};
  if (policy == "dlas-gpu") return {.gpu_time = true};
  const auto n = parse_starvation(std::string_view(policy).substr(kStarvation.size()));
  if (n) return {.gpu_time = true, .starvation = *n};
  throw InputError("policy under rules 'tiresias'", "dlas-gpu-N with N above 0",
                   "'" + policy + "'");
}

Outcome replay_tiresias(const Replay& replay, const NoConfig&) {
  const std::string& policy = replay.policy;
  RuleSetSimBySlot sim(replay, "tiresias");
  if (policy.starts_with("dlas")) return replay_dlas(sim, dlas_mode(policy), replay.fixed);
  std::optional<YarnPlacer> yarn;
  if (sim.placement() == "yarn") yarn.emplace(replay.fixed.spec);
  const YarnPlacer* placer = yarn ? &*yarn : nullptr;
  if (policy == "fifo" || policy == "fjf") {
    return replay_fifo(sim, {.placer = placer, .skips = policy == "fjf"}, replay);
  }
  const SortedBy order = policy == "sjf"        ? SortedBy::kGpus
                         : policy == "shortest" ? SortedBy::kRemaining
                                                : SortedBy::kRemainingGpus;
  return replay_sorted(sim, order, replay.fixed.spec, placer);
}

const RuleSetRegistry::Add<FunctionRuleSet<NoConfig, replay_tiresias>> kTiresias{
    "tiresias",
    {.about = "events in whole seconds, no costs, no slowdown",
     .source = "Tiresias, NSDI 2019",
     .fidelity = "exact job for job, including its bugs in dlas; yarn with sjf and shortest* "
                 "continues where the original fails because it does not return host memory",
     .policies = {"fifo", "fjf", "sjf", "shortest", "shortest-gpu", "dlas", "dlas-gpu",
                  "dlas-gpu-N"},
     .placements = {"yarn", "count"},
     .oracles = {"shortest", "shortest-gpu"}}};

}  // namespace
}  // namespace yard
