// The rules of Blox's simulator (Agarwal et al., EuroSys 2024) with its Fifo: the world is looked
// at once a round. Then running jobs gain a whole round and end if that was enough, jobs submitted
// by now join the line, and its head starts as long as it finds GPUs. No costs.
//
// Kept from the original, since results hang on it: a placement walks the nodes in order and takes
// as much from each as the job asks for IN ALL, as far as it is there. If that adds up to the exact
// number, the job starts; if it goes beyond, it waits, free GPUs or not. A job that no state of the
// cluster hits exactly (12 GPUs on nodes of 8) holds up the line for ever; the original never
// returns, here it is an error.
//
// Where this differs from the original: there a job that waited for 1000 hours goes before others,
// and running ones may be stopped for it; here nobody is ever stopped.
#include "env/sim/line.h"

namespace yard {
namespace {

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
  void fields(auto& f) { f("round_s", round_s, 1, 1'000'000'000, "length of a round"); }
};

class Blox final : public Pacing {
 public:
  explicit Blox(const Settings& settings) : config_(parse<Config>(settings)) {}

  Outcome replay(const Replay& replay) const override {
    parse<NoConfig>(replay.settings);
    check_play("blox", replay.policy, replay.placement);
    Stage stage(replay, "blox");
    const ExactPlacer placer(replay.fixed.spec.num_nodes);
    return replay_line(stage, {.placer = &placer, .tick_s = config_.round_s, .least_ticks = 1},
                       replay);
  }

 private:
  Config config_;
};

const PacingRegistry::Add<Blox> kBlox{
    "blox",
    {.about = "rounds of 300 s, no costs",
     .source = "Blox, EuroSys 2024",
     .fidelity = "job for job, its placement that must hit the number exactly included; nobody "
                 "is stopped for a job that waited 1000 hours",
     .policies = {"fifo"},
     .placements = {"scattered"},
     .waiver = "jobs start, end and give back GPUs at rounds only",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
