#include "policies/learned/row_agent.h"

#include <algorithm>
#include <cmath>

#include "policies/decision_trace.h"

namespace yard {
namespace {

// Applies the action with the best score, until the task needs no more.
class RowPolicy final : public TracedPolicy {
 public:
  RowPolicy(std::unique_ptr<RowTask> task, const Checkpoint& checkpoint, const std::string& where)
      : task_(std::move(task)), net_(network_of(checkpoint, where)) {}

  Level level() const override { return task_->level(); }

  size_t memory_bytes(const View& view) const override { return task_->memory_bytes(view); }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    choose(view, memory, draft, nullptr);
  }

  void decide_traced(const View& view, Memory& memory, Draft& draft,
                     DecisionTrace& choices) const override {
    choose(view, memory, draft, &choices);
  }

 private:
  void choose(const View& view, Memory& memory, Draft& draft, DecisionTrace* choices) const {
    std::byte* own = memory.data();
    task_->on_events(view, own);
    task_->begin_round(view, own);
    if (task_->needs_action(view, own)) {
      const TaskShape shape = task_->shape();
      const auto rows = static_cast<size_t>(shape.rows),
                 actions = static_cast<size_t>(shape.actions());
      std::vector<float> jobs(rows * static_cast<size_t>(shape.row_features));
      std::vector<float> cluster(static_cast<size_t>(shape.cluster_features));
      std::vector<float> prior(actions), logits(actions);
      std::vector<uint8_t> mask(actions);
      std::vector<int32_t> slots(rows);
      Observation o{};
      o.jobs = jobs.data();
      o.cluster = cluster.data();
      o.prior = prior.data();
      o.mask = mask.data();
      o.slots = slots.data();
      do {
        task_->observe(view, own, o);
        net_->forward(o, logits);
        if (!std::ranges::all_of(logits, [](float v) { return std::isfinite(v); })) {
          throw NonFinite();
        }
        const auto best = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
        if (choices != nullptr) choices->steps.push_back(traced_step(o, shape, logits, best));
        task_->apply(view, own, best, draft);
      } while (task_->needs_action(view, own));
    }
    task_->commit(view, own, draft);
  }

  static DecisionStep traced_step(const Observation& o, const TaskShape& shape,
                                  const std::vector<float>& logits, int32_t best) {
    DecisionStep step;
    for (int32_t a = 0; a < shape.actions(); ++a) {
      if (o.mask[a] == 0) continue;
      if (a == best) step.chosen = static_cast<int32_t>(step.options.size());
      step.options.push_back(
          {a == shape.rows ? kNone : o.slots[a], logits[static_cast<size_t>(a)]});
    }
    return step;
  }

  std::unique_ptr<RowTask> task_;
  std::unique_ptr<NativeNetwork> net_;
};

class RowAgentLoader final : public LearnedAgent {
 public:
  explicit RowAgentLoader(const std::string& name) : name_(name), task_(RowTasks::make(name, {})) {}

  TaskShape shape() const override { return task_->shape(); }
  std::string feature_schema() const override { return task_->feature_schema(); }

  std::unique_ptr<Policy> policy(const Checkpoint& checkpoint, const std::string& where,
                                 const Settings& settings) const override {
    parse<NoConfig>(settings);
    return std::make_unique<RowPolicy>(RowTasks::make(name_, task_settings(checkpoint.task)),
                                       checkpoint, where);
  }

  Policy::Info info(const Checkpoint&) const override {
    const RowTask::Info& info = RowTasks::info(name_);
    return {.about = info.about,
            .source = info.source,
            .fidelity = info.fidelity,
            .level = info.level,
            .servable = info.servable,
            .preemptive = info.preemptive,
            .resizes_jobs = info.resizes_jobs};
  }

 private:
  std::string name_;
  std::unique_ptr<RowTask> task_;
};

}  // namespace

std::unique_ptr<LearnedAgent> row_agent(const std::string& name) {
  return std::make_unique<RowAgentLoader>(name);
}

nlohmann::ordered_json row_task_json(const std::string& name, const RowTask& task) {
  nlohmann::ordered_json out = {{"name", name}};
  for (const auto& [key, value] : task.settings()) out[key] = value;
  return out;
}

}  // namespace yard
