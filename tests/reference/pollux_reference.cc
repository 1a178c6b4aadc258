#include "tests/reference/pollux_reference.h"

#include <algorithm>
#include <cmath>

namespace yard::reference {
namespace {

// To the nearest integer, halves to the even one.
int64_t round_half_even(double x) {
  const double down = std::floor(x);
  const double over = x - down;
  const auto whole = static_cast<int64_t>(down);
  if (over != 0.5) return over < 0.5 ? whole : whole + 1;
  return whole % 2 == 0 ? whole : whole + 1;
}

struct State {
  int64_t time_s = 0;
  int64_t rescale_s = 0;
  std::string placement;
  double progress = 0;
  int epoch = 0;
  int64_t completion_s = -1;
  std::vector<int> nodes;  // one entry per GPU
  bool known = false;
  bool running = false;
  int64_t last_check_s = 0;
  int64_t executed_s = 0;
};

std::string placement_of(const std::vector<int>& nodes) {
  std::string text;
  for (size_t i = 0; i < nodes.size();) {
    size_t end = i;
    while (end < nodes.size() && nodes[end] == nodes[i]) ++end;
    if (!text.empty()) text += "+";
    text += std::to_string(end - i);
    i = end;
  }
  return text;
}

}  // namespace

std::vector<PolluxOutcome> pollux(const std::vector<PolluxJob>& jobs,
                                  const std::vector<int>& node_gpus, const Goodput& goodput,
                                  int64_t round_s) {
  const int n = static_cast<int>(jobs.size());
  std::vector<State> states(jobs.size());
  std::vector<PolluxOutcome> outcomes(jobs.size());
  std::vector<int> queues[2];
  const auto state = [&](int j) -> State& { return states[static_cast<size_t>(j)]; };
  const auto job = [&](int j) -> const PolluxJob& { return jobs[static_cast<size_t>(j)]; };
  int64_t clock_s = 0;
  const auto all_complete = [&] {
    return std::all_of(states.begin(), states.end(),
                       [](const State& s) { return s.completion_s >= 0; });
  };
  while (!all_complete()) {
    // Advance every job by a round.
    for (int j = 0; j < n; ++j) {
      State& s = state(j);
      int64_t left_s = round_s;
      if (!s.placement.empty()) {
        const int64_t delay_s = std::min(s.rescale_s, left_s);
        s.time_s += delay_s;
        s.rescale_s -= delay_s;
        left_s -= delay_s;
        while (left_s > 0 && s.completion_s < 0) {
          const double rate = goodput(j, s.placement, s.epoch);
          const double next = job(j).next_progress[static_cast<size_t>(s.epoch)];
          if (s.progress + rate * static_cast<double>(left_s) < next) {
            s.progress += rate * static_cast<double>(left_s);
            s.time_s += left_s;
            left_s = 0;
          } else {
            ++s.epoch;
            const int64_t delta_s = round_half_even((next - s.progress) / rate);
            if (s.epoch > job(j).completion_epoch) s.completion_s = s.time_s + delta_s;
            s.progress = next;
            s.time_s += delta_s;
            left_s -= delta_s;
          }
        }
      }
      s.time_s += left_s;
    }
    clock_s += round_s;
    std::vector<int> active;
    for (int j = 0; j < n; ++j) {
      if (job(j).submit_s <= clock_s && state(j).completion_s < 0) active.push_back(j);
    }
    if (active.empty()) continue;
    // Assign jobs to queues.
    const auto is_active = [&](int j) {
      return std::find(active.begin(), active.end(), j) != active.end();
    };
    for (std::vector<int>& queue : queues) {
      std::erase_if(queue, [&](int j) { return !is_active(j); });
    }
    for (const int j : active) {
      if (state(j).known) continue;
      state(j).known = true;
      queues[0].push_back(j);
    }
    for (const int j : active) {
      State& s = state(j);
      const int64_t passed_s = clock_s - s.last_check_s;
      s.last_check_s = clock_s;
      if (!s.running) continue;
      s.executed_s += passed_s;
      const auto in_first = std::find(queues[0].begin(), queues[0].end(), j);
      if (in_first == queues[0].end() || s.executed_s * job(j).gpus < 57'600) continue;
      queues[0].erase(in_first);
      queues[1].push_back(j);
    }
    // Choose the jobs that run.
    int count = 0;
    for (const int gpus : node_gpus) count += gpus;
    std::vector<std::vector<int>> nodes(jobs.size());
    for (const int j : active) nodes[static_cast<size_t>(j)] = state(j).nodes;
    for (const std::vector<int>& queue : queues) {
      for (const int j : queue) {
        state(j).running = job(j).gpus <= count;
        if (state(j).running) {
          count -= job(j).gpus;
        } else {
          nodes[static_cast<size_t>(j)].clear();
        }
      }
    }
    // Place them.
    std::vector<int> free = node_gpus;
    for (const std::vector<int>& taken : nodes) {
      for (const int node : taken) --free[static_cast<size_t>(node)];
    }
    for (const std::vector<int>& queue : queues) {
      for (const int j : queue) {
        std::vector<int>& own = nodes[static_cast<size_t>(j)];
        if (!state(j).running || !own.empty()) continue;
        while (static_cast<int>(own.size()) < job(j).gpus) {
          const auto most = std::max_element(free.begin(), free.end());
          const int take = std::min(*most, job(j).gpus - static_cast<int>(own.size()));
          for (int i = 0; i < take; ++i) own.push_back(static_cast<int>(most - free.begin()));
          *most -= take;
        }
      }
    }
    for (const int j : active) {
      State& s = state(j);
      const std::vector<int>& now = nodes[static_cast<size_t>(j)];
      if (now == s.nodes) continue;
      PolluxOutcome& outcome = outcomes[static_cast<size_t>(j)];
      if (now.empty()) {
        ++outcome.stops;
      } else {
        if (outcome.start_s < 0) outcome.start_s = clock_s;
        ++outcome.starts;
        s.rescale_s = 30;
      }
      s.nodes = now;
      s.placement = placement_of(now);
    }
  }
  for (int j = 0; j < n; ++j) {
    outcomes[static_cast<size_t>(j)].completion_s = state(j).completion_s;
  }
  return outcomes;
}

}  // namespace yard::reference
