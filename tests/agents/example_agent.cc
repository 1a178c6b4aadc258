// Agent `next-job`: which of the first sixteen jobs that fit starts next.
#include "env/scheduling/preempt_to_start.h"
#include "env/task/agent.h"
namespace yard {
struct NextJob : Agent {
  explicit NextJob(const Settings& settings) { parse<NoConfig>(settings); }
  PolicyWithSettings expert() const override { return {"greedy", {{"placement", "best-fit"}}}; }
  int32_t max_actions() const override { return 16; }
  std::vector<Feature> action_features() const override { return {{"gpus", "log2, over 4"}}; }
  std::vector<Feature> state_features() const override { return {{"free", "share of GPUs"}}; }
  void actions(const View& view, AgentMemory&, ActionList& out) const override {
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      if (out.size() < 16 && !best_fit(view, slot).empty()) out.actions.push_back({.slot = slot});
    }
    out.expert = out.empty() ? kNone : 0;  // the first, as greedy does
    out.noop_legal = false;
  }
  void features(const View& view, AgentMemory&, const Action& a, float* out) const override {
    out[0] = log2_of(view.gpus_at_least_one(a.slot)) / 4;
  }
  void describe_state(const View& view, AgentMemory&, const ActionList&,
                      float* out) const override {
    out[0] = static_cast<float>(view.free_gpus()) / static_cast<float>(view.total_gpus());
  }
  void apply(const View& view, AgentMemory&, const Action& a, Draft& draft) const override {
    draft.start(a.slot, best_fit(view, a.slot));
  }
};
const AgentRegistry::Add<NextJob> kNextJob{"next-job", {.about = "which job starts next"}};
}  // namespace yard
