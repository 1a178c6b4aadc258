#include "policies/learned/dispatcher.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "policies/decision_trace.h"

namespace yard {
namespace {

class Dispatcher final : public TracedPolicy {
 public:
  Dispatcher(const Checkpoint& checkpoint, const std::string& where)
      : task_(dispatch_from(checkpoint.task)), net_(network_of(checkpoint, where)) {}

  Level level() const override { return Level::kHistory; }

  size_t memory_bytes(const View& view) const override { return Dispatch::memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    choose(view, memory, draft, nullptr);
  }

  void decide_traced(const View& view, Memory& memory, Draft& draft,
                     DecisionTrace& choices) const override {
    choose(view, memory, draft, &choices);
  }

 private:
  void choose(const View& view, Memory& memory, Draft& draft, DecisionTrace* choices) const {
    draft.wake_at(Dispatch::wake_us(view, task_));
    if (!Dispatch::on_events(view, task_, memory.data())) return;
    std::array<float, Dispatch::kJobs * Dispatch::kJobFeatures> jobs;
    std::array<float, Dispatch::kClusterFeatures> cluster;
    std::array<float, Dispatch::kActions> prior, logits;
    std::array<uint8_t, Dispatch::kActions> mask;
    std::array<int32_t, Dispatch::kJobs> slots;
    Observation o{};
    o.jobs = jobs.data();
    o.cluster = cluster.data();
    o.prior = prior.data();
    o.mask = mask.data();
    o.slots = slots.data();
    o.filled = 0;  // rows that do not exist are not read
    for (;;) {
      Dispatch::observe(view, task_, memory.data(), o);
      if (o.choices == 0) return;
      net_->forward(o, logits);
      if (!std::all_of(logits.begin(), logits.end(), [](float v) { return std::isfinite(v); })) {
        throw NonFinite();
      }
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      if (choices != nullptr) choices->steps.push_back(traced_step(o, logits, best));
      if (best == Dispatch::kNothing) return;
      Dispatch::apply(view, task_, memory.data(), slots[static_cast<size_t>(best)], draft.scratch(),
                      draft);
    }
  }

  static DecisionStep traced_step(const Observation& o,
                                  const std::array<float, Dispatch::kActions>& logits,
                                  int64_t best) {
    DecisionStep step;
    for (int32_t action = 0; action < Dispatch::kActions; ++action) {
      const auto a = static_cast<size_t>(action);
      if (o.mask[a] == 0) continue;
      if (action == best) step.chosen = static_cast<int32_t>(step.options.size());
      step.options.push_back({action == Dispatch::kNothing ? kNone : o.slots[a], logits[a]});
    }
    return step;
  }

  DispatchConfig task_;
  std::unique_ptr<NativeNetwork> net_;
};

class DispatcherLoader final : public LearnedAgent {
 public:
  explicit DispatcherLoader(const Settings& settings) { parse<NoConfig>(settings); }

  TaskShape shape() const override { return kDispatchShape; }

  // Names in the order of the enums in env/task/dispatch.h.
  std::string feature_schema() const override {
    return "dispatch 2, 128 jobs: holds gpus age attained left siblings known suggested; "
           "cluster: free waiting held demand preempts nothing_suggested live stopping";
  }

  std::unique_ptr<Policy> policy(const Checkpoint& checkpoint, const std::string& where,
                                 const Settings& settings) const override {
    parse<NoConfig>(settings);
    return std::make_unique<Dispatcher>(checkpoint, where);
  }

  Policy::Info info(const Checkpoint& checkpoint) const override {
    return {.about = "starts and preempts jobs; corrects an index of expected remaining service",
            .source = "this project",
            .fidelity = "ours",
            .level = Level::kHistory,
            .servable = true,
            .preemptive = dispatch_from(checkpoint.task).preempt};
  }
};

const LearnedRegistry::Add<DispatcherLoader> kDispatcher{"dispatcher", {}};

}  // namespace

nlohmann::ordered_json dispatch_json(const DispatchConfig& task) {
  nlohmann::ordered_json out = {
      {"name", "dispatch"},
      {"placement", kPlacementRuleNames[static_cast<size_t>(task.placement)]},
      {"preempt", task.preempt},
      {"gpu_exponent", task.gpu_exponent},
      {"margin_log2", task.margin_log2},
      {"shrink", task.shrink},
      {"sibling_prior", task.sibling_prior},
      {"spread", task.run_times.job},
      {"spread_batch", task.run_times.batch},
      {"spread_user", task.run_times.user},
      {"quantum_us", task.quantum_us},
      {"tick_us", task.tick_us},
      {"held_rows", task.held_rows},
      {"waiting_rows", task.waiting_rows},
      {"prior_gap", task.prior_gap},
      {"prior_slope", task.prior_slope},
      {"prior_other", task.prior_other}};
  if (task.index == DispatchIndex::kRemaining) return out;  // the default index is not written
  out["index"] = kDispatchIndexNames[static_cast<size_t>(task.index)];
  out["limit_1_gpu_s"] = task.limit_1_gpu_s;
  out["limit_2_gpu_s"] = task.limit_2_gpu_s;
  return out;
}

DispatchConfig dispatch_from(const nlohmann::ordered_json& json) {
  DispatchConfig task;
  const auto placement = json.at("placement").get<std::string>();
  bool known = false;
  for (size_t i = 0; i < std::size(kPlacementRuleNames); ++i) {
    if (placement != kPlacementRuleNames[i]) continue;
    task.placement = static_cast<PlacementRule>(i);
    known = true;
  }
  if (!known) throw InputError("task.placement", "a placement rule", placement);
  json.at("preempt").get_to(task.preempt);
  const TaskReader read(json);  // same ranges as for training
  if (json.contains("index")) {
    const auto index = json.at("index").get<std::string>();
    if (index != kDispatchIndexNames[1]) throw InputError("task.index", "attained", index);
    task.index = DispatchIndex::kAttained;
    task.limit_1_gpu_s = read.number("limit_1_gpu_s", 1.0F, 1e9F);
    task.limit_2_gpu_s = read.number("limit_2_gpu_s", 1.0F, 1e9F);
  }
  constexpr int64_t kLong = 1'000'000'000'000;
  task.gpu_exponent = read.number("gpu_exponent", 0.0F, 2.0F);
  task.margin_log2 = read.number("margin_log2", 0.0F, 10.0F);
  task.shrink = read.number("shrink", 0.01F, 100.0F);
  task.sibling_prior = read.number("sibling_prior", 0.01F, 1e6F);
  task.quantum_us = read.number("quantum_us", int64_t{0}, kLong);
  task.tick_us = read.number("tick_us", int64_t{1'000'000}, kLong);
  task.held_rows = read.number("held_rows", 1, Dispatch::kHeldRows);
  task.waiting_rows = read.number("waiting_rows", 1, Dispatch::kJobs);
  task.prior_gap = read.number("prior_gap", 0.0F, 100.0F);
  task.prior_slope = read.number("prior_slope", 0.0F, 100.0F);
  task.prior_other = read.number("prior_other", 1e-6F, 1.0F);
  task.run_times =
      RunTimes(read.number("spread", 0.2F, 3.0F), read.number("spread_batch", 0.0F, 5.0F),
               read.number("spread_user", 0.0F, 5.0F));
  return task;
}

}  // namespace yard
