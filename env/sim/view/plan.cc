#include "env/sim/view/plan.h"

#include <functional>
#include <set>
#include <unordered_set>
#include <utility>

#include "env/sim/rules/rules.h"
#include "env/sim/rules/world.h"

namespace yard {
namespace {

bool live(const SimState& s, const JobRef& job) {
  return job.slot >= 0 && job.slot < s.head->high_water &&
         s.generation[job.slot] == job.generation && s.phase[job.slot] != Phase::kDone;
}

std::string about(const Edit& edit) {
  constexpr const char* kWhat[] = {"start", "preemption", "end"};
  return std::string(kWhat[static_cast<size_t>(edit.verb)]) + " of slot " +
         std::to_string(edit.job.slot);
}

// Returns why a job cannot be started on `pieces` in this state.
std::string why_not_startable(const SimModel& fixed, const SimState& s, int32_t slot,
                              std::span<const Piece> pieces) {
  std::set<std::pair<int32_t, int32_t>> named;
  int32_t sum = 0;
  for (const Piece& p : pieces) {
    if (p.node < 0 || p.node >= fixed.spec.num_nodes) return "no such node";
    if (p.gpus < 1 && s.shape[slot] == kNone) return "a piece without GPUs";
    if (!named.insert({p.node, p.group}).second && p.mask == 0) return "a node listed twice";
    sum += p.gpus;
  }
  if (sum != s.gpus[slot] && s.shape[slot] == kNone) {
    return "asked for " + std::to_string(s.gpus[slot]) + " GPUs, given " + std::to_string(sum);
  }
  if (!within_tenant_limit(fixed, s, slot)) return "above the limit of its tenant";
  for (const Piece& p : pieces) {
    if (s.free_count[p.node] < p.gpus) {
      return "node " + std::to_string(p.node) + " lacks " +
             std::to_string(p.gpus - s.free_count[p.node]) + " GPUs";
    }
  }
  return "its pieces do not match its request or are not free";
}

}  // namespace

// Tries the plan on a copy.
std::string flaw_of_decision(const SimModel& fixed, const SimState& state, const Plan& plan) {
  World world(fixed, state.head->slots);
  SimState& s = world.state();
  copy_state(world.sizes(), state, s);
  std::unordered_set<int32_t> stopped, begun;
  for (const Edit& edit : plan.edits) {
    if (edit.verb == Verb::kStart) continue;
    const int32_t slot = edit.job.slot;
    if (!live(s, edit.job)) return about(edit) + ": no such job";
    if (edit.verb == Verb::kEnd) {
      if (!legal_end_early(fixed, s, slot)) {
        if (!fixed.allows.preempt) return about(edit) + ": not allowed here";
        const bool may = fixed.jobs.curves.may_end_early(s.job[slot]);
        return about(edit) + (may ? ": it does not run" : ": its user does not allow it");
      }
      end_early(fixed, s, slot);
      continue;
    }
    if (!stopped.insert(slot).second) return about(edit) + ": preempted twice";
    if (!legal_preempt(fixed, s, slot)) {
      return about(edit) + (fixed.allows.preempt ? ": it does not run" : ": not allowed here");
    }
    preempt(fixed, s, slot);
  }
  for (const Edit& edit : plan.edits) {
    if (edit.verb != Verb::kStart) continue;
    const int32_t slot = edit.job.slot;
    if (!live(s, edit.job)) return about(edit) + ": no such job";
    if (!begun.insert(slot).second) return about(edit) + ": started twice";
    if (s.ended[slot]) return about(edit) + ": it was ended";
    if (s.phase[slot] != Phase::kWaiting && s.phase[slot] != Phase::kStopping) {
      return about(edit) + ": it runs already";
    }
    if (s.phase[slot] == Phase::kStopping && !fixed.allows.move) {
      return about(edit) + ": moves are not allowed here";
    }
    if (!are_legal_all_reduce_settings(fixed, s, slot, edit.exchange)) {
      return about(edit) + ": its all-reduce or link priority may not be chosen";
    }
    const std::span<const Piece> pieces(plan.pieces.data() + edit.first_piece,
                                        static_cast<size_t>(edit.num_pieces));
    if (!legal_start(fixed, s, slot, pieces.data(), edit.num_pieces)) {
      return about(edit) + ": " + why_not_startable(fixed, s, slot, pieces);
    }
    start(fixed, s, slot, pieces.data(), edit.num_pieces, edit.exchange);
  }
  return "";
}

void execute(const SimModel& fixed, SimState& s, const Plan& plan) {
  for (const Edit& edit : plan.edits) {
    if (edit.verb == Verb::kPreempt) preempt(fixed, s, edit.job.slot);
    if (edit.verb == Verb::kEnd) end_early(fixed, s, edit.job.slot);
  }
  for (const Edit& edit : plan.edits) {
    if (edit.verb != Verb::kStart) continue;
    start(fixed, s, edit.job.slot, plan.pieces.data() + edit.first_piece, edit.num_pieces,
          edit.exchange);
  }
  if (plan.wake_us != kNever) s.head->timer_us = plan.wake_us;
}

void Draft::reset() {
  for (const Edit& edit : plan_.edits) begun_[static_cast<size_t>(edit.job.slot)] = 0;
  plan_.edits.clear();
  plan_.pieces.clear();
  plan_.wake_us = kNever;
  journal_.clear();
  parts_.clear();
}

Piece* Draft::scratch() {
  scratch_.resize(fixed_->max_pieces());
  return scratch_.data();
}

// `first_part`: where the parts of a job begin that the edit stops.
Draft::Undo Draft::undo_of(int32_t slot, size_t first_part) const {
  const SimState& s = *state_;
  return {.record = s.slot_records[slot],
          .slot = slot,
          .queue_rank = s.queue_rank[slot],
          .next_rank = *s.next_rank,
          .ready_horizon_us = s.head->ready_horizon_us,
          .run_start_us = fixed_->faults ? s.run_start_us[slot] : 0,
          .checkpointed_us = fixed_->faults ? s.checkpointed_us[slot] : 0,
          .moved_bytes = s.head->moved_bytes,
          .first_part = first_part,
          .num_parts = parts_.size() - first_part,
          .num_pieces = plan_.pieces.size(),
          .exchange = all_reduce_settings_of(*fixed_, s, slot)};
}

bool Draft::start(int32_t slot, const Piece* pieces, int32_t num_pieces,
                  const AllReduceSettings& exchange) {
  SimState& s = *state_;
  if (!legal_start(*fixed_, s, slot, pieces, num_pieces, exchange)) return false;
  journal_.push_back(undo_of(slot, parts_.size()));
  yard::start(*fixed_, s, slot, pieces, num_pieces, exchange);
  // Writes what the job got to the plan, GPU by GPU, so that the plan has the same effect when it
  // is executed in two phases, whatever the order of the draft's edits.
  const auto first = static_cast<int32_t>(plan_.pieces.size());
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    const bool share = is_gpu_share(*fixed_, s, slot, p);
    plan_.pieces.push_back({s.part_node[p], share ? 0 : count_bits(s.part_mask[p]),
                            s.part_role_group[p], s.part_tasks[p], s.part_mask[p]});
  }
  // The parts of a job with a shape are chained from the last to the first.
  if (s.shape[slot] != kNone) std::reverse(plan_.pieces.begin() + first, plan_.pieces.end());
  const auto recorded = static_cast<int32_t>(plan_.pieces.size()) - first;
  plan_.edits.push_back({Verb::kStart, {slot, s.generation[slot]}, first, recorded, exchange});
  begun_[static_cast<size_t>(slot)] = 1;
  return true;
}

bool Draft::preempt(int32_t slot) {
  return legal_preempt(*fixed_, *state_, slot) && stop_job(Verb::kPreempt, slot);
}

bool Draft::end(int32_t slot) {
  return legal_end_early(*fixed_, *state_, slot) && stop_job(Verb::kEnd, slot);
}

// Returns false if this draft starts the job.
bool Draft::stop_job(Verb verb, int32_t slot) {
  SimState& s = *state_;
  if (begun_[static_cast<size_t>(slot)]) return false;
  const size_t first = parts_.size();
  for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
    parts_.push_back({s.part_node[p], s.part_mask[p], s.part_role_group[p], s.part_tasks[p],
                      vacating_resources_at(*fixed_, s, slot, p)});
  }
  journal_.push_back(undo_of(slot, first));
  plan_.edits.push_back({verb, {slot, s.generation[slot]}});
  if (verb == Verb::kPreempt) {
    yard::preempt(*fixed_, s, slot);
  } else {
    end_early(*fixed_, s, slot);
  }
  return true;
}

void Draft::put_stops_first() {
  const auto starts = [](const Edit& edit) { return edit.verb == Verb::kStart; };
  if (std::is_partitioned(plan_.edits.begin(), plan_.edits.end(), std::not_fn(starts))) return;
  const std::vector<Edit> edits = plan_.edits;
  const std::vector<Piece> pieces = plan_.pieces;
  undo_to(0);
  for (const Edit& edit : edits) {
    if (!starts(edit)) stop_job(edit.verb, edit.job.slot);
  }
  for (const Edit& edit : edits) {
    if (!starts(edit)) continue;
    const bool started =
        start(edit.job.slot, pieces.data() + edit.first_piece, edit.num_pieces, edit.exchange);
    YARD_CHECK(started, "a start needs GPUs that are freed only after it");
  }
}

void Draft::undo_to(size_t mark) {
  while (journal_.size() > mark) {
    const Undo u = journal_.back();
    journal_.pop_back();
    const Edit edit = plan_.edits.back();
    plan_.edits.pop_back();
    SimState& s = *state_;
    if (edit.verb == Verb::kStart) {
      begun_[static_cast<size_t>(u.slot)] = 0;
      release(*fixed_, s, u.slot);
      --s.head->starts;
      // Restores the former position in the queue: the slot still has its neighbours' links, and
      // edits are undone in reverse order, so that they are neighbours again.
      if (u.record.phase == Phase::kWaiting) queue_link(s, u.slot);
    } else {
      undo_stop(edit.verb, u);
    }
    // The undone edit has changed which lists the job is in, and its parts.
    SlotRecord& record = s.slot_records[u.slot];
    const SlotRecord now = record;
    record = u.record;
    record.is_changed = now.is_changed;
    record.is_dirty = now.is_dirty;
    record.first_part = now.first_part;
    record.held_pos = now.held_pos;
    s.queue_rank[u.slot] = u.queue_rank;
    *s.next_rank = u.next_rank;
    s.head->moved_bytes = u.moved_bytes;
    s.head->ready_horizon_us = u.ready_horizon_us;
    if (fixed_->faults) {
      s.checkpointed_us[u.slot] = u.checkpointed_us;
      s.run_start_us[u.slot] = u.run_start_us;
    }
    set_all_reduce_settings(*fixed_, s, u.slot, u.exchange);
    if (record.phase == Phase::kRunning) begin_contention(*fixed_, s, u.slot);
    parts_.resize(u.first_part);
    plan_.pieces.resize(u.num_pieces);
  }
}

void Draft::undo_stop(Verb verb, const Undo& u) {
  SimState& s = *state_;
  if (s.phase[u.slot] == Phase::kWaiting) queue_remove(s, u.slot);
  s.phase[u.slot] = u.record.phase;
  int32_t chain = kNone;
  for (size_t i = u.num_parts; i-- > 0;) {
    const HeldPart& part = parts_[u.first_part + i];
    if (fixed_->faults) {  // GPUs that are down were not freed when the job left
      const uint64_t idle = part.mask & s.idle_down_mask[part.node];
      s.idle_down_mask[part.node] &= ~idle;
      s.head->down_gpus -= count_bits(idle);
    }
    chain = hold_part(*fixed_, s, u.slot, part.node, part.mask, part.group, part.tasks, chain);
    restore_vacating_resources(*fixed_, s, u.slot, chain, part.leaving);
  }
  s.first_part[u.slot] = chain;
  add_sharing_kind_to_gpus(*fixed_, s, u.slot);
  add_gpu_holder(s, u.slot);
  if (s.tenant[u.slot] != kNone) s.tenant_gpus[s.tenant[u.slot]] += s.gpus[u.slot];
  if (verb == Verb::kPreempt) --s.head->preemptions;
}

}  // namespace yard
