// A scene on a cluster whose file describes models, where schedulers choose the exchange of each
// job. Its speed tables are those which a run builds from this file.
//
//   const ExchangeScene rings(load_cluster("rings-8"), generate_all_reduce_jobs({}, {.seed = 1}));
//   World world(rings.scene().fixed(), rings.scene().size());
#pragma once

#include <memory>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/speed/table.h"
#include "env/trace/core/job.h"
#include "tests/support/scene.h"

namespace yard::testing {

// Returns the links of a cluster by tier, as its file states them.
TierLinks links_of(const ClusterSpec& cluster);

class ExchangeScene {
 public:
  // Stops and starts cost nothing. Without `choose` no job has a choice of exchange.
  ExchangeScene(const ClusterSpec& cluster, const std::vector<Job>& jobs, bool choose = true);
  ExchangeScene(const ExchangeScene&) = delete;

  const Scene& scene() const { return scene_; }
  const SimModel& fixed() const { return scene_.fixed(); }
  SpeedTable& table() { return *table_; }
  // The speed class of the first job.
  int32_t first_class() const { return classes_.front(); }

 private:
  Profiles profiles_;
  std::unique_ptr<SpeedTable> table_;
  std::vector<int32_t> classes_;
  Scene scene_;
};

// Returns two racks of two nodes with two GPUs each. Each rack's uplink carries half of its nodes'
// bandwidth. Models `small` and `large`.
ClusterSpec two_racks();

}  // namespace yard::testing
