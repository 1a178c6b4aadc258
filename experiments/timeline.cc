#include "experiments/timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "env/base/text.h"

namespace yard {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number(int64_t value) { return std::to_string(value); }

}  // namespace

Timeline::Timeline(const Scenario& scenario)
    : scenario_(scenario),
      lanes_(static_cast<size_t>(scenario.fixed.spec.total_gpus)),
      holder_(lanes_.size(), kNone) {}

void Timeline::begin(const std::string& policy) {
  ++process_;
  std::fill(lanes_.begin(), lanes_.end(), Lane{});
  const std::string head = "{\"ph\":\"M\",\"pid\":" + number(process_);
  events_ += head + ",\"name\":\"process_name\",\"args\":{\"name\":" + quoted(policy) + "}},\n";
  const SpecColumns& spec = scenario_.fixed.spec;
  for (int32_t node = 0; node < spec.num_nodes; ++node) {
    for (int32_t i = 0; i < spec.node_gpus[node]; ++i) {
      const std::string lane = ",\"tid\":" + number(spec.node_gpu0[node] + i);
      const std::string name = scenario_.cluster.nodes[static_cast<size_t>(node)].name + " GPU ";
      events_ += head + lane +
                 ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(name + number(i)) +
                 "}},\n";
    }
  }
}

void Timeline::close(size_t gpu, int64_t now_us) {
  Lane& lane = lanes_[gpu];
  if (lane.job == kNone) return;
  const Job& job = scenario_.trace.jobs[static_cast<size_t>(scenario_.job_of(lane.job))];
  events_ += "{\"ph\":\"X\",\"pid\":" + number(process_) +
             ",\"tid\":" + number(static_cast<int64_t>(gpu)) + ",\"ts\":" + number(lane.since_us) +
             ",\"dur\":" + number(now_us - lane.since_us) + ",\"name\":" + quoted(job.id) +
             ",\"args\":{\"gpus\":" + number(job.gpus) + "}},\n";
  lane.job = kNone;
}

void Timeline::watch(const ClusterState& state) {
  std::fill(holder_.begin(), holder_.end(), kNone);
  for (int32_t i = 0; i < state.head->held; ++i) {
    const int32_t slot = state.held_list[i];
    for (int32_t part = state.first_part[slot]; part != kNone; part = state.part_next[part]) {
      const int32_t gpu0 = scenario_.fixed.spec.node_gpu0[state.part_node[part]];
      for (uint64_t mask = state.part_mask[part]; mask != 0; mask &= mask - 1) {
        holder_[static_cast<size_t>(gpu0 + lowest_bit(mask))] = state.job[slot];
      }
    }
  }
  const int64_t now_us = state.head->now_us;
  for (size_t gpu = 0; gpu < lanes_.size(); ++gpu) {
    if (lanes_[gpu].job == holder_[gpu]) continue;
    close(gpu, now_us);
    lanes_[gpu] = {holder_[gpu], now_us};
  }
}

void Timeline::end(int64_t now_us) {
  for (size_t gpu = 0; gpu < lanes_.size(); ++gpu) close(gpu, now_us);
}

std::string Timeline::json() const {
  std::string_view events = events_;
  if (events.ends_with(",\n")) events.remove_suffix(2);
  return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + std::string(events) + "\n]}\n";
}

}  // namespace yard
