// Placements, the slow way: one list of tasks and the GPUs they use. Every query walks the list.
// Shares no code with the simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "env/cluster/spec.h"
#include "env/trace/core/job.h"

namespace yard::reference {

// What a job asks for. A plain request is a number of whole GPUs, split freely over nodes.
struct Request {
  bool plain = false;
  int gpus = 0;                             // shares rounded up
  std::vector<RoleGroup> groups;            // if plain: one, with a task per GPU
  std::vector<bool> runs_on;                // by GPU type
  int tenant = -1;                          // index of the cluster's tenant
  int64_t milli() const;                    // thousandths of GPUs, exact
  int kind = -1;                            // kind of job; -1: may share with all
  bool same_request(const Request&) const;  // equal requests
};

Request request_of(const Job& job, const ClusterSpec& spec);

// A number of tasks of one group on a node.
struct GroupTasks {
  int group = 0;
  int node = 0;
  int tasks = 0;
};

struct Task {
  int job = 0;
  int node = 0;
  std::vector<int> gpus;  // indices on the node
  Resources need;
  int kind = -1;
  int group = 0;  // of the job's
};

// Jobs of two kinds that may not share a GPU of a type.
struct KindConflict {
  int type = 0, one = 0, other = 0;
};

// A preempted job frees its room at once, but leaves only after its save. All leaving_requests of a
// GPU or node count until the last has left.
struct VacatedCapacity {
  int64_t vacated_us = 0;  // when the last leaver has left
  std::vector<Resources> leaving_requests;
  std::vector<int> kinds = {};  // of their jobs
};

struct Gpu : VacatedCapacity {
  int64_t down_until_us = 0;  // not placeable before
};

class Cluster {
 public:
  explicit Cluster(const ClusterSpec& spec);

  int64_t now_us = 0;
  std::vector<Task> tasks;              // of all jobs that hold anything
  std::vector<std::vector<Gpu>> nodes;  // their GPUs
  std::vector<KindConflict> pair_conflicts;
  std::vector<VacatedCapacity> hosts;    // their CPUs and memory
  std::vector<int64_t> closed_until_us;  // nodes: no task begins before

  bool down(int node, int gpu) const;
  bool used(int node, int gpu) const;  // in whole or in part
  int free_on(int node) const;         // whole GPUs
  int idle_and_down() const;
  int total() const;

  // first-fit, best-fit, consolidate or elastic. Returns nothing if the request does not fit.
  std::optional<std::vector<GroupTasks>> place(const Request& request,
                                               const std::string& placement) const;

  bool has_room(const Request& request, const std::vector<GroupTasks>& seats) const;

  // Returns when all that the job now holds is vacated. Requires: the seats are free.
  int64_t occupy(int job, const Request& request, const std::vector<GroupTasks>& seats);
  // The same for tasks whose GPUs are known.
  int64_t occupy_gpus(const std::vector<Task>& those);
  void vacate(int job, int64_t vacated_us);  // if preempted: before leave()
  void leave(int job);

  int whole_gpus(int job) const;  // without shares

 private:
  struct RemainingCapacity;  // what is left of one node

  RemainingCapacity remaining_on(int node, int job = -1) const;  // as seen by that job
  bool conflicts(int type, const std::vector<int>& there, int kind) const;
  int64_t earliest_start_us(int node, const std::vector<int>& gpus, const Resources& need,
                            int kind) const;
  bool is_eligible(const Request& request, const Resources& need, int node) const;
  std::optional<std::vector<int>> pick(const RemainingCapacity& left, const Resources& need,
                                       int kind) const;
  bool take(RemainingCapacity& left, const Resources& need, int kind) const;
  int fits(RemainingCapacity& left, const Resources& need, int kind, int most) const;
  std::optional<std::vector<GroupTasks>> place_gpus(int gpus, const std::string& placement) const;
  std::optional<std::vector<GroupTasks>> place_groups(const Request& request, bool first_fit,
                                                      bool elastic) const;

  const ClusterSpec* spec_;
};

}  // namespace yard::reference
