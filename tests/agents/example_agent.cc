// Agent `next-job`: which of the first waiting jobs starts next.
#include <algorithm>
#include <cmath>

#include "env/sim/choose.h"
#include "env/task/row_task.h"

namespace yard {
namespace {

class NextJob final : public RowTask {
 public:
  explicit NextJob(const Settings& settings) { parse<NoConfig>(settings); }

  TaskShape shape() const override {
    return {.rows = 16, .row_features = 2, .cluster_features = 1};
  }
  std::string feature_schema() const override { return "next-job 1: gpus waited; free"; }
  Level level() const override { return Level::kBlind; }
  Heuristic heuristic() const override {
    Heuristic out{"backfill", {}};
    out.settings.set("placement", "best-fit", "example");
    return out;
  }

  bool asks(const View& view, std::byte*) const override {
    return std::ranges::any_of(shown(view), [&](int32_t slot) { return fits(view, slot); });
  }

  void observe(const View& view, std::byte*, Observation& o) const override {
    const std::vector<int32_t> jobs = shown(view);
    std::fill_n(o.mask, 17, uint8_t{0});
    std::fill_n(o.prior, o.prior != nullptr ? 17 : 0, kMaskedLogit);
    o.choices = 0;
    for (size_t i = 0; i < jobs.size(); ++i) {
      const double waited_s = 1e-6 * static_cast<double>(view.now_us() - view.since_us(jobs[i]));
      o.jobs[2 * i] = static_cast<float>(std::log2(view.weight_gpus(jobs[i]))) / 4;
      o.jobs[2 * i + 1] = static_cast<float>(std::log1p(waited_s)) / 8;
      o.slots[i] = jobs[i];
      if (!fits(view, jobs[i])) continue;
      if (o.choices++ == 0) o.suggested = static_cast<int32_t>(i);
      o.mask[i] = 1;
      if (o.prior != nullptr) o.prior[i] = 0;  // the network alone decides
    }
    clear_rest(o, static_cast<int32_t>(jobs.size()));
    o.cluster[0] = static_cast<float>(view.free_gpus()) / static_cast<float>(view.total_gpus());
  }

  void take(const View& view, std::byte*, int32_t action, Draft& draft) const override {
    const int32_t slot = shown(view)[static_cast<size_t>(action)];
    const int32_t n = place(view, Placement::kBestFit, slot, draft.scratch());
    draft.start(slot, draft.scratch(), n);
  }

 private:
  static std::vector<int32_t> shown(const View& view) {
    std::vector<int32_t> out;
    for (int32_t slot = view.queue_head(); slot != kNone && out.size() < 16;
         slot = view.queue_next(slot)) {
      out.push_back(slot);
    }
    return out;
  }
  static bool fits(const View& view, int32_t slot) {
    std::vector<Piece> room(static_cast<size_t>(view.spec().num_nodes * view.max_groups()));
    return place(view, Placement::kBestFit, slot, room.data()) > 0;
  }
};

const RowTasks::Add<NextJob> kNextJob{"next-job",
                                      {.about = "which of the first waiting jobs starts next",
                                       .source = "this example",
                                       .fidelity = "ours",
                                       .level = Level::kBlind}};

}  // namespace
}  // namespace yard
