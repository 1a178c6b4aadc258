#include "experiments/series.h"

#include <algorithm>
#include <cmath>

namespace yard {
namespace {

constexpr int kSlices = 240;

double seconds(int64_t us) { return static_cast<double>(us) / 1e6; }

double to_thousandths(double value) { return std::round(value * 1000) / 1000; }

}  // namespace

void Series::watch(const ClusterState& state) {
  const Head& head = *state.head;
  if (!steps_.empty() && steps_.back().at_us == head.now_us) steps_.pop_back();
  steps_.push_back({head.now_us, head.free_gpus, head.waiting});
}

void Series::end(const Scenario& scenario, const Run& run) {
  nlohmann::ordered_json t_s = nlohmann::ordered_json::array(), held = t_s, waiting = t_s;
  const int64_t begin_us = steps_.empty() ? 0 : steps_.front().at_us;
  const int64_t whole_us = steps_.empty() ? 0 : run.outcome.end_us - begin_us;
  const int slices = static_cast<int>(std::min<int64_t>(kSlices, whole_us));
  const int32_t gpus = scenario.cluster.total_gpus();
  size_t at = 0;
  for (int i = 0; i < slices; ++i) {
    const int64_t from_us = begin_us + whole_us / slices * i;
    const int64_t to_us =
        i + 1 == slices ? run.outcome.end_us : begin_us + whole_us / slices * (i + 1);
    double held_us = 0, waiting_us = 0;
    for (;; ++at) {
      const int64_t until_us = at + 1 < steps_.size() ? steps_[at + 1].at_us : to_us;
      const int64_t inside_us = std::min(until_us, to_us) - std::max(steps_[at].at_us, from_us);
      if (inside_us > 0) {
        held_us += static_cast<double>(inside_us) * (gpus - steps_[at].free_gpus);
        waiting_us += static_cast<double>(inside_us) * steps_[at].waiting;
      }
      if (until_us >= to_us) break;
    }
    const auto length_us = static_cast<double>(to_us - from_us);
    t_s.push_back(to_thousandths(seconds(from_us + (to_us - from_us) / 2)));
    held.push_back(to_thousandths(held_us / length_us));
    waiting.push_back(to_thousandths(waiting_us / length_us));
  }
  done_.push_back({{"policy", run.policy},
                   {"information", level_name(run.level)},
                   {"bound", is_bound(run.level)},
                   {"gpus", gpus},
                   {"from_s", seconds(scenario.window.from_us)},
                   {"to_s", seconds(scenario.window.to_us)},
                   {"t_s", t_s},
                   {"held_gpus", held},
                   {"waiting", waiting}});
}

}  // namespace yard
