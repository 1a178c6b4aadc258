// What became of jobs, from one snapshot of a cluster to the next: who was there and is not any
// more. Snapshots of several clusters may come mixed: those that name another cluster, or share no
// node with the last one, are not compared.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "serving/messages.h"
#include "yardmaster/v1/decision_log.pb.h"

namespace yard {

class Outcomes {
 public:
  // To be told of every answer, in their order. Returns what became of the jobs that the cluster's
  // last snapshot had and this one has not; nothing where this one is the older of the two. After a
  // clock was put back it begins anew.
  std::vector<pb::LoggedOutcome> look(std::shared_ptr<const pb::DecideRequest> request,
                                      const pb::DecideResponse& response);

 private:
  struct Cluster {
    std::vector<pb::LoggedOutcome> compare(const pb::DecideRequest& before);

    std::shared_ptr<const pb::DecideRequest> last;
    std::unordered_map<std::string, std::string> started_by;  // job -> decision
  };
  Cluster& cluster_of(const pb::DecideRequest& request);

  std::list<Cluster> clusters_;  // the one that was seen last is the first
};

}  // namespace yard
