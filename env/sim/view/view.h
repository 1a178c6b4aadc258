// What a policy may see at its level of information: a state and the jobs that have arrived. True
// run times, the only data about the future, are visible only at an oracle level.
#pragma once

#include <span>

#include "env/cluster/preempts.h"
#include "env/sim/rules/holding.h"
#include "env/sim/state/columns.h"
#include "env/sim/state/exchange.h"
#include "env/sim/state/state.h"

namespace yard {

// Levels of information in rising order: a policy may use its own level and all lower levels
// (docs/design/rules.md). Results at the oracle levels are bounds for comparison,
// since no real policy knows run times.
enum class InformationLevel : uint8_t {
  kBlind,
  kHistory,
  kDistribution,
  kEstimate,
  kNoisyOracle,
  kOracle
};

// A value that falls linearly with time.
struct LinearDecrease {
  double at_zero = 0;  // at time 0
  double per_us = 0;   // loss per microsecond
  YARD_HD double at(int64_t at_us) const { return at_zero - per_us * static_cast<double>(at_us); }
};

class View {
 public:
  // `true_work_us` (N) has each job's work at the two oracle levels, and is null at other levels.
  // `estimates` replaces the speed tables; null: the view shows the true tables.
  YARD_HD View(const SimModel& fixed, const SimState& state, InformationLevel level,
               const int64_t* true_work_us = nullptr, const SpeedEstimates* estimates = nullptr)
      : fixed_(&fixed),
        state_(&state),
        true_work_us_(true_work_us),
        estimates_(estimates),
        level_(level) {}

  YARD_HD InformationLevel level() const { return level_; }
  YARD_HD int64_t now_us() const { return state_->head->now_us; }
  YARD_HD const SpecColumns& spec() const { return fixed_->spec; }
  YARD_HD const PreemptionCosts& preemption_costs() const { return fixed_->costs; }

  // --- the cluster
  YARD_HD int32_t total_gpus() const { return fixed_->spec.total_gpus; }
  // Number of GPUs that are not down. A draining GPU counts until its job has left.
  YARD_HD int32_t usable_gpus() const { return total_gpus() - state_->head->down_gpus; }
  YARD_HD int32_t free_gpus() const { return state_->head->free_gpus; }
  YARD_HD int32_t node_free_gpus(int32_t node) const { return state_->free_count[node]; }
  YARD_HD double bytes_moved_between_nodes() const { return state_->head->moved_bytes; }
  // GPUs of the node, as bits, that are down or will be down once their job leaves.
  YARD_HD uint64_t down_gpu_mask(int32_t node) const {
    return fixed_->faults ? state_->down_mask[node] : 0;
  }

  // --- slots [0, num_slots()), and the jobs in them
  YARD_HD int32_t num_slots() const { return state_->head->slots; }
  YARD_HD int32_t slot_high_water() const { return state_->head->high_water; }
  YARD_HD int32_t num_waiting() const { return state_->head->waiting; }
  YARD_HD int64_t gpus_requested_by_waiting() const { return state_->head->waiting_gpus; }
  YARD_HD int32_t num_holders() const { return state_->head->held; }
  YARD_HD int32_t num_blocked_by_dependencies() const { return state_->head->blocked; }  // jobs
  YARD_HD int32_t num_live() const { return state_->head->live; }
  YARD_HD int32_t num_finished() const { return state_->head->finished; }
  YARD_HD int32_t holder_slot(int32_t i) const {
    return state_->holder_slots[i];
  }  // starting or running
  std::span<const int32_t> holder_slots() const {
    return {state_->holder_slots, static_cast<size_t>(num_holders())};
  }
  YARD_HD int32_t queue_head() const { return state_->head->queue_head; }  // waiting, by entry
  YARD_HD int32_t queue_next(int32_t slot) const { return state_->queue_next[slot]; }
  // The fewest free whole GPUs with which a waiting job could start. Requires: a job waits.
  YARD_HD int32_t min_gpus_to_start() const {
    int32_t k = 0;  // index of a request class; classes are in rising order of GPUs
    while (class_queue_head(k) == kNone) ++k;
    return class_gpus_to_start(k);
  }

  // [bytes/s] Demand on the node's uplink, up to its capacity; 0 if jobs have no measured models.
  YARD_HD int64_t link_bytes_per_s(int32_t node) const {
    if (!fixed_->rated) return 0;
    const int64_t wanted = state_->link_load[node], most = fixed_->spec.node_up_bytes[node];
    return most > 0 && wanted > most ? most : wanted;
  }

  // Jobs that arrived, began to run, completed a save or finished since the last decision. A
  // finished job's slot can be read for the last time.
  YARD_HD int32_t num_changed() const { return state_->head->num_changed; }
  YARD_HD int32_t changed_slot(int32_t i) const { return state_->changed[i]; }

  // --- one job. Requires: the job is live, or has finished and is among the changed jobs.
  YARD_HD JobRef ref(int32_t slot) const { return {slot, state_->generation[slot]}; }
  YARD_HD Phase phase(int32_t slot) const { return state_->phase[slot]; }
  YARD_HD bool finished(int32_t slot) const { return state_->phase[slot] == Phase::kDone; }
  // Whether the job ended after it ran. On a live cluster, a job may be cancelled before it starts.
  YARD_HD bool ended_after_running(int32_t slot) const {
    return finished(slot) && times_started(slot) > 0;
  }
  // Whether the job holds GPUs.
  YARD_HD bool holds_gpus(int32_t slot) const {
    return state_->phase[slot] == Phase::kRunning || state_->phase[slot] == Phase::kStarting;
  }
  YARD_HD int32_t gpus(int32_t slot) const { return state_->gpus[slot]; }
  // The GPUs that the job requests, in thousandths: a share counts as its fraction.
  YARD_HD int64_t requested_gpu_milli(int32_t slot) const {
    if (!shaped(slot)) return int64_t{kWholeGpu} * gpus(slot);
    int64_t sum = 0;
    for (int32_t g = 0; g < num_groups(slot); ++g) {
      const TaskNeed need = task_need(slot, g);
      sum += requested_tasks(slot, g) * (int64_t{kWholeGpu} * need.gpus + need.gpu_milli);
    }
    return sum;
  }
  // The number of GPUs as a weight: 1 for a job without GPUs.
  YARD_HD int32_t gpus_at_least_one(int32_t slot) const { return gpus(slot) > 0 ? gpus(slot) : 1; }
  // Jobs of one request class have identical requests: if one finds no placement, none does.
  YARD_HD int32_t request_class(int32_t slot) const { return state_->request_class[slot]; }
  // Whether the job requests more than a number of GPUs. If so, the rules use the job's shape.
  YARD_HD bool shaped(int32_t slot) const { return state_->shape[slot] != kNone; }
  // The number of tasks that a job with a shape requests.
  YARD_HD int32_t total_requested_tasks(int32_t slot) const {
    int32_t sum = 0;
    for (int32_t g = 0; g < num_groups(slot); ++g) sum += requested_tasks(slot, g);
    return sum;
  }
  // The number of role groups, and the fewest and most tasks of a group with which the job can run.
  YARD_HD int32_t num_groups(int32_t slot) const {
    return yard::num_groups(fixed_->jobs.shapes, shape_of(slot));
  }
  YARD_HD int32_t min_tasks(int32_t slot, int32_t group) const {
    const ShapeColumns& h = fixed_->jobs.shapes;
    return h.min_tasks[h.first_group[shape_of(slot)] + group];
  }
  // The tasks of a role group: the number requested, the needs of one task, and the number held.
  YARD_HD int32_t requested_tasks(int32_t slot, int32_t group) const {
    return tasks_of(fixed_->jobs.shapes, shape_of(slot), group);
  }
  YARD_HD TaskNeed task_need(int32_t slot, int32_t group) const {
    return need_of(fixed_->jobs.shapes, shape_of(slot), group);
  }
  YARD_HD int32_t held_tasks(int32_t slot, int32_t group) const {
    int32_t sum = 0;
    for (int32_t p = first_part(slot); p != kNone; p = next_part(p)) {
      if (part_role_group(p) == group) sum += part_tasks(p);
    }
    return sum;
  }
  YARD_HD int32_t max_tasks(int32_t slot, int32_t group) const {
    const ShapeColumns& h = fixed_->jobs.shapes;
    return h.max_tasks[h.first_group[shape_of(slot)] + group];
  }
  // The values which the user gave: priority (higher goes first), weight, first deadline or kNone.
  YARD_HD int64_t priority(int32_t slot) const {
    return job_column_entry(fixed_->jobs.priority, slot, 0);
  }
  YARD_HD double weight(int32_t slot) const {
    return job_column_entry(fixed_->jobs.weight, slot, 1);
  }
  YARD_HD int64_t first_deadline_us(int32_t slot) const {
    return job_column_entry(fixed_->jobs.due_us, slot, kNone);
  }
  YARD_HD int64_t submit_us(int32_t slot) const { return state_->submit_us[slot]; }
  YARD_HD int64_t phase_or_rate_since_us(int32_t slot) const { return state_->since_us[slot]; }
  YARD_HD int64_t transition_end_us(int32_t slot) const { return state_->until_us[slot]; }
  YARD_HD int64_t queue_rank(int32_t slot) const { return state_->queue_rank[slot]; }
  YARD_HD int32_t times_preempted(int32_t slot) const { return state_->preempted[slot]; }
  YARD_HD int32_t times_started(int32_t slot) const { return state_->started[slot]; }
  // Whether the job may be preempted when it holds GPUs.
  YARD_HD bool preemptible(int32_t slot) const {
    return fixed_->allows.preempt && !state_->pinned[slot];
  }
  // Whether the cluster allows preemption, and the start of a stopping job on other GPUs.
  YARD_HD bool may_preempt() const { return fixed_->allows.preempt; }
  YARD_HD bool may_move() const { return fixed_->allows.preempt && fixed_->allows.move; }
  // Order of submission: rises with submit time; jobs of equal times are in the order of the trace.
  YARD_HD int32_t serial(int32_t slot) const {
    const int32_t* serials = fixed_->jobs.serial;
    return serials == nullptr ? state_->job[slot] : serials[state_->job[slot]];
  }
  YARD_HD int32_t user(int32_t slot) const { return state_->user[slot]; }
  // A number of the pair of user and job name without digits; kNone if the job has no name.
  YARD_HD int32_t name(int32_t slot) const {
    return job_column_entry(fixed_->jobs.name, slot, kNone);
  }

  // Time that the job has run so far, without its restores.
  YARD_HD int64_t attained_us(int32_t slot) const {
    return state_->attained_us[slot] + time_at_current_rate_us(slot);
  }

  // Work done, as time on the requested number of GPUs of the reference type.
  YARD_HD double work_done_us(int32_t slot) const {
    if (phase(slot) != Phase::kRunning) return state_->work_done_us[slot];
    return state_->work_done_us[slot] +
           static_cast<double>(time_at_current_rate_us(slot)) * state_->rate[slot];
  }
  YARD_HD int64_t work_done_in_whole_us(int32_t slot) const {
    return static_cast<int64_t>(work_done_us(slot));
  }

  // The GPU types on which the job can run, as bits.
  YARD_HD uint64_t allowed_type_bits(int32_t slot) const {
    return shaped(slot) ? fixed_->jobs.shapes.types[shape_of(slot)] : ~uint64_t{0};
  }

  // Whether a job with a shape requests only whole GPUs of certain types.
  YARD_HD bool requests_nothing_but_whole_gpus(int32_t slot) const {
    const ShapeColumns& h = fixed_->jobs.shapes;
    const int32_t r = h.first_group[shape_of(slot)];
    return num_groups(slot) == 1 && h.gpu_milli[r] == 0 && h.cpu_milli[r] == 0 &&
           h.mem_mib[r] == 0 && h.gpu_mem_mib[r] == 0 && h.gpus[r] == 1 &&
           h.tenant[shape_of(slot)] == kNone && h.min_tasks[r] == h.max_tasks[r];
  }
  YARD_HD int32_t max_groups() const { return fixed_->jobs.shapes.max_groups; }
  // The largest number of pieces in one placement.
  YARD_HD size_t max_pieces() const { return fixed_->max_pieces(); }

  // The parts of the job's placement: for (p = first_part(slot); p != kNone; p = next_part(p)).
  YARD_HD int32_t first_part(int32_t slot) const { return state_->first_part[slot]; }
  YARD_HD int32_t next_part(int32_t part) const { return state_->part_next[part]; }
  YARD_HD int32_t part_node(int32_t part) const { return state_->part_node[part]; }
  YARD_HD uint64_t part_mask(int32_t part) const { return state_->part_mask[part]; }
  // The role group of the part, and its number of tasks. Requires: the job has a shape.
  YARD_HD int32_t part_role_group(int32_t part) const { return state_->part_role_group[part]; }
  YARD_HD int32_t part_tasks(int32_t part) const { return state_->part_tasks[part]; }

  // The tenant charged for the job, as an index into the spec's tenants, or kNone.
  YARD_HD int32_t tenant(int32_t slot) const { return state_->tenant[slot]; }
  YARD_HD int32_t gpus_held_by_tenant(int32_t tenant) const { return state_->tenant_gpus[tenant]; }
  // Whether the job's demand fits within its tenant's limit, in addition to GPUs already held.
  YARD_HD bool within_tenant_limit(int32_t slot) const {
    return yard::within_tenant_limit(*fixed_, *state_, slot);
  }

  // A tenant's quota, weight in sharing other GPUs, priority (higher goes first), and tenants whose
  // jobs may be preempted for the quota. Requires: 0 <= tenant < num_tenants().
  YARD_HD int32_t num_tenants() const { return fixed_->spec.num_tenants; }
  YARD_HD int32_t tenant_quota_gpus(int32_t tenant) const {
    return fixed_->spec.tenant_quota[tenant];
  }
  YARD_HD double tenant_weight(int32_t tenant) const { return fixed_->spec.tenant_weight[tenant]; }
  YARD_HD int32_t tenant_priority(int32_t tenant) const { return spec().tenant_priority[tenant]; }
  YARD_HD Preempts jobs_tenant_may_preempt(int32_t tenant) const {
    return static_cast<Preempts>(fixed_->spec.tenant_preempts[tenant]);
  }

  // Whether the scheduler may choose the job's all-reduce, and the present choice if it holds GPUs.
  YARD_HD bool may_choose_all_reduce(int32_t slot) const {
    return job_may_choose_all_reduce(*fixed_, *state_, slot);
  }
  YARD_HD AllReduceSettings all_reduce_settings(int32_t slot) const {
    return holds_gpus(slot) ? all_reduce_settings_of(*fixed_, *state_, slot) : AllReduceSettings{};
  }

  // --- training measurements, up to the present work
  YARD_HD bool has_training_metric(int32_t slot) const {
    return fixed_->jobs.curves.any(state_->job[slot]);
  }
  // The training metric now, and before any work. Requires: has_training_metric().
  YARD_HD double training_metric_now(int32_t slot) const {
    return training_metric_at(slot, work_done_us(slot));
  }
  YARD_HD double training_metric_at_start(int32_t slot) const {
    return training_metric_at(slot, 0);
  }
  // The metric after `work_us` of work. Requires: has_training_metric(), work_us <=
  // work_done_in_whole_us().
  YARD_HD double past_training_metric_at(int32_t slot, int64_t work_us) const {
    YARD_CHECK(work_us <= work_done_in_whole_us(slot),
               "past_training_metric_at() needs work that is already done");
    return training_metric_at(slot, static_cast<double>(work_us));
  }
  // The training metric at which the job ends, and the training metric that satisfies the user;
  // TrainingCurveColumns::kNoTarget if not given. Requires: has_training_metric().
  YARD_HD double target_metric(int32_t slot) const {
    return fixed_->jobs.curves.target[job_of(slot)];
  }
  YARD_HD double sufficient_metric(int32_t slot) const {
    return fixed_->jobs.curves.enough[job_of(slot)];
  }
  // Whether a policy may end the job early.
  // Live clusters never allow this.
  YARD_HD bool may_end_early(int32_t slot) const {
    return fixed_->allows.preempt && fixed_->jobs.curves.may_end_early(state_->job[slot]);
  }

  // The user's run-time limit for the job, or kNone. Requires: level() >= kEstimate.
  YARD_HD int64_t limit_us(int32_t slot) const {
    YARD_CHECK(level_ >= InformationLevel::kEstimate, "limit_us() needs the level `estimate`");
    return fixed_->jobs.limit_us[state_->job[slot]];
  }

  // Work left on the reference type, as a line over time. The line is valid until the job is among
  // changed_slot() again, or the policy starts or stops the job. Requires: an oracle level.
  YARD_HD LinearDecrease work_left_line(int32_t slot) const {
    YARD_CHECK(true_work_us_ != nullptr, "work_left_line() needs an oracle level");
    const double left =
        static_cast<double>(true_work_us_[state_->job[slot]]) - state_->work_done_us[slot];
    if (state_->phase[slot] != Phase::kRunning) return {left, 0};
    const double rate = state_->rate[slot];
    return {left + static_cast<double>(state_->since_us[slot]) * rate, rate};
  }
  YARD_HD double work_left_us(int32_t slot) const { return work_left_line(slot).at(now_us()); }

 private:
  friend class ThroughputModel;
  friend class Placer;
  // Friends may read data of the whole workload, including future jobs, only to allocate memory and
  // to skip features which the workload lacks.
  friend class RankedQueue;
  friend class VictimIndex;
  friend class PreemptionPlanner;
  friend class RollingEstimate;
  friend class TaskPlacer;
  friend class Survival;
  friend class UserHistory;
  friend struct JobSelectionTask;

  YARD_HD bool has_shapes() const { return fixed_->jobs.shapes.num_shapes > 0; }
  YARD_HD bool has_faults() const { return fixed_->faults; }
  // Whether any job of the workload requests a share of a GPU.
  YARD_HD bool has_gpu_shares() const { return fixed_->jobs.shapes.max_loose_tasks > 0; }
  YARD_HD int32_t num_users() const { return fixed_->jobs.num_users; }
  YARD_HD int32_t num_job_names() const { return fixed_->jobs.num_job_names; }
  YARD_HD int32_t num_request_classes() const { return fixed_->jobs.num_classes; }
  // The free GPUs needed to start a job of class `k`; rises with k.
  YARD_HD int32_t class_gpus_to_start(int32_t k) const { return fixed_->jobs.class_gpus[k]; }
  YARD_HD int32_t class_queue_head(int32_t k) const { return state_->class_head[k]; }

  YARD_HD int32_t shape_of(int32_t slot) const { return state_->shape[slot]; }
  YARD_HD int32_t job_of(int32_t slot) const { return state_->job[slot]; }  // in job table

  // Returns the job's entry in a column (N); `absent` if the trace has no such column.
  template <class T, class Absent>
  YARD_HD T job_column_entry(const T* column, int32_t slot, Absent absent) const {
    return column == nullptr ? absent : column[state_->job[slot]];
  }
  YARD_HD double training_metric_at(int32_t slot, double work_us) const {
    const TrainingCurveColumns& c = fixed_->jobs.curves;
    return c.at(c.value, state_->job[slot], work_us);
  }
  // Returns the time since the job began to run at its present rate; 0 if it does not run.
  YARD_HD int64_t time_at_current_rate_us(int32_t slot) const {
    return phase(slot) == Phase::kRunning ? now_us() - state_->since_us[slot] : 0;
  }

  // The speed tables that the policy may see, and the speed of a job by its model on a node.
  YARD_HD const SpeedColumns& speeds() const {
    return estimates_ == nullptr ? fixed_->speed : estimates_->table;
  }
  YARD_HD double speed_on(int32_t slot, int32_t node) const {
    const int32_t row = job_column_entry(fixed_->jobs.model_row, slot, kNone);
    if (estimates_ == nullptr || row == kNone) return fixed_->speed_on(state_->job[slot], node);
    return estimates_->model_speed[row * fixed_->jobs.num_types + fixed_->spec.node_type[node]];
  }

  const SimModel* fixed_;
  const SimState* state_;
  const int64_t* true_work_us_;
  const SpeedEstimates* estimates_;
  InformationLevel level_;
};

}  // namespace yard
