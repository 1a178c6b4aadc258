// Rule set of Blox's simulator (Agarwal et al., EuroSys 2024) with its Fifo. In each round, running
// jobs gain a whole round of work and end if it suffices. Jobs submitted by then join the queue,
// and its head starts as long as it gets a placement. No costs.
//
// Kept from the original, since results depend on it: a placement visits the nodes in order and
// takes from each the job's TOTAL demand, as far as it is free. If the sum equals the demand, the
// job starts. If it is larger, the job waits, even with enough free GPUs. A job which never matches
// exactly (12 GPUs on nodes of 8) blocks the queue for ever: here an error, there an endless loop.
//
// Differs from the original: there a job which waited for 1000 hours goes first, and running jobs
// may be preempted for it. Here no job is preempted.
#include "env/sim/rulesets/fifo_engine.h"

namespace yard {
namespace {

// Succeeds only if the pieces add up exactly to the demand, as described above.
class ExactPlacer final : public GangPlacer {
 public:
  explicit ExactPlacer(int32_t num_nodes) : num_nodes_(num_nodes) {}

  int32_t place(const int32_t* free, int32_t gpus, Piece* out) const override {
    int32_t n = 0, sum = 0;
    for (int32_t m = 0; m < num_nodes_ && sum < gpus; ++m) {
      if (free[m] == 0) continue;
      out[n] = {m, std::min(free[m], gpus)};
      sum += out[n++].gpus;
    }
    return sum == gpus ? n : 0;
  }

 private:
  int32_t num_nodes_;
};

struct Config {
  int64_t round_s = 300;
  void fields(auto& f) { f("round_s", round_s, 1, 1'000'000'000, "length of a round in seconds"); }
};

Outcome replay_blox(const Replay& replay, const Config& config) {
  RuleSetSimBySlot stage(replay, "blox");
  const ExactPlacer placer(replay.fixed.spec.num_nodes);
  return replay_fifo(stage, {.placer = &placer, .tick_s = config.round_s, .min_ticks = 1}, replay);
}

const RuleSetRegistry::Add<FunctionRuleSet<Config, replay_blox>> kBlox{
    "blox",
    {.about = "rounds of 300 s, no costs",
     .source = "Blox, EuroSys 2024",
     .fidelity = "exact job for job, including its placement, which must match the demand exactly; "
                 "no job is preempted for one that has waited 1000 hours",
     .policies = {"fifo"},
     .placements = {"scattered"},
     .waiver = "jobs start, end and release GPUs only at round boundaries",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
