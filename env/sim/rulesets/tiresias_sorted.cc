// sjf, shortest and shortest-gpu of Tiresias' simulator, and its placement "yarn". All live jobs
// are in one list, sorted stably at every event (ties keep their order, the newest last). Then the
// whole cluster is given out again in this order, and jobs that do not fit are skipped.

#include <algorithm>
#include <span>

#include "env/base/core/error.h"
#include "env/sim/rulesets/service_list.h"
#include "env/sim/rulesets/tiresias.h"

namespace yard {
namespace {

class Sorted {
 public:
  Sorted(RuleSetSimBySlot& sim, SortedBy order, const SpecColumns& spec, const YarnPlacer* yarn)
      : spec_(spec), sim_(sim), yarn_(yarn), order_(order) {}

  void run() {
    while (!sim_.done()) {
      const int64_t now_s = std::min(end_s_, sim_.next_arrival_s());
      if (now_s == kNever) sim_.throw_stuck();
      const int64_t passed_s = list_.empty() ? 0 : now_s - sim_.now_s();
      sim_.begin_event(now_s);
      advance_jobs(passed_s);
      while (sim_.next_arrival_s() == now_s) add(sim_.arrive());
      yarn_ == nullptr ? count() : place_anew();
      sim_.end_event();
    }
  }

 private:
  struct Entry {
    int64_t key;
    int64_t left_s;
    int32_t slot;
    int32_t gpus;
    bool runs;
  };

  int64_t key_of(int64_t left_s, int32_t gpus) const {
    return order_ == SortedBy::kGpus        ? gpus
           : order_ == SortedBy::kRemaining ? left_s
                                            : left_s * gpus;
  }

  // Time passes for running jobs.
  void advance_jobs(int64_t passed_s) {
    list_.update([&](Entry& entry) {
      if (!entry.runs) return true;
      entry.left_s -= passed_s;
      entry.key = key_of(entry.left_s, entry.gpus);
      if (entry.left_s == 0) sim_.finish(entry.slot);
      return entry.left_s > 0;
    });
  }

  void add(int32_t slot) {
    const int64_t left_s = sim_.trace_run_s(slot);
    const int32_t gpus = sim_.state().gpus[slot];
    list_.add({key_of(left_s, gpus), left_s, slot, gpus, false});
  }

  // Computes the new allocation by counting, and applies only the difference.
  void count() {
    end_s_ = kNever;
    starts_.clear();
    const auto gets = [&](Entry& entry) {
      end_s_ = std::min(end_s_, sim_.now_s() + entry.left_s);
      if (!entry.runs) starts_.push_back(entry.slot);
      entry.runs = true;
    };
    const auto loses = [&](Entry& entry) {
      sim_.preempt(entry.slot);
      entry.runs = false;
    };
    list_.allocate_in_order(spec_.total_gpus, sim_.state().head->held, gets, loses);
    for (const int32_t slot : starts_) sim_.start_anywhere(slot);
  }

  // The same with yarn, which may move jobs: they get what it gives them in an empty cluster.
  void place_anew() {
    free_.assign(spec_.node_gpus, spec_.node_gpus + spec_.num_nodes);
    found_.resize(static_cast<size_t>(spec_.num_nodes));
    end_s_ = kNever;
    starts_.clear();
    moves_.clear();
    for (Entry& entry : list_) {
      const int32_t n = yarn_->place(free_.data(), entry.gpus, found_.data());
      if (n == 0) {
        if (entry.runs) sim_.preempt(entry.slot);
        entry.runs = false;
        continue;
      }
      for (int32_t i = 0; i < n; ++i) free_[static_cast<size_t>(found_[i].node)] -= found_[i].gpus;
      end_s_ = std::min(end_s_, sim_.now_s() + entry.left_s);
      const auto slot = static_cast<size_t>(entry.slot);
      if (places_.size() <= slot) places_.resize(slot + 1);
      const auto found = std::span(found_).first(static_cast<size_t>(n));
      if (entry.runs && std::ranges::equal(places_[slot], found)) continue;
      places_[slot].assign(found.begin(), found.end());
      (entry.runs ? moves_ : starts_).push_back(entry.slot);
      entry.runs = true;
    }
    for (const int32_t slot : moves_) sim_.leave_for_move(slot);
    for (const int32_t slot : moves_)
      sim_.start_after_move(slot, places_[static_cast<size_t>(slot)]);
    for (const int32_t slot : starts_) sim_.start(slot, places_[static_cast<size_t>(slot)]);
  }

  const SpecColumns& spec_;
  RuleSetSimBySlot& sim_;
  const YarnPlacer* yarn_;
  SortedBy order_;
  JobServiceOrder<Entry> list_;
  int64_t end_s_ = kNever;  // the next end of a running job
  std::vector<int32_t> starts_, moves_;
  std::vector<int32_t> free_;  // (M)
  std::vector<Piece> found_;
  std::vector<std::vector<Piece>> places_;  // by slot, under yarn: where it runs
};

}  // namespace

YarnPlacer::YarnPlacer(const SpecColumns& spec) : node_gpus_(spec.max_node_gpus) {
  std::vector<int32_t> racks;
  for (int32_t m = 0; m < spec.num_nodes; ++m) {
    if (spec.node_gpus[m] != node_gpus_) {
      throw InputError("cluster", "nodes of equal size, as required by placement yarn",
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

int32_t YarnPlacer::place(const int32_t* free, int32_t gpus, Piece* out) const {
  for (const std::vector<int32_t>& nodes : switches_) {
    if (gpus > node_gpus_) {
      const int32_t n = place_across_nodes(nodes, free, gpus, out);
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

int32_t YarnPlacer::place_across_nodes(const std::vector<int32_t>& nodes, const int32_t* free,
                                       int32_t gpus, Piece* out) const {
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

Outcome replay_sorted(RuleSetSimBySlot& sim, SortedBy order, const SpecColumns& spec,
                      const YarnPlacer* yarn) {
  Sorted(sim, order, spec, yarn).run();
  return sim.outcome_at_end();
}

}  // namespace yard
