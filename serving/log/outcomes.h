// Derives outcomes of jobs from successive snapshots: jobs which were present and are gone. Only
// snapshots which name one cluster and share a node are compared.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/snapshot/messages.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

class OutcomeTracker {
 public:
  // Must be called with every answer, in order. Returns the outcomes of jobs in the cluster's last
  // snapshot which `request` lacks. Returns nothing if `request` is older, or, starting
  // over, if the clock was set back.
  std::vector<pb::LoggedOutcome> update(std::shared_ptr<const pb::DecideRequest> request,
                                        const pb::DecideResponse& response);

 private:
  struct Cluster {
    std::vector<pb::LoggedOutcome> compare(const pb::DecideRequest& before);

    std::shared_ptr<const pb::DecideRequest> last;
    std::unordered_map<std::string, std::string> started_by;  // job -> decision_id
  };
  Cluster& cluster_of(const pb::DecideRequest& request);

  std::list<Cluster> clusters_;  // the most recently seen one is first
};

}  // namespace yard
