#include "env/scheduling/mlf.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "env/sim/placement/task_placer.h"

namespace yard {
namespace {

constexpr int64_t kIterationUs = 60'000'000;
constexpr double kUsPerHour = 3600e6;
constexpr double kBeyondAnyDistance = 10;

// dl_{I-1} over the sum of all dl_j.
double last_fall(const View& view, int32_t slot, double iteration) {
  if (iteration < 2) return 1;
  if (!view.has_training_metric(slot)) return 1 / (iteration - 1);
  const int64_t now_us = view.work_done_in_whole_us(slot) / kIterationUs * kIterationUs;
  const double now = view.past_training_metric_at(slot, now_us);
  const double all = std::abs(view.training_metric_at_start(slot) - now);
  if (all == 0) return 1 / (iteration - 1);
  return std::min(std::abs(view.past_training_metric_at(slot, now_us - kIterationUs) - now) / all,
                  1.0);
}

bool overloads(const TaskPlacer::Shares& room, const TaskPlacer::Shares& need, double overloaded) {
  return room.cpus - need.cpus < 1 - overloaded || room.mem - need.mem < 1 - overloaded;
}

// Minus the distance to the ideal server.
TaskPlacer::Score nearest_ideal_server(const View& view, const TaskPlacer& placer,
                                       double overloaded) {
  TaskPlacer::Shares most;  // free on any server that is not overloaded
  for (int32_t node = 0; node < view.spec().num_nodes; ++node) {
    const TaskPlacer::Shares room = placer.free_shares(node);
    if (overloads(room, {}, overloaded)) continue;
    most = {std::max(most.gpus, room.gpus), std::max(most.cpus, room.cpus),
            std::max(most.mem, room.mem)};
  }
  return [most, overloaded](const TaskPlacer::CandidateNode& at) {
    const double gpus = most.gpus - at.room.gpus, cpus = most.cpus - at.room.cpus;
    const double mem = most.mem - at.room.mem, apart = at.others ? 1 : 0;
    const double distance = std::sqrt(gpus * gpus + cpus * cpus + mem * mem + apart * apart);
    return -distance - (overloads(at.room, at.need, overloaded) ? kBeyondAnyDistance : 0);
  };
}

}  // namespace

MlfsJobState mlfs_job_state(const View& view, const RunEstimate& total_s, int32_t slot) {
  const int64_t ran_us = view.attained_us(slot);
  MlfsJobState job;
  job.urgency = static_cast<double>(std::max<int64_t>(view.priority(slot), 1));
  job.iteration = static_cast<double>(1 + view.work_done_in_whole_us(slot) / kIterationUs);
  job.last_fall = last_fall(view, slot, job.iteration);
  if (view.first_deadline_us(slot) != kNone) {
    job.to_deadline_h =
        static_cast<double>(view.first_deadline_us(slot) - view.now_us()) / kUsPerHour;
  }
  job.left_h = total_s(slot) / 3600 - static_cast<double>(ran_us) / kUsPerHour;
  // Its whole wait, also before it ran; otherwise a preempted job would come last.
  job.waited_h = static_cast<double>(view.now_us() - view.submit_us(slot) - ran_us) / kUsPerHour;
  return job;
}

int32_t mlfs_num_model_partitions(const View& view, int32_t slot) {
  if (!view.shaped(slot)) return 1;
  int32_t n = 0;
  for (int32_t g = 0; g < view.num_groups(slot); ++g) {
    const TaskNeed need = view.task_need(slot, g);
    n += need.gpus + need.gpu_milli > 0;
  }
  return std::max(n, 1);
}

double mlf_priority(const View& view, const RunEstimate& total_s,
                    const MlfsPriorityWeights& weights, int32_t slot) {
  const int32_t n = mlfs_num_model_partitions(view, slot);
  const std::vector<double> shares(static_cast<size_t>(n), 1.0 / n);
  return mlf_priority(weights, mlfs_job_state(view, total_s, slot), shares);
}

double mlfs_progress_to_target(const View& view, int32_t slot) {
  const double first = view.training_metric_at_start(slot),
               way = view.sufficient_metric(slot) - first;
  if (way == 0) return 1;
  return std::clamp((view.training_metric_now(slot) - first) / way, 0.0, 1.0);
}

std::vector<MlfsPreemptibleJob> mlfs_preemptible_jobs(const View& view, const RunEstimate& total_s,
                                                      const MlfsSettings& rule) {
  std::vector<MlfsPreemptibleJob> out;
  if (!view.may_preempt()) return out;
  for (const int32_t slot : view.holder_slots()) {
    if (view.phase(slot) != Phase::kRunning || !view.preemptible(slot)) continue;
    const double ran_s = 1e-6 * static_cast<double>(view.now_us() - view.transition_end_us(slot));
    if (ran_s <= 0 || ran_s < rule.quantum_s) continue;  // preemption would gain nothing
    out.push_back({slot, mlf_priority(view, total_s, rule.weights, slot)});
  }
  std::ranges::sort(out, {}, [&](const MlfsPreemptibleJob& h) {
    return std::pair(h.priority, -view.serial(h.slot));
  });
  return out;
}

int32_t mlfs_preemption_budget(const View& view, const RunEstimate& total_s,
                               const MlfsSettings& rule) {
  if (view.num_waiting() == 0) return 0;
  for (int32_t slot = 0; slot < view.slot_high_water(); ++slot) {
    const Phase phase = view.phase(slot);
    if (phase == Phase::kStopping) return 0;
    if (phase != Phase::kWaiting || view.times_preempted(slot) == 0) continue;
    if (view.now_us() - view.phase_or_rate_since_us(slot) < rule.round_length_us()) return 0;
  }
  const auto holders = static_cast<double>(mlfs_preemptible_jobs(view, total_s, rule).size());
  return static_cast<int32_t>(std::ceil(rule.stopped_share * holders));
}

MlfsNextStart mlfs_next_start(const View& view, const RunEstimate& total_s,
                              const MlfsSettings& rule, int32_t may_stop,
                              const uint8_t* skipped_slots) {
  if (view.num_waiting() == 0) return {};
  struct Waiting {
    double priority;
    int32_t serial, slot;
  };
  std::vector<Waiting> queue;
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    if (skipped_slots[slot] != 0) continue;
    queue.push_back({mlf_priority(view, total_s, rule.weights, slot), view.serial(slot), slot});
  }
  std::ranges::sort(queue, {}, [](const Waiting& w) { return std::pair(-w.priority, w.serial); });
  if (view.free_gpus() >= view.min_gpus_to_start()) {
    std::set<int32_t> unplaceable;  // classes
    for (const Waiting& w : queue) {
      if (unplaceable.contains(view.request_class(w.slot))) continue;
      if (!mlfs_place_near_ideal_server(view, rule, w.slot).empty()) return {w.slot};
      unplaceable.insert(view.request_class(w.slot));
    }
  }
  if (may_stop == 0) return {};
  const std::vector<MlfsPreemptibleJob> holders = mlfs_preemptible_jobs(view, total_s, rule);
  for (const Waiting& w : queue) {
    MlfsNextStart step{w.slot};
    int32_t gpus = view.free_gpus();
    for (const MlfsPreemptibleJob& h : holders) {
      if (h.priority >= w.priority || std::ssize(step.victims) == may_stop) break;
      step.victims.push_back(h.slot);
      gpus += view.gpus(h.slot);
    }
    if (!step.victims.empty() && gpus >= view.gpus(w.slot)) return step;
  }
  return {};
}

std::vector<Piece> mlfs_place_near_ideal_server(const View& view, const MlfsSettings& rule,
                                                int32_t slot) {
  std::vector<Piece> out(view.max_pieces());
  const TaskPlacer placer(view);
  out.resize(static_cast<size_t>(
      placer.place(slot, {}, nearest_ideal_server(view, placer, rule.overloaded), out.data())));
  return out;
}

}  // namespace yard
