// Rules of Lucid's simulator (Hu et al., ASPLOS 2023; before it Helios', SC 2021): a clock with
// ticks of one second. Tick 0 is the trace's zero; submissions and run times are cut to whole
// seconds. In a tick, jobs end, then jobs arrive, then jobs start and stop.
//
//   fifo, sjf       queue in order of submission or run time; its head starts or all wait
//   srtf, tiresias  preemptive, see Preemptive
//
//   consolidate     see Consolidate; nodes have 8 GPUs
//   random          GPUs from the first nodes that have any (the original's name for it)
//
// The original plays each virtual cluster separately, on nodes of its own. Clusters and traces do
// not assign nodes to tenants here: all tenants share one virtual cluster. To play one separately,
// run its jobs on its nodes.
//
// Difference from the original: under fifo and sjf, a job of less than a second takes one second;
// the original never ends it.
#include <algorithm>
#include <compare>
#include <optional>
#include <string>

#include "env/base/core/error.h"
#include "env/sim/rulesets/fifo_engine.h"
#include "env/sim/rulesets/service_list.h"

namespace yard {
namespace {

constexpr int32_t kNodeGpus = 8;
constexpr int32_t kLargeGpus = 8;  // larger jobs cost more to preempt

struct Config {
  int64_t preempt_s = 40;
  int64_t preempt_large_s = 60;
  int64_t limit_gpu_s = 18000;
  int64_t round_s = 60;

  void fields(auto& f) {
    f("preempt_s", preempt_s, 0, 1'000'000, "seconds added to a preempted job of up to 8 GPUs");
    f("preempt_large_s", preempt_large_s, 0, 1'000'000,
      "seconds added to a preempted job of more than 8 GPUs");
    f("limit_gpu_s", limit_gpu_s, 0, 1'000'000'000'000,
      "with policy tiresias: attained service, in GPU-seconds, beyond which a job has low "
      "priority");
    f("round_s", round_s, 1, 1'000'000, "seconds between decisions of policy tiresias");
  }
};

// Up to 8 GPUs: the node with the fewest free GPUs that suffice. More: idle nodes in node order.
// The remainder goes to the node with most free GPUs among the others, if it has enough.
class Consolidate final : public GangPlacer {
 public:
  explicit Consolidate(const SpecColumns& spec) : num_nodes_(spec.num_nodes) {
    for (int32_t m = 0; m < spec.num_nodes; ++m) {
      if (spec.node_gpus[m] == kNodeGpus) continue;
      throw InputError("cluster", "nodes of 8 GPUs, as required by lucid's placement consolidate",
                       std::to_string(spec.node_gpus[m]) + " GPUs at node " + std::to_string(m));
    }
  }

  int32_t place(const int32_t* free, int32_t gpus, Piece* out) const override {
    if (gpus <= kNodeGpus) {
      const int32_t node = tightest(free, gpus);
      if (node == kNone) return 0;
      *out = {node, gpus};
      return 1;
    }
    const int32_t whole = gpus / kNodeGpus, rest = gpus % kNodeGpus;
    int32_t n = 0, next = kNone;  // next: most free GPUs after the whole nodes
    for (int32_t m = 0; m < num_nodes_; ++m) {
      if (free[m] == kNodeGpus && n < whole) {
        out[n++] = {m, kNodeGpus};
      } else if (next == kNone || free[m] > free[next]) {
        next = m;
      }
    }
    if (n < whole) return 0;
    if (rest == 0) return n;
    if (next == kNone || free[next] < rest) return 0;
    out[n] = {next, rest};
    return n + 1;
  }

 private:
  int32_t tightest(const int32_t* free, int32_t gpus) const {
    int32_t best = kNone;
    for (int32_t m = 0; m < num_nodes_; ++m) {
      if (free[m] < gpus || (best != kNone && free[m] >= free[best])) continue;
      best = m;
      if (free[m] == gpus) break;
    }
    return best;
  }

  int32_t num_nodes_;
};

// The schedulers srtf and tiresias. Every tick (tiresias: every whole minute):
//
//  1. a running job with nothing left ends, others have a second less left: a job runs one second
//     longer than it needs;
//  2. jobs arrive, at the end of the waiting list;
//  3. all jobs are sorted, and GPUs are given out by number; jobs that do not fit are skipped.
//     `srtf` sorts by time left, ties in the order of the waiting list, then of the running list.
//     `tiresias` puts jobs with little service first, each group by submission, ties in the order
//     of the running list, then of the waiting list;
//  4. running jobs that get nothing are preempted: they have more left, and wait at the list's end;
//  5. waiting jobs that got GPUs are placed, in order. If fragmentation prevents it, a job goes on
//     waiting, and the GPUs counted for it stay unused.
//
// Only ticks are played at which a job arrives or ends, or (tiresias) a running job exceeds the
// limit of service. At others, steps 3 to 5 change nothing, for running jobs only move ahead of
// waiting ones. A running job that got GPUs behind a waiting job also fits before it, and leaves it
// as many. Failed placements fail again, as the same GPUs are free or fewer.
class Preemptive {
 public:
  Preemptive(RuleSetSimBySlot& stage, bool by_remaining, const Config& config,
             const GangPlacer* placer)
      : sim_(stage),
        s_(stage.state()),
        by_remaining_(by_remaining),
        config_(config),
        placer_(placer),
        total_gpus_(s_.head->free_gpus) {}

  Outcome run() {
    while (!sim_.done()) {
      now_s_ = std::min({end_s_, sim_.next_arrival_s(), round_s_});
      if (now_s_ == kNever) sim_.throw_stuck();
      sim_.begin_event(now_s_);
      advance_jobs();
      while (sim_.next_arrival_s() <= now_s_) add(sim_.arrive());
      const bool decides = by_remaining_ || now_s_ % config_.round_s == 0;
      if (decides) decide();
      find_next_arrival(!decides);
      sim_.end_event();
    }
    return sim_.outcome_at_end();
  }

 private:
  // The smaller goes first.
  struct Key {
    int32_t level;   // tiresias
    int64_t time_s;  // srtf: left; tiresias: of submission
    int32_t list;
    int64_t turn;  // when the job entered its list
    auto operator<=>(const Key&) const = default;
  };

  struct Entry {
    Key key = {};
    int64_t submit_s = 0;
    int64_t left_s = 0;      // of a waiting job
    int64_t end_s = 0;       // of a running job
    int64_t since_s = 0;     // when it started
    int64_t base_gpu_s = 0;  // service until then
    int64_t turn = 0;
    int32_t slot = kNone;
    int32_t gpus = 0;
    bool runs = false;

    int64_t service_gpu_s(int64_t now_s) const {
      return base_gpu_s + (runs ? gpus * (now_s - since_s) : 0);
    }
  };

  Key key_of(const Entry& entry) const {
    if (by_remaining_) {
      const int64_t left_s = entry.runs ? entry.end_s - 1 - now_s_ : entry.left_s;
      return {0, left_s, entry.runs, entry.turn};
    }
    const bool below = entry.service_gpu_s(now_s_) > config_.limit_gpu_s;
    return {below, entry.submit_s, !entry.runs, entry.turn};
  }

  // Step 1.
  void advance_jobs() {
    list_.update([&](Entry& entry) {
      if (entry.runs && entry.end_s == now_s_) {
        sim_.finish(entry.slot);
        return false;
      }
      entry.key = key_of(entry);
      return true;
    });
  }

  void add(int32_t slot) {
    Entry entry{.submit_s = s_.submit_us[slot] / RuleSetSimBySlot::kUsPerS,
                .left_s = sim_.trace_run_s(slot),
                .turn = ++turn_,
                .slot = slot,
                .gpus = s_.gpus[slot]};
    entry.key = key_of(entry);
    list_.add(entry);
  }

  // Steps 3 to 5.
  void decide() {
    chosen_.clear();
    const auto gets = [&](Entry& entry) {
      if (!entry.runs) chosen_.push_back(&entry);
    };
    list_.allocate_in_order(total_gpus_, s_.head->held, gets,
                            [&](Entry& entry) { preempt(entry); });
    for (Entry* entry : chosen_) {
      if (!sim_.try_start(entry->slot, placer_)) continue;
      entry->end_s = now_s_ + entry->left_s + 1;
      entry->since_s = now_s_;
      entry->turn = ++turn_;
      entry->runs = true;
    }
  }

  void preempt(Entry& entry) {
    const int64_t cost_s = entry.gpus > kLargeGpus ? config_.preempt_large_s : config_.preempt_s;
    entry.left_s = entry.end_s - 1 - now_s_ + cost_s;
    entry.base_gpu_s = entry.service_gpu_s(now_s_);
    entry.turn = ++turn_;
    entry.runs = false;
    sim_.preempt(entry.slot);
  }

  // Finds the next ticks to play. `undecided`: the next round has to handle the present events.
  void find_next_arrival(bool undecided) {
    end_s_ = kNever;
    int64_t due_s = undecided ? now_s_ : kNever;
    for (const Entry& entry : list_) {
      if (!entry.runs) continue;
      end_s_ = std::min(end_s_, entry.end_s);
      if (!by_remaining_) due_s = std::min(due_s, beyond_limit_s(entry));
    }
    if (by_remaining_) return;
    round_s_ = due_s == kNever ? kNever
                               : (due_s + config_.round_s - 1) / config_.round_s * config_.round_s;
  }

  // The tick at which a running job exceeds the limit; kNever if it has exceeded it already.
  int64_t beyond_limit_s(const Entry& entry) const {
    const int64_t more_gpu_s = config_.limit_gpu_s - entry.base_gpu_s;
    if (more_gpu_s < 0) return kNever;
    const int64_t at_s = entry.since_s + more_gpu_s / entry.gpus + 1;
    return at_s > now_s_ ? at_s : kNever;
  }

  RuleSetSimBySlot& sim_;
  const SimState& s_;
  const bool by_remaining_;
  const Config config_;
  const GangPlacer* placer_;
  const int32_t total_gpus_;
  JobServiceOrder<Entry> list_;
  std::vector<Entry*> chosen_;
  int64_t now_s_ = 0;
  int64_t end_s_ = kNever;    // the next end
  int64_t round_s_ = kNever;  // the next round that may change something
  int64_t turn_ = 0;
};

Outcome replay_lucid(const Replay& replay, const Config& config) {
  std::optional<Consolidate> consolidate;
  if (placement_or_default("lucid", replay.policy, replay.placement) == "consolidate") {
    consolidate.emplace(replay.fixed.spec);
  }
  RuleSetSimBySlot stage(replay, "lucid", RuleSetSimBySlot::Submission::kCut);
  const GangPlacer* placer = consolidate ? &*consolidate : nullptr;
  if (replay.policy == "srtf" || replay.policy == "tiresias") {
    return Preemptive(stage, replay.policy == "srtf", config, placer).run();
  }
  const FifoRules line = {
      .placer = placer, .shortest_first = replay.policy == "sjf", .min_ticks = 1};
  return replay_fifo(stage, line, replay);
}

const RuleSetRegistry::Add<FunctionRuleSet<Config, replay_lucid>> kLucid{
    "lucid",
    {.about = "ticks of one second; a preemption adds 40 s of work (60 s beyond 8 GPUs)",
     .source = "Lucid, ASPLOS 2023; Helios, SC 2021",
     .fidelity = "exact job for job on one virtual cluster, except that fifo and sjf end jobs of "
                 "less than a second, which the original does not end",
     .policies = {"fifo", "sjf", "srtf", "tiresias"},
     .placements = {"consolidate", "random"},
     .oracles = {"sjf", "srtf"},
     .waiver = "srtf and tiresias run each job one second longer; tiresias starts jobs only at "
               "whole minutes",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
