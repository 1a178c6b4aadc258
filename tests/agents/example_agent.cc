// Agent `next-job`: which of the first waiting jobs starts next.
#include <algorithm>
#include <cmath>

#include "env/scheduling/preempt_to_start.h"
#include "env/task/row_task.h"

namespace yard {
namespace {

class NextJob final : public RowTask {
 public:
  explicit NextJob(const Settings& settings) { parse<NoConfig>(settings); }

  TaskShape shape() const override { return {16, 2, 1}; }
  std::string feature_schema() const override { return "next-job 1: gpus waited; free"; }
  Level level() const override { return Level::kBlind; }
  Heuristic heuristic() const override {
    Heuristic out{"greedy", {}};
    out.settings.set("placement", "best-fit", "example");
    return out;
  }

  bool needs_action(const View& view, std::byte*) const override { return !shown(view).empty(); }

  void observe(const View& view, std::byte*, Observation& o) const override {
    const std::vector<int32_t> jobs = shown(view);
    std::fill_n(o.mask, 17, uint8_t{0});  // the last action, the no-op, is illegal
    for (size_t i = 0; i < jobs.size(); ++i) {
      const double waited_s = 1e-6 * static_cast<double>(view.now_us() - view.since_us(jobs[i]));
      o.jobs[2 * i] = static_cast<float>(std::log2(view.weight_gpus(jobs[i]))) / 4;
      o.jobs[2 * i + 1] = static_cast<float>(std::log1p(waited_s)) / 8;
      o.slots[i] = jobs[i];
      o.mask[i] = 1;
    }
    o.choices = static_cast<int32_t>(jobs.size());
    o.expert_action = 0;
    write_prior(o, 0);  // the network alone decides
    clear_rest(o, o.choices);
    o.cluster[0] = static_cast<float>(view.free_gpus()) / static_cast<float>(view.total_gpus());
  }

  void apply(const View& view, std::byte*, int32_t action, Draft& draft) const override {
    const int32_t slot = shown(view)[static_cast<size_t>(action)];
    const std::vector<Piece> there = best_fit(view, slot);
    draft.start(slot, there.data(), static_cast<int32_t>(there.size()));
  }

 private:
  // The first sixteen waiting jobs that fit.
  static std::vector<int32_t> shown(const View& view) {
    std::vector<int32_t> out;
    for (int32_t slot = view.queue_head(); slot != kNone && out.size() < 16;
         slot = view.queue_next(slot)) {
      if (!best_fit(view, slot).empty()) out.push_back(slot);
    }
    return out;
  }
};

const RowTasks::Add<NextJob> kNextJob{
    "next-job", {.about = "which job starts next", .source = "an example", .fidelity = "ours"}};

}  // namespace
}  // namespace yard
