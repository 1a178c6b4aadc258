// A scheduler extender of Kubernetes: answers kube-scheduler's questions on one pod at a time, in
// the JSON of k8s.io/kube-scheduler/extender/v1.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "serving/kubernetes/cluster_use.h"
#include "serving/kubernetes/free_gpus.h"
#include "serving/kubernetes/groups.h"
#include "serving/kubernetes/objects.h"

namespace yard::kubernetes {

struct ExtenderOptions {
  std::string cluster;    // cluster whose snapshots report the use of GPUs; empty: any cluster
  double memory_s = 600;  // seconds for which offers and assumptions on bound pods count
  double hold_s = 60;     // seconds for which nodes are reserved for a group of pods
  double report_s = 60;   // seconds for which a report of GPUs in use may rule nodes out
};

// What may be asked: POST /k8s/VERB.
inline constexpr std::array<std::string_view, 4> kExtenderVerbs = {"filter", "prioritize",
                                                                   "preempt", "state"};

struct ExtenderAnswer {
  int status = 200;  // of HTTP
  std::string body;  // JSON; with another status than 200 the error
};

// Thread-safe.
class Extender {
 public:
  using Now = std::function<FreeGpuEstimator::Time()>;

  explicit Extender(const ExtenderOptions& options, Now now = FreeGpuEstimator::Clock::now);

  // Answers a request with one of kExtenderVerbs. A body that makes no sense gets status 400.
  ExtenderAnswer answer(std::string_view verb, const std::string& body);

  // Takes the use of GPUs from a snapshot of `cluster`; ignores it if the options name another
  // cluster. Returns at once: the next question calls `snapshot`, from another thread.
  using GetSnapshot = std::function<std::shared_ptr<const pb::DecideRequest>()>;
  void observe(const std::string& cluster, GetSnapshot snapshot);

  struct Counts {
    uint64_t unknown_nodes = 0;   // offered nodes of which nothing is known
    uint64_t unsized_groups = 0;  // requests for pods of a group of unknown size
    int32_t waiting_groups = 0;   // which lack room
    uint64_t expired_reservations = 0;
  };
  Counts counts();

 private:
  struct Question;

  std::string filter(Json&& body);
  std::string prioritize(const Json& body);
  std::string preempt(const Json& body);
  std::string accept_report(const Json& body);

  // The functions below require the lock.
  void learn(const Question& on, std::span<const std::string> offered, bool from_filter,
             FreeGpuEstimator::Time now);
  const std::unordered_set<std::string>& running_pods_of(const std::string& group) const;
  int32_t free_gpus_before_reservations(const std::string& node, int32_t offered_gpus,
                                        FreeGpuEstimator::Time now);
  void take(const ClusterUse& use, FreeGpuEstimator::Time now);
  FreeGpuEstimator::Time begin();

  const ExtenderOptions options_;
  const Now now_;
  std::mutex mutex_;
  FreeGpuEstimator free_;
  PodGroups groups_;
  std::unordered_map<std::string, ClusterUse::Holder> holders_;  // of the last report
  GetSnapshot unread_;  // the last snapshot, until it is read
  // Pods of the last report by group.
  std::unordered_map<std::string, std::unordered_set<std::string>> running_;
  uint64_t unknown_nodes_ = 0, unsized_groups_ = 0;
};

}  // namespace yard::kubernetes
