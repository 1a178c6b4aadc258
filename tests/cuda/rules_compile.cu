// Compiles every rule into a kernel: what a world does on the CPU must also work on a GPU. It is
// not run; the batch tests compare CPU and GPU bit by bit. Dims: N worlds, one per thread.

#include "env/base/core/rng.h"
#include "env/sim/placement/placement_rules.h"
#include "env/sim/rules/advance.h"
#include "env/sim/view/view.h"
#include "env/task/select.h"

namespace yard {
namespace {

// Stand-in for a policy: starts jobs that fit in order of submission, and preempts the job that has
// run longest.
__device__ void decide(const SimModel& fixed, const View& view, SimState& s, Rng& rng,
                       Piece* pieces) {
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_head()) {
    const auto placement = static_cast<PlacementRule>(rng.below(3));
    const int32_t n = place(view, placement, slot, pieces);
    AllReduceSettings exchange;
    if (view.may_choose_all_reduce(slot)) {
      exchange = {Pattern::kTree, static_cast<uint8_t>(rng.below(kLinkPriorities))};
    }
    if (n == 0 || !legal_start(fixed, s, slot, pieces, n, exchange)) break;
    start(fixed, s, slot, pieces, n, exchange);
  }
  int32_t oldest = kNone;
  for (int32_t i = 0; i < view.num_holders(); ++i) {
    const int32_t slot = view.holder_slot(i);
    if (oldest == kNone || view.attained_us(slot) > view.attained_us(oldest)) oldest = slot;
  }
  if (view.num_waiting() > 0 && oldest != kNone && legal_preempt(fixed, s, oldest)) {
    preempt(fixed, s, oldest);
  }
  if (oldest != kNone && legal_end_early(fixed, s, oldest)) end_early(fixed, s, oldest);
}

// Calls every query of a view.
__device__ double read_all(const View& view) {
  double sum = static_cast<double>(view.now_us()) + view.total_gpus() + view.free_gpus() +
               view.num_live() + view.slot_high_water() + view.num_slots() + view.preemption_costs().restore(8) +
               static_cast<int>(view.level());
  for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
    sum += view.queue_rank(slot) + view.request_class(slot) + view.preemptible(slot);
  }
  for (int32_t node = 0; node < view.spec().num_nodes; ++node) sum += view.node_free_gpus(node);
  for (int32_t i = 0; i < view.num_changed(); ++i) {
    const int32_t slot = view.changed_slot(i);
    const JobRef ref = view.ref(slot);
    if (view.may_end_early(slot)) sum += view.sufficient_metric(slot) - view.training_metric_now(slot);
    sum += ref.generation + view.serial(slot) + view.user(slot) + view.submit_us(slot) +
           view.phase_or_rate_since_us(slot) + view.transition_end_us(slot) + view.times_preempted(slot) + view.times_started(slot) +
           static_cast<int>(view.phase(slot)) + view.limit_us(slot) + view.work_left_us(slot);
    for (int32_t p = view.first_part(slot); p != kNone; p = view.next_part(p)) {
      sum += view.part_node(p) + count_bits(view.part_mask(p));
    }
  }
  return sum + can_place(view, PlacementRule::kConsolidate, 0);
}

__global__ void play(SimModel fixed, Truth truth, StateSizes sizes, std::byte* blocks,
                     size_t stride, Piece* scratch, double* out, int32_t worlds) {
  const auto n = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (n >= worlds) return;
  std::byte* block = blocks + static_cast<size_t>(n) * 2 * stride;
  SimState s = state_in_block(block, sizes);
  SimState fork = state_in_block(block + stride, sizes);
  EventQueue event_queue = EventQueue::at(block + state_bytes(sizes), sizes.slots);
  EventQueue fork_agenda = EventQueue::at(block + stride + state_bytes(sizes), sizes.slots);
  reset(fixed, s, sizes, event_queue, 0, fixed.jobs.num_jobs);
  Rng rng = Rng(1).split(static_cast<uint64_t>(n));
  double sum = 0;
  while (!all_done(s) && advance(fixed, truth, s, event_queue)) {
    const View view(fixed, s, InformationLevel::kOracle, truth.work_us);
    sum += read_all(view);
    decide(fixed, view, s, rng, scratch + static_cast<int64_t>(n) * fixed.spec.num_nodes);
  }
  copy_state(sizes, s, fork);
  fork_agenda.clear(sizes.slots);
  out[n] = sum + static_cast<double>(next_event_us(fixed, truth, fork, fork_agenda));
}

// The task `select`: writes the observation and applies the first legal action.
__global__ void select(SimModel fixed, StateSizes sizes, std::byte* blocks, size_t stride,
                       std::byte* memories, JobSelectionConfig config, Piece* scratch,
                       Observation* out, int32_t worlds) {
  const auto n = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (n >= worlds) return;
  SimState s = state_in_block(blocks + static_cast<size_t>(n) * stride, sizes);
  const View view(fixed, s, JobSelectionTask::kLevel);
  std::byte* memory = memories + static_cast<size_t>(n) * sizeof(JobSelectionTask::Window);
  if (!JobSelectionTask::on_events(view, config, memory)) return;
  JobSelectionTask::observe(view, config, memory, out[n]);
  if (out[n].expert_action == JobSelectionTask::kNothing) return;
  struct Editor {
    const SimModel& fixed;
    SimState& s;
    __device__ void start(int32_t slot, const Piece* pieces, int32_t num) {
      yard::start(fixed, s, slot, pieces, num);
    }
  };
  JobSelectionTask::apply(view, config, memory, out[n].slots[out[n].expert_action],
                          scratch + static_cast<int64_t>(n) * fixed.spec.num_nodes,
                          Editor{fixed, s});
}

}  // namespace

void launch(const SimModel& fixed, const Truth& truth, const StateSizes& sizes, std::byte* blocks,
            size_t stride, Piece* scratch, double* out, int32_t worlds) {
  play<<<(worlds + 127) / 128, 128>>>(fixed, truth, sizes, blocks, stride, scratch, out, worlds);
}

void launch(const SimModel& fixed, const JobSelectionConfig& config, const StateSizes& sizes,
            std::byte* blocks, size_t stride, std::byte* memories, Piece* scratch, Observation* out,
            int32_t worlds) {
  select<<<(worlds + 127) / 128, 128>>>(fixed, sizes, blocks, stride, memories, config, scratch,
                                        out, worlds);
}

}  // namespace yard
