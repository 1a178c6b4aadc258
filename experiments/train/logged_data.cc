#include "experiments/train/logged_data.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "agents/rollout/log_env.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/sim/rulesets/rule_set.h"
#include "env/task/agent.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/run/parallel.h"
#include "experiments/train/training_gain.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"

namespace yard {

Agreement agreement_of(const Checkpoint& checkpoint, const RecordedChoices& choices) {
  const auto net = network_of(checkpoint, "training");
  const std::vector<int64_t> offset = choices.row_offsets();
  const auto steps = static_cast<size_t>(choices.size());
  constexpr size_t kPiece = 512;
  std::vector<uint8_t> agrees(steps), has_choice(steps), action_steps(steps);
  parallel_for_each_index(static_cast<int>((steps + kPiece - 1) / kPiece), [&](int piece) {
    const auto n = static_cast<size_t>(choices.shape.actions());
    GoldenState state;
    state.jobs.resize(static_cast<size_t>(choices.shape.rows * choices.shape.row_features));
    state.cluster.resize(static_cast<size_t>(choices.shape.cluster_features));
    state.prior.resize(n);
    state.mask.resize(n);
    state.slots.resize(n);
    std::vector<float> logits(n);
    const size_t from = static_cast<size_t>(piece) * kPiece;
    for (size_t i = from; i < std::min(from + kPiece, steps); ++i) {
      Observation seen = state.observation();
      choices.write_observation(static_cast<int64_t>(i), offset[i], seen);
      net->forward(seen, logits);
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      agrees[i] = best == seen.expert_action;
      has_choice[i] = seen.choices + seen.mask[n - 1] > 1;
      action_steps[i] = seen.expert_action != choices.shape.rows;
    }
  });
  Agreement out;
  std::map<int32_t, bool> reproduced;
  for (size_t i = 0; i < steps; ++i) {
    bool& all = reproduced.try_emplace(choices.decision[i], true).first->second;
    all = all && agrees[i] != 0;
    if (has_choice[i] == 0) continue;
    ++out.steps;
    out.agreed += agrees[i];
    out.action_steps += action_steps[i];
    out.action_steps_agreed += action_steps[i] & agrees[i];
  }
  for (const int32_t number : choices.missed_decision) reproduced[number] = false;
  out.unrepresentable = static_cast<int64_t>(choices.missed_decision.size());
  for (const auto& [number, all] : reproduced) {
    ++out.decisions;
    out.reproduced += all;
    out.by_decision.emplace_back(number, all);
  }
  return out;
}

LoggedData::LoggedData(const DecisionLogTrainingFiles& folder, double held_out) : folder_(folder) {
  const std::string path = folder.choices_path().string();
  const RecordedChoices all = unpack_choices(from_safetensors(read_file(path), path),
                                             make_agent("dispatcher", {})->shape(), path);
  const auto& time_s = all.time_s;
  const float over = time_s.empty() ? 0 : *std::ranges::max_element(time_s);
  const auto limit = static_cast<float>((1 - held_out) * static_cast<double>(over));
  const auto from = std::ranges::find_if(time_s, [&](float s) { return s > limit; });
  const int64_t cut = from - time_s.begin();
  learned_ = all.step_range(0, cut);
  held_out_ = all.step_range(cut, all.size());
  if (learned_.size() == 0 || held_out_.size() == 0) {
    throw InputError("validate_share", "a share that leaves decisions on both sides of the split",
                     std::to_string(learned_.size()) + " before, " +
                         std::to_string(held_out_.size()) + " after");
  }
}

std::unique_ptr<VectorEnv> LoggedData::worlds(const TrainableAgent&,
                                              const VectorEnvOptions& options) const {
  return make_log_env(learned_, options);
}

std::string LoggedData::gain_description(const Checkpoint& best,
                                         const Checkpoint& untrained) const {
  const Agreement ours = agreement_of(best, held_out_), before = agreement_of(untrained, held_out_);
  // Neighbouring decisions are correlated, so the interval is over at most 20 blocks of at least 10
  // decisions. With fewer than 6 blocks there is no interval.
  constexpr size_t kMinBlocks = 6;
  const size_t count = ours.by_decision.size();
  if (count == 0) return "";
  const size_t blocks = std::clamp<size_t>(count / 10, 1, 20);
  const auto shares = [&](const Agreement& of) {
    std::vector<double> out(blocks);
    for (size_t b = 0; b < blocks; ++b) {
      const size_t from = b * count / blocks, to = (b + 1) * count / blocks;
      for (size_t i = from; i < to; ++i) out[b] += of.by_decision[i].second ? 1 : 0;
      out[b] /= static_cast<double>(to - from);
    }
    return out;
  };
  AgreementGain gain = agreement_gain(shares(ours), shares(before));
  if (blocks < kMinBlocks) gain.interval = {NAN, NAN};
  std::string interval;
  if (!std::isnan(gain.interval.lo)) {
    interval = fmt::format(" [{:.3f}, {:.3f}] over {} blocks of time", gain.interval.lo,
                           gain.interval.hi, blocks);
  }
  return fmt::format(
      "the best checkpoint reproduces {} of the log's {} held-out decisions, the untrained network "
      "{}: difference {:+.3f}{} on the decisions that selected the checkpoint: {}",
      ours.reproduced, ours.decisions, before.reproduced,
      static_cast<double>(ours.reproduced - before.reproduced) /
          static_cast<double>(ours.decisions),
      interval, verdict_of(gain));
}

Envelope LoggedData::envelope(const Checkpoint& checkpoint) const {
  ScenarioOptions options;
  options.trace = folder_.jobs(0).string();
  options.cluster = folder_.cluster().string();
  Scenario scenario = load_scenario(options);
  if (!folder_.fit().value("may_preempt", true)) {
    scenario.allow({.preempt = false, .move = false});
  }
  const std::unique_ptr<Policy> policy = policy_of(checkpoint, "training");
  PolicyDecider decider(*policy);
  Envelope out;
  EnvelopeRecorder recorder(decider, out);
  Replay replay{.fixed = scenario.fixed,
                .workload = scenario.workload,
                .end_job = scenario.workload.size(),
                .policy = "training data",
                .placement = "",
                .settings = {},
                .decider = &recorder,
                .watch = {}};
  RuleSetRegistry::make("default", {})->replay(replay);
  return out;
}

nlohmann::ordered_json LoggedData::provenance() const {
  return {{"log", name()},
          {"log_sha256", sha256()},
          {"decided_by", folder_.fit().at("decided_by")},
          {"decisions", folder_.fit().at("decisions")},
          {"steps", learned_.size()},
          {"steps_held_out", held_out_.size()}};
}

std::string LoggedData::name() const { return "decision log"; }

}  // namespace yard
