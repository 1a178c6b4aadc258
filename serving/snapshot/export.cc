#include "serving/snapshot/export.h"

#include <algorithm>

#include "env/sim/state/free_map.h"
#include "env/sim/view/view.h"

namespace yard {
namespace {

double seconds(int64_t us) { return static_cast<double>(us) * 1e-6; }

class Exporter {
 public:
  Exporter(const ClusterSpec& spec, const std::vector<Job>& jobs, const SimModel& fixed,
           const SimState& state)
      : spec_(spec),
        jobs_(jobs),
        s_(state),
        view_(fixed, state, Level::kBlind),
        queue_rank_(static_cast<size_t>(state.head->high_water), 0) {}

  pb::DecideRequest write(std::span<const EndedJob> finished) {
    out_.set_time_s(seconds(view_.now_us()));
    write_cluster();
    int64_t rank = 0;
    for (int32_t slot = view_.queue_head(); slot != kNone; slot = view_.queue_next(slot)) {
      queue_rank_[static_cast<size_t>(slot)] = ++rank;
    }
    std::vector<int32_t> slots;
    for (int32_t slot = 0; slot < view_.high_water(); ++slot) {
      const Phase phase = view_.phase(slot);
      if (phase != Phase::kFree && phase != Phase::kDone) slots.push_back(slot);
    }
    std::ranges::sort(slots, {}, [&](int32_t slot) { return view_.serial(slot); });
    for (const int32_t slot : slots) write_job(slot);
    for (const EndedJob& one : finished) {
      const Job& job = jobs_[static_cast<size_t>(one.job)];
      pb::FinishedJob& entry = *out_.add_finished();
      entry.set_user(job.user);
      entry.set_name(job.name);
      entry.set_gpus(static_cast<uint32_t>(job.gpus));
      entry.set_submit_s(seconds(job.submit_us));
      entry.set_run_s(seconds(one.run_us));
      entry.set_end_s(seconds(one.end_us));
    }
    return std::move(out_);
  }

 private:
  void write_cluster() {
    for (const GpuType& type : spec_.types) {
      pb::GpuType& entry = *out_.add_gpu_types();
      entry.set_name(type.name);
      entry.set_speed(type.speed);
    }
    for (size_t m = 0; m < spec_.nodes.size(); ++m) {
      const Node& node = spec_.nodes[m];
      pb::Node& entry = *out_.add_nodes();
      entry.set_name(node.name);
      entry.set_gpus(static_cast<uint32_t>(node.gpus));
      entry.set_gpu_type(spec_.types[static_cast<size_t>(node.type)].name);
      for (int32_t g = 0; g < node.gpus; ++g) {
        const int64_t until_us = s_.gpu_ready_us[view_.spec().node_gpu0[m] + g];
        if (until_us <= view_.now_us()) continue;
        pb::Vacating& vacating = *entry.add_vacating();
        vacating.set_gpu(static_cast<uint32_t>(g));
        vacating.set_until_s(seconds(until_us));
      }
    }
    const Costs& costs = view_.costs();
    pb::Costs& entry = *out_.mutable_costs();
    entry.set_save_s(seconds(costs.save_us));
    entry.set_restore_s(seconds(costs.restore_us));
    entry.set_restore_large_s(seconds(costs.restore_large_us));
    entry.set_small_gpus(static_cast<uint32_t>(costs.small_gpus));
  }

  void write_job(int32_t slot) {
    const Job& job = jobs_[static_cast<size_t>(view_.serial(slot))];
    pb::Job& entry = *out_.add_jobs();
    entry.set_id(job.id);
    entry.set_gpus(static_cast<uint32_t>(job.gpus));
    entry.set_submit_s(seconds(job.submit_us));
    entry.set_user(job.user);
    entry.set_name(job.name);
    if (job.limit_us > 0) entry.set_limit_s(seconds(job.limit_us));
    entry.set_attained_s(seconds(view_.attained_us(slot)));
    entry.set_pinned(!view_.preemptible(slot));
    entry.set_preemptions(static_cast<uint32_t>(view_.preempted(slot)));
    entry.set_starts(static_cast<uint32_t>(view_.started(slot)));
    entry.set_since_s(seconds(view_.since_us(slot)));
    entry.set_queue_rank(queue_rank_[static_cast<size_t>(slot)]);
    const Phase phase = view_.phase(slot);
    entry.set_state(phase == Phase::kWaiting    ? pb::WAITING
                    : phase == Phase::kStarting ? pb::STARTING
                    : phase == Phase::kRunning  ? pb::RUNNING
                                                : pb::STOPPING);
    if (phase == Phase::kStarting || phase == Phase::kStopping) {
      entry.set_until_s(seconds(view_.until_us(slot)));
      if (s_.saved_us[slot] > view_.now_us()) entry.set_saved_s(seconds(s_.saved_us[slot]));
    }
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      pb::Piece& piece = *entry.add_placement();
      piece.set_node(spec_.nodes[static_cast<size_t>(view_.part_node(p))].name);
      piece.set_gpus(static_cast<uint32_t>(count_bits(view_.part_mask(p))));
      for (uint64_t rest = view_.part_mask(p); rest != 0; rest &= rest - 1) {
        piece.add_gpu_ids(static_cast<uint32_t>(lowest_bit(rest)));
      }
    }
  }

  const ClusterSpec& spec_;
  const std::vector<Job>& jobs_;
  const SimState& s_;
  const View view_;
  std::vector<int64_t> queue_rank_;
  pb::DecideRequest out_;
};

}  // namespace

pb::DecideRequest to_request(const ClusterSpec& spec, const std::vector<Job>& jobs,
                             const SimModel& fixed, const SimState& state,
                             std::span<const EndedJob> finished) {
  return Exporter(spec, jobs, fixed, state).write(finished);
}

}  // namespace yard
