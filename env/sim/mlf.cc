#include "env/sim/mlf.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace yard {
namespace {

constexpr int64_t kIterationUs = 60'000'000;
constexpr double kUsPerHour = 3600e6;
constexpr double kBeyondAnyDistance = 10;

// dl_{I-1} over the sum of all dl_j.
double last_fall(const View& view, int32_t slot, double iteration) {
  if (iteration < 2) return 1;
  if (!view.measures(slot)) return 1 / (iteration - 1);
  const int64_t now_us = view.worked_us(slot) / kIterationUs * kIterationUs;
  const double now = view.measured_after(slot, now_us);
  const double all = std::abs(view.measured_first(slot) - now);
  if (all == 0) return 1 / (iteration - 1);
  return std::min(std::abs(view.measured_after(slot, now_us - kIterationUs) - now) / all, 1.0);
}

bool overloads(const TaskPlacer::Shares& room, const TaskPlacer::Shares& need, double overloaded) {
  return room.cpus - need.cpus < 1 - overloaded || room.mem - need.mem < 1 - overloaded;
}

}  // namespace

MlfJob mlf_job(const View& view, const RollingEstimate& estimate, int32_t slot) {
  const int64_t ran_us = view.attained_us(slot);
  MlfJob job;
  job.urgency = static_cast<double>(std::max<int64_t>(view.priority(slot), 1));
  job.iteration = static_cast<double>(1 + view.worked_us(slot) / kIterationUs);
  job.last_fall = last_fall(view, slot, job.iteration);
  if (view.due_us(slot) != kNone) {
    job.to_deadline_h = static_cast<double>(view.due_us(slot) - view.now_us()) / kUsPerHour;
  }
  job.left_h = estimate.total_s(view, slot) / 3600 - static_cast<double>(ran_us) / kUsPerHour;
  // All that it has waited, also before it ran: or else who is stopped would come last.
  job.waited_h = static_cast<double>(view.now_us() - view.submit_us(slot) - ran_us) / kUsPerHour;
  return job;
}

int32_t mlf_partitions(const View& view, int32_t slot) {
  if (!view.shaped(slot)) return 1;
  int32_t n = 0;
  for (int32_t g = 0; g < view.num_groups(slot); ++g) {
    const TaskNeed need = view.task_need(slot, g);
    n += need.gpus + need.gpu_milli > 0;
  }
  return std::max(n, 1);
}

double mlf_priority(const View& view, const RollingEstimate& estimate, const MlfWeights& weights,
                    int32_t slot) {
  const int32_t n = mlf_partitions(view, slot);
  const std::vector<double> shares(static_cast<size_t>(n), 1.0 / n);
  return mlf_priority(weights, mlf_job(view, estimate, slot), shares);
}

TaskPlacer::Score nearest_ideal_server(const View& view, const TaskPlacer& placer,
                                       double overloaded) {
  TaskPlacer::Shares most;  // free on any server that is not overloaded
  for (int32_t node = 0; node < view.spec().num_nodes; ++node) {
    const TaskPlacer::Shares room = placer.room(node);
    if (overloads(room, {}, overloaded)) continue;
    most = {std::max(most.gpus, room.gpus), std::max(most.cpus, room.cpus),
            std::max(most.mem, room.mem)};
  }
  return [most, overloaded](const TaskPlacer::Seat& at) {
    const double gpus = most.gpus - at.room.gpus, cpus = most.cpus - at.room.cpus;
    const double mem = most.mem - at.room.mem, apart = at.others ? 1 : 0;
    const double distance = std::sqrt(gpus * gpus + cpus * cpus + mem * mem + apart * apart);
    return -distance - (overloads(at.room, at.need, overloaded) ? kBeyondAnyDistance : 0);
  };
}

}  // namespace yard
