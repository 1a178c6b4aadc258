// Derives the outcomes of jobs which one snapshot lists and the next one lacks. Only snapshots
// which name the same cluster and share a node are compared.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/snapshot/messages.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

class JobOutcomeTracker {
 public:
  // Takes every request with its answer, in order. Returns the outcomes of jobs which the cluster's
  // last snapshot has and `request` lacks. Returns nothing if `request` is older than that
  // snapshot. If the cluster's clock was set back, tracking starts again with `request`.
  std::vector<pb::LoggedOutcome> update(std::shared_ptr<const pb::DecideRequest> request,
                                        const pb::DecideResponse& response);

 private:
  struct Cluster {
    std::vector<pb::LoggedOutcome> compare(const pb::DecideRequest& before);

    std::shared_ptr<const pb::DecideRequest> last;
    std::unordered_map<std::string, std::string> started_by;  // id of the decision, by job
  };
  Cluster& cluster_of(const pb::DecideRequest& request);

  std::list<Cluster> clusters_;  // the cluster seen last comes first
};

}  // namespace yard
