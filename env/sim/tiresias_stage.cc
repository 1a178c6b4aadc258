#include "env/sim/tiresias_stage.h"

#include <algorithm>

#include "env/base/error.h"
#include "env/base/interrupt.h"

namespace yard {
namespace {

Fixed without_costs(Fixed fixed) {
  fixed.costs = {.save_us = 0, .restore_us = 0, .restore_large_us = 0};
  return fixed;
}

}  // namespace

TiresiasStage::TiresiasStage(const Replay& replay)
    : replay_(replay),
      world_(without_costs(replay.fixed), replay.end_job - replay.first_job),
      s_(world_.state()),
      work_us_(replay.workload.truth().work_us) {
  const SpecColumns& spec = replay.fixed.spec;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_speed[m] != 1) {
      throw InputError("cluster", "GPUs of speed 1 (to the tiresias rules all are alike)",
                       shortest(spec.node_speed[m]) + " at node " + std::to_string(m));
    }
  }
  world_.reset(replay.first_job, replay.end_job);
  pieces_.resize(static_cast<size_t>(spec.num_nodes));
  out_.jobs.resize(static_cast<size_t>(replay.workload.size()));
  out_.begin_us = s_.head->now_us;
  for (int32_t j = replay.first_job; j < replay.end_job; ++j) open_ += replay.workload.scored(j);
  if (open_ == 0) open_ = INT32_MAX;
  look_ahead();
}

void TiresiasStage::look_ahead() {
  const Head& h = *s_.head;
  if (h.arrived == h.end_job) {
    arrival_s_ = kNever;
  } else {
    arrival_s_ = (replay_.fixed.jobs.submit_us[h.arrived] + kUsPerS - 1) / kUsPerS;
  }
}

void TiresiasStage::begin_event(int64_t at_s) {
  now_s_ = at_s;
  clear_changed(s_);
  pass_time(world_.fixed(), s_, at_s * kUsPerS);
}

void TiresiasStage::end_event() {
  Head& h = *s_.head;
  // These rules keep their own agenda; what they did is no news to anybody.
  for (int32_t i = 0; i < h.num_dirty; ++i) s_.is_dirty[s_.dirty[i]] = 0;
  h.num_dirty = 0;
  ++out_.events;
  if (replay_.watch) replay_.watch(s_);
  if ((out_.events & 0xFFF) == 0) throw_if_interrupted();
}

int32_t TiresiasStage::arrive() {
  const int32_t slot = yard::arrive(world_.fixed(), s_, s_.head->arrived++);
  look_ahead();
  return slot;
}

void TiresiasStage::start(int32_t slot, const Piece* pieces, int32_t num_pieces) {
  yard::start(world_.fixed(), s_, slot, pieces, num_pieces);
}

void TiresiasStage::start_anywhere(int32_t slot) {
  int32_t left = s_.gpus[slot], n = 0;
  for (int32_t m = 0; left > 0; ++m) {
    const int32_t take = std::min(left, s_.free_count[m]);
    if (take == 0) continue;
    pieces_[static_cast<size_t>(n++)] = {m, take};
    left -= take;
  }
  start(slot, pieces_.data(), n);
}

void TiresiasStage::preempt(int32_t slot) { yard::preempt(world_.fixed(), s_, slot); }

void TiresiasStage::finish(int32_t slot) {
  JobOutcome& job = out_.jobs[static_cast<size_t>(s_.job[slot])];
  job = {s_.first_start_us[slot], s_.head->now_us, s_.preempted[slot], s_.started[slot] - 1};
  if (s_.phase[slot] == Phase::kWaiting) {
    queue_remove(s_, slot);
    s_.phase[slot] = Phase::kDone;
    --s_.head->live;
    ++s_.head->finished;
  } else {
    detail::finish(world_.fixed(), s_, slot);
  }
  mark_changed(s_, slot);
  open_ -= replay_.workload.scored(s_.job[slot]);
}

void TiresiasStage::leave(int32_t slot) {
  preempt(slot);
  --s_.preempted[slot];
  --s_.head->preemptions;
}

void TiresiasStage::settle_in(int32_t slot, const Piece* pieces, int32_t num_pieces) {
  start(slot, pieces, num_pieces);
  --s_.started[slot];
  --s_.head->starts;
}

void TiresiasStage::stuck() const {
  throw RunError("tiresias: " + replay_.policy + "/" + replay_.placement + " leaves " +
                 std::to_string(s_.head->waiting) + " jobs waiting with nothing running");
}

Outcome TiresiasStage::take_outcome() {
  out_.end_us = s_.head->now_us;
  out_.held_time_us = s_.head->held_time_us;
  out_.decisions = out_.events;
  return std::move(out_);
}

YarnPlacement::YarnPlacement(const SpecColumns& spec) : node_gpus_(spec.max_node_gpus) {
  std::vector<int32_t> racks;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_gpus[m] != node_gpus_) {
      throw InputError("cluster", "nodes of equal size for the placement yarn",
                       std::to_string(spec.node_gpus[m]) + " GPUs at node " + std::to_string(m) +
                           ", " + std::to_string(node_gpus_) + " elsewhere");
    }
    const auto known = std::find(racks.begin(), racks.end(), spec.node_rack[m]);
    const auto rack = static_cast<size_t>(known - racks.begin());
    if (known == racks.end()) {
      racks.push_back(spec.node_rack[m]);
      switches_.emplace_back();
    }
    switches_[rack].push_back(m);
  }
}

int32_t YarnPlacement::place(const int32_t* free, int32_t gpus, Piece* out) const {
  for (const std::vector<int32_t>& nodes : switches_) {
    if (gpus > node_gpus_) {
      const int32_t n = span(nodes, free, gpus, out);
      if (n > 0) return n;
      continue;
    }
    for (const int32_t m : nodes) {
      if (free[m] < gpus) continue;
      *out = {m, gpus};
      return 1;
    }
  }
  return 0;
}

int32_t YarnPlacement::span(const std::vector<int32_t>& nodes, const int32_t* free, int32_t gpus,
                            Piece* out) const {
  const int32_t whole = gpus / node_gpus_, rest = gpus % node_gpus_;
  int32_t n = 0;
  for (size_t i = 0; i < nodes.size() && n < whole; ++i) {
    if (free[nodes[i]] == node_gpus_) out[n++] = {nodes[i], node_gpus_};
  }
  if (n < whole) return 0;
  if (rest == 0) return n;
  for (const int32_t m : nodes) {
    const bool taken = free[m] == node_gpus_ && m <= out[whole - 1].node;
    if (taken || free[m] < rest) continue;
    out[n] = {m, rest};
    return n + 1;
  }
  return 0;
}

}  // namespace yard
