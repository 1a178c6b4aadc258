// A scene on a cluster whose file tells of models, where schedulers choose how jobs exchange: the
// tables that a run makes of such a file, for worlds by hand.
//
//   const ChoosingScene rings(load_cluster("rings-8"), generate_rings({}, {.seed = 1}));
//   World world(rings.scene().fixed(), rings.scene().size());
#pragma once

#include <memory>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/speed/table.h"
#include "env/trace/core/job.h"
#include "tests/support/scene.h"

namespace yard::testing {

// The links of a cluster by tier, as its file has them.
TierLinks links_of(const ClusterSpec& cluster);

class ChoosingScene {
 public:
  // Nothing costs; `choose`: whether jobs may be told at all.
  ChoosingScene(const ClusterSpec& cluster, const std::vector<Job>& jobs, bool choose = true);
  ChoosingScene(const ChoosingScene&) = delete;

  const Scene& scene() const { return scene_; }
  const SimModel& fixed() const { return scene_.fixed(); }
  SpeedTable& table() { return *table_; }
  // Of the first job.
  int32_t first_class() const { return classes_.front(); }

 private:
  Profiles profiles_;
  std::unique_ptr<SpeedTable> table_;
  std::vector<int32_t> classes_;
  Scene scene_;
};

// Two racks of two nodes with two GPUs each, of which each rack sends half of what its nodes do.
// Models `small` and `large`.
ClusterSpec two_racks();

}  // namespace yard::testing
