// Agent `pilot`: waiting jobs, in the order of an index, each choose one of their options
// (env/sim/placement/options.h) or, with the no-op, keep waiting. Then running jobs may move. The
// expert is the rule of env/scheduling/joint.h; prior logits fall with an option's score under it.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/predict/survival_index.h"
#include "env/scheduling/joint.h"
#include "env/task/agent.h"

namespace yard {
namespace {

using JointIndex = SurvivalPriorityIndex<InformationLevel::kHistory, JointConfig, Attained::kWork>;

constexpr float kTimeUnit = 1.0F / 8;
constexpr int32_t kMaxOptions = 32;

struct OptionFeatures {
  float rate, seconds, type_log2, interference_cost, left_over, spread, preempt, move_others;
  float gpus_moved, score, score_over_wait, expert_action;
};
struct StateFeatures {
  float length, left, size, gain, waited, attained, preempted, runs, best_score_over_wait;
  float expert_stays, queue, free, waiting, live, may_preempt, may_move, may_hold, may_choose_type;
};

// How a network's scores are combined with the rule.
struct PriorConfig {
  double prior_slope = 1;
  double prior_gap = 2;
  double temperature = 0;

  void fields(FieldList& f) {
    f("prior_slope", prior_slope, 0.0, 100.0, "logit penalty per doubling of the rule's score");
    f("prior_gap", prior_gap, 0.0, 100.0, "logit penalty of all actions except the expert action");
    f("temperature", temperature, 0.0, 10.0,
      "temperature at which a trained network's decisions are sampled; 0: best action only");
  }
};

struct Config : JointIndex::Config, PriorConfig {
  void fields(FieldList& f) {
    JointIndex::Config::fields(f);
    PriorConfig::fields(f);
  }
};

// What a user sets: `rule` stands for the settings in a file. Each may be set beside it, too.
struct GivenConfig : Config {
  std::string rule;
  void fields(FieldList& f) {
    f("rule", rule, "policy file of `joint`, written by evolve or tune; empty: joint's defaults");
    Config::fields(f);
  }
};

Config config_of(Settings given) {
  const std::string file = parse<GivenConfig>(given).rule;
  Settings all;
  if (!file.empty()) {
    if (!std::filesystem::exists(file)) {
      throw InputError("rule", "a policy file, relative to the current folder",
                       "'" + file + "', which does not exist");
    }
    all = read_policy_file(file, "joint").settings;
  }
  for (const GivenSetting& s : given.entries()) {
    if (s.key != "rule") all.set(s.key, s.value, s.origin);
  }
  return parse<Config>(all);
}

float bounded(double value, double most) {
  return static_cast<float>(std::clamp(value, -most, most));
}

float scaled_log2_seconds(double seconds) {
  return (static_cast<float>(log2_coarse(std::max(seconds, 1.0))) - 12) * kTimeUnit;
}

void describe_option(const View& view, const JointScheduler& joint, size_t i, double best_score,
                     OptionFeatures& f) {
  const PlacementOption& option = joint.options()[i];
  const int32_t slot = joint.current_job();
  const JointScheduler::JobStats& job = joint.job_stats(slot);
  const double gpus = view.gpus_at_least_one(slot), rate = std::max(option.rate, kMinRate);
  f.rate = bounded(log2_coarse(rate / job.best), 8);
  f.seconds = scaled_log2_seconds(job.left_s * job.best / rate);
  f.type_log2 = option.type == kNone ? 0 : bounded(joint.type_rate_log2(option.type), 8);
  f.interference_cost = bounded(option.interference_cost / gpus, 4);
  f.left_over =
      static_cast<float>(option.left_over) / static_cast<float>(view.spec().max_node_gpus);
  f.spread = option.kind == OptionKind::kSpread;
  f.preempt = option.kind == OptionKind::kPreempt;
  f.move_others = option.kind == OptionKind::kMoveOthers;
  f.gpus_moved = bounded(option.gpus_moved / gpus, 4);
  f.score = bounded(joint.score(i) - best_score, 4);
  f.score_over_wait = bounded(joint.score(i) - joint.wait_score(), 4);
  f.expert_action = joint.expert_action() == static_cast<int32_t>(i);
}

void describe_moment(const View& view, const JointConfig& config, const JointScheduler& joint,
                     double best_score, StateFeatures& f) {
  const int32_t slot = joint.current_job();
  const JointScheduler::JobStats& job = joint.job_stats(slot);
  const auto total = static_cast<float>(view.total_gpus());
  f.length = bounded(job.length, 4);
  f.left = scaled_log2_seconds(job.left_s);
  f.size = bounded(joint.size(slot), 4);
  f.gain = bounded(job.gain, 4);
  f.waited = scaled_log2_seconds(
      static_cast<double>(view.now_us() - view.phase_or_rate_since_us(slot)) * 1e-6);
  f.attained = scaled_log2_seconds(static_cast<double>(view.attained_us(slot)) * 1e-6);
  f.preempted = log2_coarse(1.0 + view.times_preempted(slot)) * 0.5F;
  f.runs = joint.is_visiting_running_jobs();
  f.best_score_over_wait = bounded(best_score - joint.wait_score(), 4);
  f.expert_stays = joint.expert_action() == JointScheduler::kStay;
  f.queue = static_cast<float>(joint.waiting_gpu_share());
  f.free = static_cast<float>(view.free_gpus()) / total;
  f.waiting = log2_coarse(1.0 + view.num_waiting()) * kTimeUnit;
  f.live = static_cast<float>(view.num_live()) / 64;
  f.may_preempt = config.preempt && view.may_preempt();
  f.may_move = config.move && view.may_move();
  f.may_hold = config.hold;
  f.may_choose_type = config.choose_type;
}

// Returns the options which are listed: their indices into joint.options(). If there are more
// options than fit, which is rare, these are the ones with the highest scores.
std::vector<int32_t> listed_options(const JointScheduler& joint) {
  std::vector<int32_t> out(joint.options().size());
  std::iota(out.begin(), out.end(), 0);
  if (out.size() <= size_t{kMaxOptions}) return out;
  std::stable_sort(out.begin(), out.end(), [&](int32_t a, int32_t b) {
    return joint.score(static_cast<size_t>(a)) > joint.score(static_cast<size_t>(b));
  });
  out.resize(kMaxOptions);
  return out;
}

double best_score(const JointScheduler& joint, const ActionList& list) {
  double best = -1e9;
  for (const Action& a : list.actions)
    best = std::max(best, joint.score(static_cast<size_t>(a.index)));
  return best;
}

class Pilot final : public ConfiguredAgent<Config> {
 public:
  explicit Pilot(const Settings& settings)
      : ConfiguredAgent(config_of(settings)), index_(config_) {}

  int32_t max_actions() const override { return kMaxOptions; }
  std::vector<Feature> action_features() const override {
    return {{"rate", "log2 of its throughput over the job's best"},
            {"seconds", "log2 s that the job would still run there, minus 12, over 8"},
            {"type_log2", "log2 of what its GPU type gives jobs on average"},
            {"interference_cost", "interference cost per GPU of the job"},
            {"left_over", "GPUs left free on its nodes, in nodes"},
            {"spread", "1: over more nodes than needed"},
            {"preempt", "1: preempts other jobs"},
            {"move_others", "1: moves other jobs"},
            {"gpus_moved", "GPUs of jobs preempted or moved, per GPU of the job"},
            {"score", "score under the rule, minus the best option's"},
            {"score_over_wait", "score minus that of the no-op"},
            {"expert_action", "1: the rule would pick it"}};
  }
  std::vector<Feature> state_features() const override {
    return {{"length", "log8 of the job's seconds left over the mean"},
            {"left", "log2 s left at its best throughput, minus 12, over 8"},
            {"size", "log8 of its GPUs"},
            {"gain", "log2 of its gain from the best GPU type, relative to other jobs"},
            {"waited", "log2 s since it started to wait or run, minus 12, over 8"},
            {"attained", "log2 s run so far, minus 12, over 8"},
            {"preempted", "log2 of 1 + its preemptions, over 2"},
            {"runs", "1: it runs and may move"},
            {"best_score_over_wait", "score of its best option minus that of the no-op"},
            {"expert_noop", "1: the rule would take the no-op"},
            {"queue", "GPUs waited for over all GPUs, at most 1"},
            {"free", "share of GPUs free"},
            {"waiting", "log2 of 1 + waiting jobs, over 8"},
            {"live", "jobs in the system, over 64"},
            {"may_preempt", "1: running jobs may be preempted"},
            {"may_move", "1: running jobs may be moved"},
            {"may_hold", "1: a job may wait for a better placement"},
            {"may_choose_type", "1: GPU types may be chosen"}};
  }
  InformationLevel level() const override { return InformationLevel::kHistory; }
  PolicyWithSettings expert() const override {
    return policy_with_settings<JointIndex::Config>("joint", config_);
  }
  bool preempts() const override { return config_.preempt; }
  double temperature() const override { return config_.temperature; }

  size_t memory_bytes(const View& view) const override {
    return JointScheduler::bytes(view) + JointIndex::bytes(view);
  }
  void on_events(const View& view, AgentMemory& memory) const override {
    BumpAllocator bump(memory.data() + JointScheduler::bytes(view));
    const JointIndex::Evaluator now(index_, view, bump);  // updates the index
    JointScheduler::on_events(view, memory.data());
  }
  void begin_decision(const View& view, AgentMemory& memory) const override {
    if (is_idle(view)) return;
    BumpAllocator bump(memory.data() + JointScheduler::bytes(view));
    JointIndex::Evaluator now(JointIndex::Evaluator::kAttach, index_, view, bump);
    const auto joint = std::make_shared<JointScheduler>(config_, view, memory.data());
    joint->begin_round([&](int32_t slot) { return now.seconds(slot); });
    joint->next();
    memory.cache = joint;
  }

  void actions(const View& view, AgentMemory& memory, ActionList& out) const override {
    if (is_idle(view) || JointScheduler::current_job(view, memory.data()) == kNone) return;
    const JointScheduler& joint = joint_of(view, memory);
    for (const int32_t i : listed_options(joint)) {
      if (joint.expert_action() == i) out.expert = out.size();
      out.actions.push_back({.slot = joint.current_job(), .index = i});
    }
    out.noop_legal = joint.may_wait_or_stay();
    if (!out.needs_prior) return;
    double most = best_score(joint, out);
    if (out.noop_legal) most = std::max(most, joint.wait_score());
    const auto slope = static_cast<float>(config_.prior_slope);
    const auto gap = static_cast<float>(config_.prior_gap);
    const auto prior = [&](double score, bool expert_action) {
      return static_cast<float>(slope * std::max(score - most, -16.0)) - (expert_action ? 0 : gap);
    };
    for (int32_t i = 0; i < out.size(); ++i) {
      Action& a = out.actions[static_cast<size_t>(i)];
      a.prior = prior(joint.score(static_cast<size_t>(a.index)), i == out.expert);
    }
    out.noop_prior = prior(joint.wait_score(), out.expert == kNone);
  }

  void describe_actions(const View& view, AgentMemory& memory, const ActionList& list,
                        float* out) const override {
    const JointScheduler& joint = joint_of(view, memory);
    const double best = best_score(joint, list);
    for (const Action& a : list.actions) {
      describe_option(view, joint, static_cast<size_t>(a.index), best,
                      append_feature_row<OptionFeatures>(out));
    }
  }
  void describe_state(const View& view, AgentMemory& memory, const ActionList& list,
                      float* out) const override {
    const JointScheduler& joint = joint_of(view, memory);
    describe_moment(view, config_, joint, best_score(joint, list),
                    append_feature_row<StateFeatures>(out));
  }

  void apply(const View& view, AgentMemory& memory, const Action& action,
             Draft& draft) const override {
    JointScheduler& joint = joint_of(view, memory);
    joint.apply(action.is_noop() ? JointScheduler::kStay : action.index, draft);
    joint.next();
  }
  void commit(const View& view, AgentMemory& memory, Draft& draft) const override {
    if (!is_idle(view)) joint_of(view, memory).commit(draft);
  }

  // The same request has the same answer, whatever was asked before.
  std::vector<uint64_t> sampling_rng_keys(const View& view, const AgentMemory& memory,
                                          int) const override {
    const JointScheduler& joint = *static_cast<const JointScheduler*>(memory.cache.get());
    return {static_cast<uint64_t>(view.submit_us(joint.current_job())),
            static_cast<uint64_t>(joint.position_in_pass()),
            static_cast<uint64_t>(joint.is_visiting_running_jobs())};
  }

 private:
  // Nothing happens with no job in the system that could start or move.
  static bool is_idle(const View& view) {
    return view.num_waiting() == 0 && view.num_holders() == 0;
  }

  JointScheduler& joint_of(const View& view, AgentMemory& memory) const {
    if (memory.cache == nullptr) {
      const auto joint = std::make_shared<JointScheduler>(config_, view, memory.data());
      if (joint->current_job() != kNone) joint->list_options();
      memory.cache = joint;
    }
    return *static_cast<JointScheduler*>(memory.cache.get());
  }

  JointIndex index_;
};

const AgentRegistry::Add<Pilot> kPilot{
    "pilot",
    {.about = "chooses order, GPU type, placement, preemptions and moves: one option for each job",
     .source = "this project",
     .fidelity = "ours",
     .level = InformationLevel::kHistory,
     .preemptive = true,
     .permissions = {"preempt", "move", "hold", "choose_type"},
     .settings = describe<GivenConfig>}};

}  // namespace
}  // namespace yard
