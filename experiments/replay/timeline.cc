#include "experiments/replay/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/sim/rules/shape.h"

namespace yard {
namespace {

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number_of(int64_t value) { return std::to_string(value); }

}  // namespace

Timeline::Timeline(const Scenario& scenario, Sink sink)
    : scenario_(scenario), sink_(std::move(sink)) {
  const SpecColumns& spec = scenario.fixed.spec;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    node_of_.insert(node_of_.end(), static_cast<size_t>(spec.node_gpus[m]), m);
  }
  saves_.resize(node_of_.size());
  sink_("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
}

int64_t Timeline::queue_trace_pid() const { return policy_ * (scenario_.fixed.spec.num_nodes + 1); }

void Timeline::write_event(const std::string& fields) {
  sink_(any_ ? ",\n{" : "{");
  sink_(fields);
  sink_("}");
  any_ = true;
}

void Timeline::begin(const std::string& policy) {
  ++policy_;
  phase_spans_.clear();
  open_slots_.clear();
  std::fill(saves_.begin(), saves_.end(), CheckpointSave{});
  lanes_.assign(node_of_.size(), 0);
  named_.assign(node_of_.size(), 0);
  waiting_ = free_ = -1;
  const auto name = [&](int64_t pid, const std::string& what) {
    const std::string head = "\"ph\":\"M\",\"pid\":" + number_of(pid);
    write_event(head + ",\"name\":\"process_name\",\"args\":{\"name\":" +
                json_text(policy + ": " + what) + "}");
    write_event(
        head + ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" + number_of(pid) + "}");
  };
  name(queue_trace_pid(), "queue");
  for (size_t m = 0; m < scenario_.cluster.nodes.size(); ++m) {
    name(queue_trace_pid() + 1 + static_cast<int64_t>(m), scenario_.cluster.nodes[m].name);
  }
  for (size_t gpu = 0; gpu < node_of_.size(); ++gpu) name_lane(static_cast<int32_t>(gpu), 0);
}

// Lanes are threads: lane k of GPU g of G has the id k G + g.
void Timeline::name_lane(int32_t gpu, int32_t lane) {
  uint64_t& named = named_[static_cast<size_t>(gpu)];
  if (named >> lane & 1) return;
  named |= uint64_t{1} << lane;
  const int32_t node = node_of_[static_cast<size_t>(gpu)];
  std::string name = "GPU " + number_of(gpu - scenario_.fixed.spec.node_gpu0[node]);
  if (lane > 0) name += ", beside " + number_of(lane);
  write_event("\"ph\":\"M\",\"pid\":" + number_of(queue_trace_pid() + 1 + node) +
              ",\"tid\":" + number_of(lane * static_cast<int64_t>(node_of_.size()) + gpu) +
              ",\"name\":\"thread_name\",\"args\":{\"name\":" + json_text(name) + "}");
}

void Timeline::write_slice(int32_t gpu, int32_t lane, int32_t job, const char* what,
                           int64_t from_us, int64_t to_us) {
  if (to_us <= from_us) return;
  name_lane(gpu, lane);
  const Job& of = scenario_.trace.jobs[static_cast<size_t>(scenario_.original_job_of(job))];
  write_event("\"ph\":\"X\",\"cat\":\"" + std::string(what) + "\",\"pid\":" +
              number_of(queue_trace_pid() + 1 + node_of_[static_cast<size_t>(gpu)]) +
              ",\"tid\":" + number_of(lane * static_cast<int64_t>(node_of_.size()) + gpu) +
              ",\"ts\":" + number_of(from_us) + ",\"dur\":" + number_of(to_us - from_us) +
              ",\"name\":" + json_text(of.id) + ",\"args\":{\"phase\":\"" + what +
              "\",\"gpus\":" + number_of(of.gpus) + "}");
}

void Timeline::end_checkpoint_save(int32_t gpu, int64_t now_us) {
  CheckpointSave& save = saves_[static_cast<size_t>(gpu)];
  if (save.job == kNone) return;
  write_slice(gpu, 0, save.job, "save", save.from_us, std::min(save.until_us, now_us));
  save.job = kNone;
}

void Timeline::close(PhaseSpan& phase_span, const SimState* state, int64_t now_us) {
  const char* what = phase_span.phase == Phase::kRunning ? "run" : "start";
  for (const HeldLane& hold : phase_span.holds) {
    const auto gpu = static_cast<size_t>(hold.gpu);
    write_slice(hold.gpu, hold.lane, phase_span.job, what, phase_span.since_us, now_us);
    lanes_[gpu] &= ~(uint64_t{1} << hold.lane);
    const bool saves = state != nullptr && phase_span.phase == Phase::kRunning && hold.lane == 0 &&
                       state->gpu_ready_us[gpu] > now_us;
    if (saves) saves_[gpu] = {phase_span.job, now_us, state->gpu_ready_us[gpu]};
  }
  phase_span.job = kNone;
}

void Timeline::open_phase_span(const SimModel& fixed, const SimState& s, int32_t slot) {
  PhaseSpan& phase_span = phase_spans_[static_cast<size_t>(slot)];
  phase_span.job = s.job[slot];
  phase_span.phase = s.phase[slot];
  phase_span.since_us = s.head->now_us;
  phase_span.holds.clear();
  for (int32_t part = s.first_part[slot]; part != kNone; part = s.part_next[part]) {
    const int32_t gpu0 = fixed.spec.node_gpu0[s.part_node[part]];
    for (uint64_t mask = s.part_mask[part]; mask != 0; mask &= mask - 1) {
      const int32_t gpu = gpu0 + lowest_set_bit_index(mask);
      uint64_t& lanes = lanes_[static_cast<size_t>(gpu)];
      const int32_t lane = lanes == ~uint64_t{0} ? 63 : lowest_set_bit_index(~lanes);
      lanes |= uint64_t{1} << lane;
      if (lane == 0) end_checkpoint_save(gpu, s.head->now_us);
      phase_span.holds.push_back({gpu, lane});
    }
  }
}

bool Timeline::is_unchanged(const SimState& s, int32_t slot, const PhaseSpan& phase_span) const {
  if (phase_span.job != s.job[slot] || phase_span.phase != s.phase[slot]) return false;
  size_t i = 0;
  for (int32_t part = s.first_part[slot]; part != kNone; part = s.part_next[part]) {
    const int32_t gpu0 = scenario_.fixed.spec.node_gpu0[s.part_node[part]];
    for (uint64_t mask = s.part_mask[part]; mask != 0; mask &= mask - 1, ++i) {
      if (i == phase_span.holds.size() ||
          phase_span.holds[i].gpu != gpu0 + lowest_set_bit_index(mask))
        return false;
    }
  }
  return i == phase_span.holds.size();
}

void Timeline::record_state(const SimModel& fixed, const SimState& s) {
  ++step_;
  const int64_t now_us = s.head->now_us;
  phase_spans_.resize(static_cast<size_t>(s.head->high_water));
  // Close all leaving slices before opening others: two jobs may have swapped GPUs.
  std::vector<int32_t> opening;
  for (int32_t i = 0; i < s.head->held; ++i) {
    const int32_t slot = s.holder_slots[i];
    PhaseSpan& phase_span = phase_spans_[static_cast<size_t>(slot)];
    if (phase_span.job != kNone && is_unchanged(s, slot, phase_span)) {
      phase_span.seen = step_;
    } else {
      opening.push_back(slot);
    }
  }
  for (const int32_t slot : open_slots_) {
    PhaseSpan& phase_span = phase_spans_[static_cast<size_t>(slot)];
    if (phase_span.seen != step_) close(phase_span, &s, now_us);
  }
  std::erase_if(open_slots_,
                [&](int32_t slot) { return phase_spans_[static_cast<size_t>(slot)].job == kNone; });
  std::ranges::sort(opening, {}, [&](int32_t slot) { return s.job[slot]; });
  for (const int32_t slot : opening) {
    open_phase_span(fixed, s, slot);
    phase_spans_[static_cast<size_t>(slot)].seen = step_;
    open_slots_.push_back(slot);
  }
  const auto count = [&](const char* what, int32_t value, int32_t& last) {
    if (value == last) return;
    last = value;
    write_event("\"ph\":\"C\",\"pid\":" + number_of(queue_trace_pid()) +
                ",\"ts\":" + number_of(now_us) + ",\"name\":\"" + what + "\",\"args\":{\"" + what +
                "\":" + number_of(value) + "}");
  };
  count("jobs waiting", s.head->waiting, waiting_);
  count("free GPUs", s.head->free_gpus, free_);
}

void Timeline::add_wait(const Wait& wait) {
  const std::string reason = kWaitReasonNames[static_cast<size_t>(wait.reason)];
  const std::string rest = ",\"cat\":\"wait\",\"id\":" + number_of(wait.job) +
                           ",\"pid\":" + number_of(queue_trace_pid()) + ",\"tid\":0,\"name\":\"" +
                           reason + "\"";
  const std::string& id =
      scenario_.trace.jobs[static_cast<size_t>(scenario_.original_job_of(wait.job))].id;
  write_event("\"ph\":\"b\"" + rest + ",\"ts\":" + number_of(wait.from_us) + ",\"args\":{\"job\":" +
              json_text(id) + ",\"detail\":" + json_text(wait.detail) + "}");
  write_event("\"ph\":\"e\"" + rest + ",\"ts\":" + number_of(wait.to_us));
}

void Timeline::end(int64_t now_us) {
  for (const int32_t slot : open_slots_)
    close(phase_spans_[static_cast<size_t>(slot)], nullptr, now_us);
  open_slots_.clear();
  for (size_t gpu = 0; gpu < saves_.size(); ++gpu)
    end_checkpoint_save(static_cast<int32_t>(gpu), now_us);
}

void Timeline::finish() { sink_("\n]}\n"); }

}  // namespace yard
