// Picks the next job by dominant resource fairness (Ghodsi et al., NSDI 2011, algorithm 1): the
// first job of the user with the least dominant share, in the tenant with the least dominant share
// per weight. A dominant share is the largest of an owner's shares of GPUs, CPUs and memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "env/sim/placement/owners.h"
#include "env/sim/placement/task_placer.h"

namespace yard {

class ProgressiveFilling {
 public:
  // Requires: `view` outlives this object.
  ProgressiveFilling(const View& view, FairShareAmong owners) : view_(view), owners_(owners) {}

  // Charges the shares of a job that holds or will hold resources to the job's user and tenant.
  void count(int32_t slot, const TaskPlacer::Shares& shares);
  // Appends a job to its user's queue.
  void add(int32_t slot);
  // Removes the next job from its user's queue and returns the job; kNone if no job is queued.
  int32_t next();

 private:
  struct Owner {
    TaskPlacer::Shares used;
    double weight = 1;
    double share() const { return std::max({used.gpus, used.cpus, used.mem}) / weight; }
  };
  struct User : Owner {
    std::deque<int32_t> queue;
  };
  // Dominant share, serial of the owner's first queued job (orders equal shares), and owner.
  using Position = std::tuple<double, int32_t, int32_t>;
  using Order = std::set<Position>;
  struct Tenant : Owner {
    std::map<int32_t, User> users;
    Order order;  // users with queued jobs
  };

  Tenant& tenant(int32_t t);
  Position position_in_order(const User& user, int32_t owner) const {
    return {user.share(), view_.serial(user.queue.front()), owner};
  }
  static Position position_in_order(const Tenant& tenant, int32_t owner) {
    return {tenant.share(), std::get<1>(*tenant.order.begin()), owner};
  }
  template <class Change>
  void change_and_reorder_owners(int32_t slot, Change change);

  const View& view_;
  FairShareAmong owners_;
  std::map<int32_t, Tenant> tenants_;
  Order order_;  // tenants with queued jobs
};

}  // namespace yard
