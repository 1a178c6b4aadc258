// Rules of Lucid's simulator (Hu et al., ASPLOS 2023; before it Helios', SC 2021): a clock with
// ticks of one second. Tick 0 is the trace's zero; submissions and run times are cut to whole
// seconds. In a tick, jobs end, then jobs arrive, then jobs start and stop.
//
//   fifo, sjf       queue in order of submission or run time; its head starts or all wait
//   srtf, tiresias  preemptive, see lucid_preemptive.cc
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
#include "env/sim/rulesets/lucid.h"

#include <memory>
#include <string>

#include "env/base/core/error.h"
#include "env/sim/rulesets/fifo_engine.h"

namespace yard {
namespace {

constexpr int32_t kNodeGpus = 8;

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

class Lucid final : public RuleSet {
 public:
  explicit Lucid(const Settings& settings) : config_(parse<LucidConfig>(settings)) {}

  Outcome replay(const Replay& replay) const override {
    parse<NoConfig>(replay.settings);
    std::unique_ptr<GangPlacer> placer;
    if (check_supported("lucid", replay.policy, replay.placement) == "consolidate") {
      placer = std::make_unique<Consolidate>(replay.fixed.spec);
    }
    SlotSim stage(replay, "lucid", SlotSim::Submission::kCut);
    if (replay.policy == "srtf") {
      return replay_preemptive(stage, LucidOrder::kRemaining, config_, placer.get());
    }
    if (replay.policy == "tiresias") {
      return replay_preemptive(stage, LucidOrder::kTwoLevels, config_, placer.get());
    }
    const FifoRules line = {
        .placer = placer.get(), .shortest_first = replay.policy == "sjf", .min_ticks = 1};
    return replay_fifo(stage, line, replay);
  }

 private:
  LucidConfig config_;
};

const RuleSetRegistry::Add<Lucid> kLucid{
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
     .fields = describe<LucidConfig>}};

}  // namespace
}  // namespace yard
