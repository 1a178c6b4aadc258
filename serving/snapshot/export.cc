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
      : spec_(spec), jobs_(jobs), s_(state), view_(fixed, state, InformationLevel::kBlind) {}

  pb::DecideRequest write(std::span<const EndedJob> finished) {
    out_.set_time_s(seconds(view_.now_us()));
    if (!view_.may_preempt()) out_.add_allowed(pb::START);
    write_cluster();
    std::vector<int32_t> slots;
    for (int32_t slot = 0; slot < view_.slot_high_water(); ++slot) {
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
      entry.set_id(job.id);
      if (one.worked_us >= 0) entry.set_worked_s(one.worked_us * 1e-6);
    }
    return std::move(out_);
  }

 private:
  void write_cluster() {
    for (const GpuType& type : spec_.types) {
      pb::GpuType& entry = *out_.add_gpu_types();
      entry.set_name(type.name);
      entry.set_speed(type.speed);
      for (const auto& [model, speed] : type.speed_of_model) {
        pb::ModelSpeed& of_model = *entry.add_speed_of_model();
        of_model.set_model(model);
        of_model.set_speed(speed);
      }
      if (type.mem_gib > 0) entry.set_mem_gib(type.mem_gib);
      if (type.shares == Shares::kMilli) entry.set_shares(true);
    }
    for (const Tenant& tenant : spec_.tenants) {
      pb::Tenant& entry = *out_.add_tenants();
      entry.set_name(tenant.name);
      entry.set_quota_gpus(static_cast<uint32_t>(tenant.quota_gpus));
      entry.set_limit_gpus(static_cast<uint32_t>(tenant.limit_gpus));
      entry.set_weight(tenant.weight);
      entry.set_priority(tenant.priority);
      entry.set_may_borrow(tenant.may_borrow);
      entry.set_may_lend(tenant.may_lend);
      entry.set_may_preempt(static_cast<pb::Tenant::Preempts>(tenant.may_preempt));
    }
    for (size_t m = 0; m < spec_.nodes.size(); ++m) {
      const Node& node = spec_.nodes[m];
      pb::Node& entry = *out_.add_nodes();
      entry.set_name(node.name);
      entry.set_gpus(static_cast<uint32_t>(node.gpus));
      entry.set_gpu_type(spec_.types[static_cast<size_t>(node.type)].name);
      if (node.cpus > 0) entry.set_cpus(node.cpus);
      if (node.mem_gib > 0) entry.set_mem_gib(node.mem_gib);
      if (node.rack != 0) entry.set_rack(static_cast<uint32_t>(node.rack));
      if (node.pod != 0) entry.set_pod(static_cast<uint32_t>(node.pod));
      if (node.zone != 0) entry.set_zone(static_cast<uint32_t>(node.zone));
      if (node.spot) entry.set_spot(true);
      if (node.cpu_overload != 1) entry.set_cpu_overload(node.cpu_overload);
      if (node.tenant != kNoTenant) {
        entry.set_tenant(spec_.tenants[static_cast<size_t>(node.tenant)].name);
      }
      for (int32_t g = 0; g < node.gpus; ++g) {
        const int64_t until_us = s_.gpu_ready_us[view_.spec().node_gpu0[m] + g];
        if (until_us <= view_.now_us()) continue;
        pb::Vacating& vacating = *entry.add_vacating();
        vacating.set_gpu(static_cast<uint32_t>(g));
        vacating.set_until_s(seconds(until_us));
      }
    }
    const PreemptionCosts& costs = view_.preemption_costs();
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
    write_work(slot, entry);
    write_request(job, entry);
    entry.set_pinned(!view_.preemptible(slot));
    entry.set_preemptions(static_cast<uint32_t>(view_.times_preempted(slot)));
    entry.set_starts(static_cast<uint32_t>(view_.times_started(slot)));
    entry.set_since_s(seconds(view_.phase_or_rate_since_us(slot)));
    const Phase phase = view_.phase(slot);
    if (phase == Phase::kWaiting) entry.set_queue_rank(1 + view_.queue_rank(slot));
    entry.set_state(phase == Phase::kWaiting || phase == Phase::kBlocked ? pb::WAITING
                    : phase == Phase::kStarting                          ? pb::STARTING
                    : phase == Phase::kRunning                           ? pb::RUNNING
                                                                         : pb::STOPPING);
    if (phase == Phase::kStarting || phase == Phase::kStopping) {
      entry.set_until_s(seconds(view_.transition_end_us(slot)));
      if (s_.saved_us[slot] > view_.now_us()) entry.set_saved_s(seconds(s_.saved_us[slot]));
    }
    for (int32_t p = view_.first_part(slot); p != kNone; p = view_.next_part(p)) {
      pb::Piece& piece = *entry.add_placement();
      piece.set_node(spec_.nodes[static_cast<size_t>(view_.part_node(p))].name);
      piece.set_gpus(static_cast<uint32_t>(count_bits(view_.part_mask(p))));
      if (!job.groups.empty()) {
        piece.set_group(static_cast<uint32_t>(view_.part_role_group(p)));
        piece.set_tasks(static_cast<uint32_t>(view_.part_tasks(p)));
      }
      for (uint64_t rest = view_.part_mask(p); rest != 0; rest &= rest - 1) {
        piece.add_gpu_ids(static_cast<uint32_t>(lowest_set_bit_index(rest)));
      }
    }
  }

  // What its user asked for. Fields with their usual values stay absent.
  static void write_request(const Job& job, pb::Job& entry) {
    for (const std::string& type : job.gpu_types) entry.add_gpu_types(type);
    for (const RoleGroup& group : job.groups) {
      pb::TaskGroup& out = *entry.add_groups();
      out.set_role(group.role);
      out.set_count(static_cast<uint32_t>(group.count));
      if (group.max_count > 0) {
        out.set_min_count(static_cast<uint32_t>(group.min_count));
        out.set_max_count(static_cast<uint32_t>(group.max_count));
      }
      pb::Resources& task = *out.mutable_task();
      task.set_gpus(static_cast<uint32_t>(group.task.gpus));
      if (group.task.gpu_milli > 0) {
        task.set_gpu_milli(static_cast<uint32_t>(group.task.gpu_milli));
      }
      if (group.task.gpu_mem_gib > 0) task.set_gpu_mem_gib(group.task.gpu_mem_gib);
      if (group.task.cpu_milli > 0) {
        task.set_cpu_milli(static_cast<uint32_t>(group.task.cpu_milli));
      }
      if (group.task.mem_mib > 0) task.set_mem_mib(static_cast<uint64_t>(group.task.mem_mib));
    }
    entry.set_model(job.model);
    if (job.batch_size > 0) entry.set_batch_size(static_cast<uint32_t>(job.batch_size));
    if (job.iterations > 0) entry.set_iterations(job.iterations);
    if (job.iteration_ms > 0) entry.set_iteration_ms(job.iteration_ms);
    entry.set_tenant(job.tenant);
    if (job.priority != 0) entry.set_priority(job.priority);
    if (job.weight != 1) entry.set_weight(job.weight);
    for (const Deadline& due : job.dues) {
      pb::Due& out = *entry.add_dues();
      out.set_at_s(seconds(job.submit_us + due.within_us));
      out.set_value(due.value);
    }
    for (const std::string& id : job.after) entry.add_after(id);
    entry.set_array(job.array);
  }

  void write_work(int32_t slot, pb::Job& entry) {
    const double worked_us = view_.work_done_us(slot);
    const auto attained_us = static_cast<double>(view_.attained_us(slot));
    if (worked_us != attained_us) entry.set_worked_s(worked_us * 1e-6);
  }

  const ClusterSpec& spec_;
  const std::vector<Job>& jobs_;
  const SimState& s_;
  const View view_;
  pb::DecideRequest out_;
};

}  // namespace

pb::DecideRequest to_request(const ClusterSpec& spec, const std::vector<Job>& jobs,
                             const SimModel& fixed, const SimState& state,
                             std::span<const EndedJob> finished) {
  return Exporter(spec, jobs, fixed, state).write(finished);
}

}  // namespace yard
