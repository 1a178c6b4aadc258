#include "serving/snapshot/cluster_memory.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "env/sim/state/queue.h"
#include "env/sim/view/view.h"

namespace yard {
namespace {

// Nodes by which the next snapshot is recognised as one of the same cluster.
constexpr size_t kSomeNodes = 64;
// More than these are forgotten, and with them what was learned.
constexpr int32_t kMostUsers = 1 << 14, kMostNames = 1 << 16;

bool grow(int32_t& room, int32_t needed) {
  if (needed <= room) return false;
  room = static_cast<int32_t>(std::bit_ceil(static_cast<uint32_t>(needed)));
  return true;
}

}  // namespace

SnapshotState::SnapshotState(JobTable&& table, std::vector<int32_t>&& serials,
                             const SimModel& fixed, int32_t slots, int64_t now_us)
    : table_(std::move(table)),
      serials_(std::move(serials)),
      live_(fixed, slots, now_us),
      request_index_(static_cast<size_t>(slots), kNone) {}

void ClusterMemory::begin_anew(const ClusterMemoryCapacity& room) {
  room_ = room;
  jobs_.clear();
  job_bytes_ = 0;
  in_slot_.clear();
  free_slots_.clear();
  high_water_ = 0;
  names_ = {};
  now_us_ = -1;
  anew_ = true;
}

bool ClusterMemory::shares_node_with_last(const Snapshot& snapshot) const {
  const std::vector<Node>& nodes = snapshot.cluster().nodes;
  for (size_t m = 0; m < std::min(nodes.size(), some_nodes_.size()); ++m) {
    if (nodes[m].name == some_nodes_[m]) return true;  // as usual
  }
  std::unordered_set<std::string_view> names;
  for (const Node& node : nodes) names.insert(node.name);
  return std::ranges::any_of(some_nodes_,
                             [&](const std::string& name) { return names.contains(name); });
}

int32_t ClusterMemory::take_slot() {
  if (free_slots_.empty()) return high_water_++;
  const int32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// Enters the live jobs in the order of their submission. Moves those that are no longer there, or
// whose id has been taken over by another job, to `gone`.
std::vector<ClusterMemory::EnteredJob> ClusterMemory::enter_jobs(const Snapshot& snapshot,
                                                                 std::vector<KnownJob>& gone) {
  const std::vector<const Job*>& jobs = snapshot.jobs();
  std::vector<const LiveJob*> live_of_row(jobs.size(), nullptr);
  for (const LiveJob& live : snapshot.live_jobs()) {
    if (live.phase != Phase::kDone) live_of_row[static_cast<size_t>(live.job)] = &live;
  }
  std::vector<EnteredJob> out(jobs.size());
  for (size_t row = 0; row < jobs.size(); ++row) {
    if (live_of_row[row] == nullptr) continue;
    const LiveJob& live = *live_of_row[row];
    const Job& job = *jobs[row];
    KnownJob& known = jobs_[job.id];
    if (known.slot != kNone && known.job.submit_us != job.submit_us) {
      job_bytes_ -= bytes_of(known);
      gone.push_back(std::exchange(known, {}));
    }
    const bool is_new = known.slot == kNone;
    if (is_new) {
      known.slot = take_slot();
      known.serial = next_serial_++;
      known.job = job;
      job_bytes_ += bytes_of(known);
    }
    const bool waits_anew = live.phase == Phase::kWaiting && known.phase != Phase::kWaiting;
    if (is_new || waits_anew) known.rank = kNever;  // until rank_queue()
    out[row] = {&known, is_new || known.phase != live.phase || known.started != live.started};
    known.phase = live.phase;
    known.started = live.started;
    known.attained_us = live.attained_us;
    known.snapshot = snapshots_;
  }
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const bool stays = it->second.snapshot == snapshots_;
    const auto here = it++;
    if (stays) continue;
    job_bytes_ -= bytes_of(here->second);
    gone.push_back(std::move(here->second));
    jobs_.erase(here);
  }
  return out;
}

// Returns the jobs that have ended since the last snapshot, by their ends. A job that is gone but
// not listed as finished is taken to have run until now.
std::vector<ClusterMemory::GoneJob> ClusterMemory::list_ended_jobs(const Snapshot& snapshot,
                                                                   std::vector<KnownJob>&& gone) {
  std::ranges::sort(gone, {}, &KnownJob::serial);
  // A finished job may come without an id.
  const auto by_request = [](const Job& job) {
    return std::to_string(job.submit_us) + ' ' + std::to_string(job.gpus) + ' ' + job.user;
  };
  std::unordered_map<std::string, KnownJob*> by_id;
  std::unordered_multimap<std::string, KnownJob*> of_request;
  for (KnownJob& known : gone) {
    by_id.emplace(known.job.id, &known);
    of_request.emplace(by_request(known.job), &known);
  }
  const auto gone_job = [&](int32_t row) -> KnownJob* {
    const Job& job = *snapshot.jobs()[static_cast<size_t>(row)];
    if (!job.id.empty()) {
      const auto it = by_id.find(job.id);
      const bool same = it != by_id.end() && it->second->slot != kNone &&
                        it->second->job.submit_us == job.submit_us;
      return same ? it->second : nullptr;
    }
    const auto it = of_request.find(by_request(job));
    if (it == of_request.end()) return nullptr;
    KnownJob* known = it->second;
    of_request.erase(it);  // each counts once
    return known->slot == kNone ? nullptr : known;
  };
  std::vector<GoneJob> out;
  for (const LiveJob& live : snapshot.live_jobs()) {
    if (live.phase != Phase::kDone) break;  // those that have finished come first
    if (KnownJob* known = gone_job(live.job); known != nullptr) {
      out.push_back(
          {live, std::exchange(known->slot, kNone), known->serial, std::move(known->job)});
    } else if (live.since_us > now_us_) {  // else it was listed before
      out.push_back({live, take_slot(), next_serial_++, {}});
    }
  }
  for (KnownJob& known : gone) {
    if (known.slot == kNone) continue;
    const bool may_have_run = known.phase == Phase::kRunning || known.phase == Phase::kStarting;
    LiveJob live{
        .phase = Phase::kDone,
        .since_us = snapshot.now_us(),
        .attained_us = known.attained_us + (may_have_run ? snapshot.now_us() - now_us_ : 0),
        .started = known.started,
        .parts = {}};
    out.push_back({std::move(live), known.slot, known.serial, std::move(known.job), false});
  }
  return out;
}

// Numbers the waiting jobs in the order of the snapshot's queue. A job keeps its number as long as
// that agrees.
void ClusterMemory::rank_queue(const Snapshot& snapshot, const std::vector<EnteredJob>& of_row) {
  int64_t last = -1;
  for (const LiveJob& live : snapshot.live_jobs()) {
    if (live.phase == Phase::kDone) continue;
    KnownJob& known = *of_row[static_cast<size_t>(live.job)].known;
    const bool waits = live.phase == Phase::kWaiting;
    if (known.rank == kNever || (waits && known.rank <= last)) known.rank = next_rank_++;
    if (waits) last = known.rank;
  }
}

// A policy's memory has a place for each slot, user and name. Returns whether there were too few.
bool ClusterMemory::make_room(const SimModel& fixed) {
  const bool more_slots = grow(room_.slots, std::max(high_water_, 1));
  const bool more_users = grow(room_.users, fixed.jobs.num_users);
  const bool more_names = grow(room_.names, fixed.jobs.num_job_names);
  return more_slots || more_users || more_names;
}

SnapshotState ClusterMemory::next_state(const Snapshot& snapshot) {
  const bool goes_on = snapshot.now_us() >= now_us_ && shares_node_with_last(snapshot);
  if (now_us_ >= 0 && !goes_on) begin_anew(first_room_);
  ++snapshots_;
  std::vector<KnownJob> gone;
  const std::vector<EnteredJob> of_row = enter_jobs(snapshot, gone);
  std::vector<GoneJob> ended = list_ended_jobs(snapshot, std::move(gone));
  rank_queue(snapshot, of_row);

  // The table has the rows of the snapshot and those of jobs that it no longer lists.
  std::vector<const Job*> jobs = snapshot.jobs();
  std::vector<int32_t> row_of(jobs.size());  // in the table, by the snapshot's row
  std::iota(row_of.begin(), row_of.end(), 0);
  for (GoneJob& one : ended) {
    if (!one.job) continue;
    one.job->after.clear();
    if (one.is_listed) jobs[static_cast<size_t>(one.live.job)] = &*one.job;
  }
  const bool lists_all = std::ranges::all_of(ended, &GoneJob::is_listed);
  if (!lists_all) {
    std::vector<int32_t*> rows;
    for (int32_t& row : row_of) rows.push_back(&row);
    for (GoneJob& one : ended) {
      if (one.is_listed) continue;
      jobs.push_back(&*one.job);
      rows.push_back(&one.live.job);
    }
    std::vector<size_t> order(jobs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return jobs[i]->submit_us; });
    std::vector<const Job*> sorted;
    sorted.reserve(jobs.size());
    for (const size_t i : order) {
      *rows[i] = static_cast<int32_t>(sorted.size());
      sorted.push_back(jobs[i]);
    }
    jobs = std::move(sorted);
  }
  // Free slots refer to the first row.
  std::vector<int32_t> serials(std::max(jobs.size(), size_t{1}), kNone);
  for (GoneJob& one : ended) {
    if (one.is_listed) one.live.job = row_of[static_cast<size_t>(one.live.job)];
    serials[static_cast<size_t>(one.live.job)] = one.serial;
  }
  for (size_t row = 0; row < of_row.size(); ++row) {
    if (of_row[row].known == nullptr) continue;
    serials[static_cast<size_t>(row_of[row])] = of_row[row].known->serial;
  }

  JobTable table(jobs, snapshot.cluster(), {}, &names_);
  SimModel fixed{snapshot.spec(), table.columns(), snapshot.costs()};
  fixed.allows = snapshot.allowed_actions();
  if (make_room(fixed) && !anew_) {
    const bool too_many = room_.users > kMostUsers || room_.names > kMostNames;
    begin_anew(too_many ? first_room_ : ClusterMemoryCapacity(room_));
    return next_state(snapshot);
  }
  fixed.jobs.num_users = room_.users;
  fixed.jobs.num_job_names = room_.names;
  fixed.jobs.serial = serials.data();
  SnapshotState out(std::move(table), std::move(serials), fixed, room_.slots, snapshot.now_us());
  SimState& s = out.state();
  s.head->end_job = fixed.jobs.num_jobs;  // a job may wait for any of them
  reserve_first_slots(fixed, s, high_water_);
  for (const GoneJob& one : ended) restore_job(fixed, s, one.live, one.slot);
  in_slot_.assign(static_cast<size_t>(high_water_), nullptr);
  for (const LiveJob& live : snapshot.live_jobs()) {
    const auto row = static_cast<size_t>(live.job);
    KnownJob* known = of_row[row].known;
    if (known == nullptr) continue;
    if (lists_all) {
      restore_job(fixed, s, live, known->slot);
    } else {
      LiveJob moved = live;
      moved.job = row_of[row];
      restore_job(fixed, s, moved, known->slot);
    }
    s.queue_rank[known->slot] = known->rank;
    in_slot_[static_cast<size_t>(known->slot)] = known;
    out.request_index_[static_cast<size_t>(known->slot)] = snapshot.request_index(live.job);
  }
  for (const Snapshot::VacatingGpu& v : snapshot.vacating_gpus()) {
    restore_vacating(fixed, s, v.part, v.until_us);
  }
  if (!anew_) {
    for (int32_t i = 0; i < s.head->num_changed; ++i) s.is_changed[s.changed[i]] = 0;
    s.head->num_changed = 0;
    for (const GoneJob& one : ended) mark_changed(s, one.slot);
    for (const EnteredJob& one : of_row) {
      if (one.changed) mark_changed(s, one.known->slot);
    }
  }
  release_reserved_slots(s);
  for (const GoneJob& one : ended) free_slots_.push_back(one.slot);
  now_us_ = snapshot.now_us();
  some_nodes_.clear();
  for (const Node& node : snapshot.cluster().nodes) {
    if (some_nodes_.size() == kSomeNodes) break;
    some_nodes_.push_back(node.name);
  }
  return out;
}

bool ClusterMemory::keep_or_clear_memory(SimState& state, size_t lasting, size_t bytes) {
  const bool kept = !std::exchange(anew_, false) && lasting == lasting_bytes_;
  lasting_bytes_ = lasting;
  if (kept) {
    memory_.keep(lasting, bytes);
    return true;
  }
  for (int32_t slot = 0; slot < state.head->high_water; ++slot) {
    if (state.phase[slot] != Phase::kFree) mark_changed(state, slot);
  }
  memory_.reset(bytes);
  return false;
}

void ClusterMemory::remember_plan(const SnapshotState& live, const Plan& plan) {
  const SimState& s = live.state();
  for (const Edit& edit : plan.edits) {
    const auto slot = static_cast<size_t>(edit.job.slot);
    if (slot >= in_slot_.size() || in_slot_[slot] == nullptr) continue;  // of an illegal plan
    KnownJob& known = *in_slot_[slot];
    known.phase = s.phase[edit.job.slot];
    known.started = s.started[edit.job.slot];
    if (known.phase == Phase::kWaiting) known.rank = kNever;  // it goes to the end of the queue
  }
}

size_t ClusterMemory::bytes_of(const KnownJob& known) {
  constexpr size_t kPlaceBytes = 64;  // of an entry in a table, with its pointers
  const Job& job = known.job;
  size_t sum = sizeof(KnownJob) + kPlaceBytes + 2 * job.id.size() + job.user.size() +
               job.name.size() + job.model.size() + job.tenant.size() + job.array.size() +
               job.groups.size() * sizeof(RoleGroup) + job.dues.size() * sizeof(Deadline);
  for (const std::string& type : job.gpu_types) sum += sizeof(type) + type.size();
  return sum;
}

size_t ClusterMemory::bytes() const { return memory_.bytes() + names_.bytes() + job_bytes_; }

}  // namespace yard
