#include "env/scheduling/mlf_load.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/sim/placement/task_placer.h"

namespace yard {
namespace {

constexpr int64_t kMinWorkUs = 600'000'000;

double server_use(const View& view, const TaskPlacer& placer, int32_t node) {
  const SpecColumns& spec = view.spec();
  const TaskPlacer::Shares room = placer.free_shares(node);
  double sum = 0;
  int32_t resources = 0;
  const auto add = [&](bool given, double free) {
    if (!given) return;
    sum += (1 - free) * (1 - free);
    ++resources;
  };
  add(spec.node_gpus[node] > 0, room.gpus);
  add(spec.node_cpu_milli[node] < kUnlimited, room.cpus);
  add(spec.node_mem_mib[node] < kUnlimited, room.mem);
  return resources == 0 ? 0 : std::sqrt(sum / resources);
}

bool any_may_end(const View& view) {
  return std::ranges::any_of(view.holder_slots(),
                             [&](int32_t slot) { return view.may_end_early(slot); });
}

bool near_its_limit(const View& view, int32_t slot, double near_limit) {
  const std::optional<double> limit = mlfs_extrapolated_final_metric(view, slot);
  if (!limit) return false;
  const double first = view.training_metric_at_start(slot);
  return (view.training_metric_now(slot) - first) / (*limit - first) >= near_limit;
}

}  // namespace

double mlfs_mean_server_utilisation(const View& view) {
  const TaskPlacer placer(view);
  const int32_t nodes = view.spec().num_nodes;
  double sum = 0;
  for (int32_t node = 0; node < nodes; ++node) sum += server_use(view, placer, node);
  return nodes == 0 ? 0 : sum / nodes;
}

bool mlfs_is_cluster_overloaded(const View& view, const MlfsLoadControlSettings& rule) {
  return view.num_waiting() > 0 || mlfs_mean_server_utilisation(view) > rule.overloaded;
}

std::optional<double> mlfs_extrapolated_final_metric(const View& view, int32_t slot) {
  const int64_t half_us = view.work_done_in_whole_us(slot) / 2;
  if (2 * half_us < kMinWorkUs) return std::nullopt;
  const double first = view.training_metric_at_start(slot),
               halfway = view.past_training_metric_at(slot, half_us);
  const double now = view.past_training_metric_at(slot, 2 * half_us);
  const double before = halfway - first, after = now - halfway;
  // The measure must be monotonic and level off.
  if (before * after <= 0 || std::abs(after) >= std::abs(before)) return std::nullopt;
  // 1 / (y - limit) is linear in work: 2 / (y1 - limit) = 1 / (y0 - limit) + 1 / (y2 - limit).
  return (halfway * (first + now) - 2 * first * now) / (before - after);
}

bool mlfs_has_reached_target(const View& view, int32_t slot) {
  const double first = view.training_metric_at_start(slot), enough = view.sufficient_metric(slot);
  const double now = view.training_metric_now(slot);
  return first > enough ? now <= enough : now >= enough;
}

void mlfs_end_jobs_early(const View& view, const MlfsLoadControlSettings& rule, int64_t round_us,
                         Draft& draft) {
  if (!any_may_end(view)) return;
  const bool overloaded = mlfs_is_cluster_overloaded(view, rule);
  std::vector<int32_t> to_end;
  for (const int32_t slot : view.holder_slots()) {
    if (view.phase(slot) != Phase::kRunning || !view.may_end_early(slot)) continue;
    if ((overloaded && mlfs_has_reached_target(view, slot)) ||
        near_its_limit(view, slot, rule.near_limit)) {
      to_end.push_back(slot);
    }
  }
  std::ranges::sort(to_end, {}, [&](int32_t slot) { return view.serial(slot); });
  for (const int32_t slot : to_end) draft.end(slot);
  if (any_may_end(view)) draft.wake_at((view.now_us() / round_us + 1) * round_us);
}

}  // namespace yard
