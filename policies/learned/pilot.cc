#include "policies/learned/pilot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/core/rng.h"
#include "policies/decision_trace.h"
#include "policies/joint.h"

namespace yard {
namespace {

constexpr uint64_t kSampleSeed = 0x70696C6F74;

// What a site allows. It can restrict a checkpoint's task, not extend it.
struct SitePermissions {
  bool preempt = true, move = true, hold = true, choose_type = true;
  void fields(FieldList& f) {
    f("preempt", preempt, "allow preemption of running jobs for waiting ones");
    f("move", move, "allow migration of running jobs");
    f("hold", hold, "allow a job to wait for a better placement");
    f("choose_type", choose_type, "distinguish GPU types by speed");
  }
};

class Pilot final : public TracedPolicy {
 public:
  Pilot(const PilotTask& task, const Checkpoint& checkpoint, const std::string& where)
      : task_(task), joint_(task.joint()) {
    if (checkpoint.network != "none") net_ = network_of(checkpoint, where);
  }

  Level level() const override { return JointTask::kLevel; }

  size_t memory_bytes(const View& view) const override { return JointTask::memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    choose(view, memory, draft, nullptr);
  }

  void decide_traced(const View& view, Memory& memory, Draft& draft,
                     DecisionTrace& choices) const override {
    if (net_ && task_.temperature > 0) choices.sample_key = static_cast<uint64_t>(view.now_us());
    choose(view, memory, draft, &choices);
  }

 private:
  void choose(const View& view, Memory& memory, Draft& draft, DecisionTrace* choices) const {
    decide_jointly(joint_.joint, joint_.index, view, memory, draft, [&](const Joint& joint) {
      return net_ ? pick(view, joint, choices) : joint.expert_action();
    });
  }

  // Returns the network's choice among the options of the current job.
  int32_t pick(const View& view, const Joint& joint, DecisionTrace* choices) const {
    std::array<float, size_t{JointTask::kJobs} * JointTask::kJobFeatures> jobs;
    std::array<float, JointTask::kClusterFeatures> cluster;
    std::array<float, JointTask::kActions> prior, logits;
    std::array<uint8_t, JointTask::kActions> mask;
    std::array<int32_t, JointTask::kJobs> options;
    Observation o{};
    o.jobs = jobs.data();
    o.cluster = cluster.data();
    o.prior = prior.data();
    o.mask = mask.data();
    o.slots = options.data();
    o.filled = 0;  // rows that do not exist are not read
    JointTask::observe(view, joint_, joint, o);
    net_->forward(o, logits);
    if (!std::ranges::all_of(logits, [](float v) { return std::isfinite(v); })) throw NonFinite();
    const int32_t action =
        task_.temperature > 0
            ? sample(view, joint, logits)
            : static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
    if (choices != nullptr) choices->steps.push_back(traced_step(joint, logits, action));
    return action == JointTask::kNothing ? Joint::kStay : options[static_cast<size_t>(action)];
  }

  using Weights = std::array<double, JointTask::kActions>;

  // Returns the weights of the tempered distribution; adds their total to `sum`.
  Weights weights(const std::array<float, JointTask::kActions>& logits, double& sum) const {
    const float max_logit = *std::ranges::max_element(logits);
    Weights weight;
    for (size_t a = 0; a < logits.size(); ++a) {
      weight[a] = logits[a] <= kMaskedLogit / 2
                      ? 0
                      : std::exp(static_cast<double>(logits[a] - max_logit) / task_.temperature);
      sum += weight[a];
    }
    return weight;
  }

  // Records the options of one job: their logits, not their placements.
  DecisionStep traced_step(const Joint& joint, const std::array<float, JointTask::kActions>& logits,
                           int32_t action) const {
    DecisionStep step;
    for (int32_t a = 0; a < JointTask::kActions; ++a) {
      const float logit = logits[static_cast<size_t>(a)];
      if (logit <= kMaskedLogit / 2) continue;
      if (a == action) step.chosen = static_cast<int32_t>(step.options.size());
      step.options.push_back({a == JointTask::kNothing ? kNone : joint.current_job(), logit});
    }
    if (task_.temperature > 0) {
      double sum = 0;
      step.probability = weights(logits, sum)[static_cast<size_t>(action)] / sum;
    }
    return step;
  }

  // Samples from the tempered distribution. The key consists of the time, the job's submission and
  // the number of the question, so that the same request has the same answer.
  int32_t sample(const View& view, const Joint& joint,
                 const std::array<float, JointTask::kActions>& logits) const {
    double sum = 0;
    const Weights weight = weights(logits, sum);
    Rng rng = Rng(kSampleSeed)
                  .split(static_cast<uint64_t>(view.now_us()))
                  .split(static_cast<uint64_t>(view.submit_us(joint.current_job())))
                  .split(static_cast<uint64_t>(joint.visit_number()))
                  .split(static_cast<uint64_t>(joint.visits_running()));
    double left = rng.uniform() * sum;
    int32_t last = JointTask::kNothing;
    for (size_t a = 0; a < weight.size(); ++a) {
      if (weight[a] == 0) continue;
      last = static_cast<int32_t>(a);
      left -= weight[a];
      if (left < 0) break;
    }
    return last;
  }

  PilotTask task_;
  JointTaskConfig joint_;
  std::unique_ptr<NativeNetwork> net_;  // null: the rule alone
};

class PilotLoader final : public LearnedAgent {
 public:
  explicit PilotLoader(const Settings& settings) { parse<NoConfig>(settings); }

  TaskShape shape() const override { return JointTask::kShape; }

  // Names in the order of the enums in env/task/joint_task.h.
  std::string feature_schema() const override {
    return "joint 1, 32 options: rate seconds type_log2 harm left_over spread stop clear "
           "gpus_moved worth over_stay suggested; moment: length left size gain waited attained "
           "preempted runs best_over_stay stay_suggested queue free waiting live may_preempt "
           "may_move may_hold may_choose_type";
  }

  std::unique_ptr<Policy> policy(const Checkpoint& checkpoint, const std::string& where,
                                 const Settings& settings) const override {
    const auto permissions = parse<SitePermissions>(settings);
    PilotTask task = pilot_from(checkpoint.task);
    task.rule.preempt &= permissions.preempt;
    task.rule.move &= permissions.move;
    task.rule.hold &= permissions.hold;
    task.rule.choose_type &= permissions.choose_type;
    return std::make_unique<Pilot>(task, checkpoint, where);
  }

  Policy::Info info(const Checkpoint& checkpoint) const override {
    return {.about = "order, GPU type, placement, preemption and migration together, trained",
            .source = "this project",
            .fidelity = "ours",
            .level = JointTask::kLevel,
            .servable = true,
            .preemptive = pilot_from(checkpoint.task).rule.preempt,
            .fields = describe<SitePermissions>};
  }
};

const LearnedRegistry::Add<PilotLoader> kPilot{"pilot", {}};

}  // namespace

void PilotPrior::fields(FieldList& f) {
  f("prior_slope", prior_slope, 0.0, 100.0,
    "prior logit lost per doubling by which an option's score is below the best");
  f("prior_gap", prior_gap, 0.0, 100.0,
    "prior logit lost by every option except the suggested one");
  f("temperature", temperature, 0.0, 10.0,
    "temperature at which served decisions are sampled; 0: always take the best");
}

void PilotTask::fields(FieldList& f) {
  rule.fields(f);
  PilotPrior::fields(f);
}

JointTaskConfig PilotTask::joint() const {
  JointTaskConfig out(rule);
  out.prior_slope = static_cast<float>(prior_slope);
  out.prior_gap = static_cast<float>(prior_gap);
  return out;
}

nlohmann::ordered_json pilot_json(const PilotTask& task) {
  nlohmann::ordered_json out = {{"name", "joint"}};
  for (const auto& [key, value] : record(task)) out[key] = value;
  return out;
}

PilotTask pilot_from(const nlohmann::ordered_json& json) {
  return parse<PilotTask>(task_settings(json));
}

Checkpoint rule_checkpoint(const PilotTask& task) {
  Checkpoint out;
  out.agent = "pilot";
  out.network = "none";
  out.task = pilot_json(task);
  return out;
}

}  // namespace yard
