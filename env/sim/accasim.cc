// The rules of AccaSim (Galleguillos et al., 2018) with its FIFO dispatcher and First-Fit, over
// nodes of one core: events in whole seconds, strict head of line, no costs. Every GPU here is such
// a node, however many a node of the cluster has: First-Fit fills them in order, and a job may lie
// on any.
//
// Where this differs from the original: it knows no memory, and of cores and processors only that a
// job asks for as many (in the original's nodes of several cores a job asks for whole nodes).
#include "env/sim/line.h"

namespace yard {
namespace {

class AccaSim final : public Pacing {
 public:
  explicit AccaSim(const Settings& settings) { parse<NoConfig>(settings); }

  Outcome replay(const Replay& replay) const override {
    parse<NoConfig>(replay.settings);
    check_play("accasim", replay.policy, replay.placement);
    Stage stage(replay, "accasim");
    return replay_line(stage, {}, replay);
  }
};

const PacingRegistry::Add<AccaSim> kAccaSim{
    "accasim",
    {.about = "events in whole seconds over single-core nodes, no costs",
     .source = "AccaSim, Cluster Computing 2020",
     .fidelity = "job for job on nodes of one core; memory is not counted",
     .policies = {"fifo"},
     .placements = {"first-fit"}}};

}  // namespace
}  // namespace yard
