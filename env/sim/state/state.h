// The present state of a cluster: live jobs and GPUs, in one flat block without pointers. A live
// cluster can report the whole state: hidden facts are in `Truth`, later events in `EventQueue`.
// `SimState` points into a block. Slots of finished jobs are reused and get a new generation.
// Dims: S slots, M nodes, G GPUs, P parts, K classes, C free counts 0..max, W words of M bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "env/sim/speed/contention.h"
#include "env/sim/state/columns.h"

namespace yard {

// Phase of a job. A blocked job is submitted, but depends on jobs that have not ended.
enum class Phase : uint8_t { kFree, kWaiting, kStarting, kRunning, kStopping, kDone, kBlocked };

// Handle of a live job. The handle is stale once the job's slot was freed.
struct JobRef {
  int32_t slot = kNone;
  uint32_t generation = 0;
  friend bool operator==(const JobRef&, const JobRef&) = default;
};

// A requested part of a placement: a number of GPUs for a plain job, or a number of tasks of one
// role group for a job with a shape.
struct Piece {
  int32_t node = kNone;
  int32_t gpus = 0;   // whole ones
  int32_t group = 0;  // of the shape
  int32_t tasks = 0;
  uint64_t mask = 0;  // GPUs of the node, as bits; 0: any GPUs
  friend bool operator==(const Piece&, const Piece&) = default;
};

// Microseconds times jobs or GPUs, in 128 bits: a century of a large cluster exceeds 64 bits.
__extension__ typedef __int128 WideUs;

struct StateHeader {
  int64_t now_us;
  int64_t timer_us;            // time of the decision that the policy requested, or kNever
  int64_t ready_horizon_us;    // from this time on, no resource is being vacated
  int64_t waiting_gpus;        // sum of the demands of waiting jobs
  WideUs job_time_us;          // time integral of the number of jobs in the system
  WideUs held_time_us;         // time integral of GPUs held by starting and running jobs
  WideUs down_time_us;         // time integral of GPUs that are down
  WideUs lost_time_us;         // GPU time of work that failures undid
  int32_t slots;               // S
  int32_t first_job, end_job;  // simulated jobs: [first_job, end_job) of the workload
  int32_t arrived;             // jobs [first_job, arrived) have been submitted
  int32_t finished;
  int32_t live;  // blocked + waiting + starting + running + stopping
  int32_t blocked;
  int32_t waiting;
  int32_t held;        // starting + running
  int32_t free_gpus;   // GPUs that no job owns; some may still be vacated
  int32_t high_water;  // slots [high_water, S) were never used
  int32_t free_slot;   // head of the list of freed slots, or kNone
  int32_t free_part;   // head of the list of freed parts, or kNone
  int32_t part_high_water;
  int32_t queue_head, queue_tail;
  int32_t blocked_head;  // head of the list of blocked slots, linked by queue_next
  int32_t next_fault;    // index of the next fault; kNone: not looked up yet
  int32_t down_gpus;     // number of GPUs neither owned nor free
  int32_t num_changed;   // slots in `changed`
  int32_t num_dirty;     // slots in `dirty`
  int32_t num_stale;     // slots in `stale`
  double moved_bytes;    // between nodes
  int32_t preemptions;
  int32_t starts;
  int32_t failures;  // of jobs
};

struct StateSizes {
  int32_t slots = 0, nodes = 0, gpus = 0, classes = 0, max_node_gpus = 0;
  int32_t parts = 0;           // number of parts that can be held at once
  int32_t resource_nodes = 0;  // `nodes` if any job requests CPUs or memory, else 0
  int32_t rated_slots = 0;     // `slots` if rates depend on placements, else 0
  int32_t links = 0;  // number of uplinks of nodes, racks and pods if rates depend on them, else 0
  int32_t choosing_slots = 0;  // `slots` if the scheduler may choose all-reduces, else 0
  int32_t choosing_links = 0;
  int32_t tenants = 0;
  int32_t parent_words = 0;  // words of a bit set of jobs with dependents
  int32_t fault_slots = 0;   // `slots` if any GPU may go down, else 0
  int32_t fault_nodes = 0;
  int32_t fault_gpus = 0;
  int32_t shared_gpus = 0;    // `gpus` if any job requests a GPU share, else 0
  int32_t conflict_gpus = 0;  // `gpus` if some kinds of jobs conflict, else 0
  YARD_HD int32_t node_bitmap_words() const { return (nodes + 63) / 64; }
  YARD_HD int32_t node_bitmap_summary_words() const { return (node_bitmap_words() + 63) / 64; }
};

enum class Extent : uint8_t { kAll, kSlots, kParts };  // which entries of a column are in use

// Data of a job that every event uses, in two cache lines. As separate columns, the data would lie
// in thirty cache lines.
struct alignas(64) SlotRecord {
  uint32_t generation;
  Phase phase;
  uint8_t is_changed;  // in `changed`
  uint8_t is_dirty;    // in `dirty`
  uint8_t pinned;      // 1: the job may not be preempted (live clusters only)
  int32_t job;         // index into the job table
  int32_t gpus;
  int32_t request_class;
  int32_t tenant;                  // index of the tenant in the cluster spec, or kNone
  int32_t shape;                   // kNone for plain jobs
  int32_t first_part;              // first part of the job's chain of parts, or kNone
  int32_t queue_prev, queue_next;  // links of the queue and of other slot lists
  int32_t class_prev, class_next;  // links of the queue of the request class
  int32_t held_pos;                // in `holder_slots`
  uint8_t ended;                   // 1: ended by a policy before its work was done
  double rate;                     // work per wall-clock time while running

  int64_t since_us;     // start of the phase or, if running, of the present rate
  double work_done_us;  // work done up to since_us, in time on the reference type
  int64_t attained_us;  // time that the job had run at since_us
  int64_t until_us;     // starting, stopping: time when the phase ends
  int64_t saved_us;     // time when the last save is complete
  int64_t submit_us;
  int64_t first_start_us;  // kNone before the first start
  int32_t preempted;       // number of preemptions so far
  int32_t started;         // number of starts so far
};
static_assert(sizeof(SlotRecord) == 128);

// Resources that a job holds on one node. The parts of a job form a linked list.
struct PartRecord {
  uint64_t mask;  // GPUs of the node, as bits; one bit for a share of a GPU
  int32_t node;
  int32_t next;
  int32_t group;  // role group of the job; 0 for plain jobs
  int32_t tasks;  // 0 for plain jobs
};

// One field of all records in an array, accessed like a column.
template <class Record, class T>
class FieldOfRecords {
 public:
  FieldOfRecords() = default;
  YARD_HD FieldOfRecords(Record* records, T Record::*field) : first_(&(records->*field)) {}
  YARD_HD T& operator[](int64_t i) const {
    return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(first_) +
                                 i * static_cast<int64_t>(sizeof(Record)));
  }

 private:
  T* first_ = nullptr;
};
template <class T>
using SlotColumn = FieldOfRecords<SlotRecord, T>;
template <class T>
using PartColumn = FieldOfRecords<PartRecord, T>;

struct SimState {
  StateHeader* head = nullptr;

  // slots
  SlotRecord* slot_records = nullptr;  // (S)
  SlotColumn<uint32_t> generation;
  SlotColumn<Phase> phase;
  SlotColumn<uint8_t> is_changed, is_dirty, pinned, ended;
  SlotColumn<int32_t> job, gpus, request_class, tenant, shape, first_part, queue_prev, queue_next,
      class_prev, class_next, held_pos, preempted, started;
  SlotColumn<double> rate, work_done_us;
  SlotColumn<int64_t> since_us, attained_us, until_us, saved_us, submit_us, first_start_us;
  int32_t* user = nullptr;             // (S)  index of the user; kNone: not in the trace
  int32_t* failed = nullptr;           // (S or 0)  number of failures that stopped the job
  int64_t* run_start_us = nullptr;     // (S or 0)  time when the job last began to run
  double* checkpointed_us = nullptr;   // (S or 0)  work saved by the last checkpoint
  double* isolated_rate = nullptr;     // (S or 0)  rate without other jobs
  int64_t* traffic = nullptr;          // (S or 0)  bytes per second on each link while running
  int32_t* nodes_with_gpus = nullptr;  // (S or 0)  number of nodes with GPUs of the job
  uint8_t* tier = nullptr;             // (S or 0)  widest Tier that the job's GPUs span
  // All-reduce settings that the scheduler chose at the job's start (exchange.h).
  Pattern* all_reduce = nullptr;     // (S or 0)
  uint8_t* link_priority = nullptr;  // (S or 0)

  // lists of slots: the queue in order of entry, overall and by request class, and holders of GPUs
  int64_t* queue_rank = nullptr;    // (S)  rises with every entry into the queue
  int32_t* class_head = nullptr;    // (K)
  int32_t* class_tail = nullptr;    // (K)
  int32_t* class_count = nullptr;   // (K)
  int32_t* holder_slots = nullptr;  // (S)
  int32_t* changed = nullptr;       // (S)  slots which changed in the last advance()
  int32_t* dirty = nullptr;         // (S)  slots whose next event must be recomputed
  int32_t* stale = nullptr;         // (S or 0)  running slots whose rate must be recomputed
  uint8_t* is_stale = nullptr;      // (S or 0)

  // parts
  PartRecord* part_records = nullptr;  // (P)
  PartColumn<uint64_t> part_mask;
  PartColumn<int32_t> part_node, part_next, part_role_group, part_tasks;

  // nodes
  uint64_t* free_mask = nullptr;     // (M)  GPUs without an owner
  int32_t* free_count = nullptr;     // (M)
  uint64_t* free_bits = nullptr;     // (C, W)  bitmap of nodes by number of free GPUs
  uint64_t* free_summary = nullptr;  // (C, summary)  bitmap of nonzero words of free_bits
  int64_t* gpu_ready_us = nullptr;   // (G)  time when stopping jobs will have left the GPU
  int32_t* tenant_gpus = nullptr;    // (tenants)  GPUs that each tenant holds
  int64_t* link_load = nullptr;  // (links or 0)  bytes/s on uplinks of nodes, then racks, then pods
  int64_t* priority_load = nullptr;       // (kLinkPriorities, links or 0)  bytes/s by priority
  uint64_t* down_mask = nullptr;          // (M or 0)  failed or drained GPUs, not to be allocated
  uint64_t* idle_down_mask = nullptr;     // (M or 0)  GPUs of down_mask that no job holds
  int64_t* down_until_us = nullptr;       // (G or 0)
  int64_t* node_down_until_us = nullptr;  // (M or 0)  time until which the node takes no tasks
  uint64_t* ended_bits = nullptr;         // ended jobs with dependents, as bits
  int64_t* free_cpu_milli = nullptr;      // (M or 0)
  int64_t* free_mem_mib = nullptr;        // (M or 0)
  uint64_t* shared_mask = nullptr;        // (M or 0)  GPUs of which shares are held
  int32_t* share_milli = nullptr;         // (G or 0)  free thousandths of shared GPUs
  int32_t* share_mem_mib = nullptr;       // (G or 0)
  uint64_t* share_kinds = nullptr;  // (G or 0)  kinds of jobs with a share of the GPU, as bits
  // Resources that stopping jobs vacate: on a GPU until gpu_ready_us, and on a node until
  // node_ready_us. The leaving columns are undefined after these times.
  int64_t* leaving_milli = nullptr;      // (G or 0)
  int64_t* leaving_mem_mib = nullptr;    // (G or 0)
  uint64_t* leaving_kinds = nullptr;     // (G or 0)  kinds of stopping jobs, as bits
  int64_t* node_ready_us = nullptr;      // (M or 0)
  int64_t* leaving_cpu_milli = nullptr;  // (M or 0)
  int64_t* leaving_ram_mib = nullptr;    // (M or 0)

  int64_t* next_rank = nullptr;  // (1)
};

// Calls f(column, length, extent) for each column of a state. Layout, copy and tests use this list.
template <class S, class F>
YARD_HD void for_each_column(S& s, const StateSizes& z, F&& f) {
  const auto all = [&f](int64_t length, auto&... columns) {
    (f(columns, length, Extent::kAll), ...);
  };
  const auto slots = [&f](int64_t length, auto&... columns) {
    (f(columns, length, Extent::kSlots), ...);
  };
  const int32_t counts = z.max_node_gpus + 1;
  all(1, s.head, s.next_rank);
  slots(z.slots, s.slot_records, s.user);
  slots(z.fault_slots, s.failed, s.run_start_us, s.checkpointed_us);
  slots(z.rated_slots, s.isolated_rate, s.traffic, s.nodes_with_gpus, s.tier);
  slots(z.choosing_slots, s.all_reduce, s.link_priority);
  slots(z.slots, s.queue_rank);
  all(z.classes, s.class_head, s.class_tail, s.class_count);
  slots(z.slots, s.holder_slots, s.changed, s.dirty);
  slots(z.rated_slots, s.stale, s.is_stale);
  f(s.part_records, z.parts, Extent::kParts);
  all(z.nodes, s.free_mask, s.free_count);
  all(counts * z.node_bitmap_words(), s.free_bits);
  all(counts * z.node_bitmap_summary_words(), s.free_summary);
  all(z.gpus, s.gpu_ready_us);
  all(z.tenants, s.tenant_gpus);
  all(z.links, s.link_load);
  all(kLinkPriorities * z.choosing_links, s.priority_load);
  all(z.fault_nodes, s.down_mask, s.idle_down_mask);
  all(z.fault_gpus, s.down_until_us);
  all(z.fault_nodes, s.node_down_until_us);
  all(z.parent_words, s.ended_bits);
  all(z.resource_nodes, s.free_cpu_milli, s.free_mem_mib);
  all(z.shared_gpus > 0 ? z.nodes : 0, s.shared_mask);
  all(z.shared_gpus, s.share_milli, s.share_mem_mib);
  all(z.conflict_gpus, s.share_kinds);
  all(z.shared_gpus, s.leaving_milli, s.leaving_mem_mib);
  all(z.conflict_gpus, s.leaving_kinds);
  all(z.resource_nodes, s.node_ready_us, s.leaving_cpu_milli, s.leaving_ram_mib);
}

constexpr size_t kColumnAlign = 64;

YARD_HD inline size_t round_up_to_alignment(size_t bytes) {
  return (bytes + kColumnAlign - 1) / kColumnAlign * kColumnAlign;
}

YARD_HD inline size_t state_bytes(const StateSizes& z) {
  SimState s;
  size_t bytes = 0;
  for_each_column(s, z, [&bytes](auto* column, int64_t length, Extent) {
    bytes += round_up_to_alignment(static_cast<size_t>(length) * sizeof(*column));
  });
  return bytes;
}

// Requires: `block` holds state_bytes(z) bytes, aligned to kColumnAlign.
YARD_HD inline SimState state_in_block(std::byte* block, const StateSizes& z) {
  SimState s;
  size_t at = 0;
  for_each_column(s, z, [&at, block](auto*& column, int64_t length, Extent) {
    column = reinterpret_cast<std::remove_reference_t<decltype(column)>>(block + at);
    at += round_up_to_alignment(static_cast<size_t>(length) * sizeof(*column));
  });
  SlotRecord* slots = s.slot_records;
  s.generation = {slots, &SlotRecord::generation};
  s.phase = {slots, &SlotRecord::phase};
  s.is_changed = {slots, &SlotRecord::is_changed};
  s.is_dirty = {slots, &SlotRecord::is_dirty};
  s.pinned = {slots, &SlotRecord::pinned};
  s.job = {slots, &SlotRecord::job};
  s.gpus = {slots, &SlotRecord::gpus};
  s.request_class = {slots, &SlotRecord::request_class};
  s.tenant = {slots, &SlotRecord::tenant};
  s.shape = {slots, &SlotRecord::shape};
  s.first_part = {slots, &SlotRecord::first_part};
  s.queue_prev = {slots, &SlotRecord::queue_prev};
  s.queue_next = {slots, &SlotRecord::queue_next};
  s.class_prev = {slots, &SlotRecord::class_prev};
  s.class_next = {slots, &SlotRecord::class_next};
  s.held_pos = {slots, &SlotRecord::held_pos};
  s.ended = {slots, &SlotRecord::ended};
  s.rate = {slots, &SlotRecord::rate};
  s.since_us = {slots, &SlotRecord::since_us};
  s.work_done_us = {slots, &SlotRecord::work_done_us};
  s.attained_us = {slots, &SlotRecord::attained_us};
  s.until_us = {slots, &SlotRecord::until_us};
  s.saved_us = {slots, &SlotRecord::saved_us};
  s.submit_us = {slots, &SlotRecord::submit_us};
  s.first_start_us = {slots, &SlotRecord::first_start_us};
  s.preempted = {slots, &SlotRecord::preempted};
  s.started = {slots, &SlotRecord::started};
  PartRecord* parts = s.part_records;
  s.part_mask = {parts, &PartRecord::mask};
  s.part_node = {parts, &PartRecord::node};
  s.part_next = {parts, &PartRecord::next};
  s.part_role_group = {parts, &PartRecord::group};
  s.part_tasks = {parts, &PartRecord::tasks};
  return s;
}

// Copies the entries of columns that are in use. Requires: both states have sizes `z`.
YARD_HD inline void copy_state(const StateSizes& z, const SimState& from, SimState& to) {
  const int64_t slots = from.head->high_water;
  const int64_t parts = from.head->part_high_water;
  // `source` collects the addresses of the columns of `from`, in the order of the columns of `to`.
  const void* source[128];
  int num = 0;
  SimState src = from;
  for_each_column(src, z, [&](auto* column, int64_t, Extent) { source[num++] = column; });
  num = 0;
  for_each_column(to, z, [&](auto* column, int64_t length, Extent extent) {
    const auto* column_from =
        static_cast<const std::remove_pointer_t<std::remove_reference_t<decltype(column)>>*>(
            source[num++]);
    const int64_t used = extent == Extent::kParts ? parts : slots;
    const int64_t alive = extent == Extent::kAll || used > length ? length : used;
    for (int64_t i = 0; i < alive; ++i) column[i] = column_from[i];
  });
}

}  // namespace yard
