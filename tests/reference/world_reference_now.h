// The slow world as seen by its clock and policies. `WorldState` is all of the changing state: a
// policy undoes a trial by restoring a copy.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/reference/cluster_reference.h"
#include "tests/reference/world_reference.h"

namespace yard::reference {

enum class JobPhase { kToCome, kBlocked, kWaiting, kStarting, kRunning, kSaving, kDone };

struct LiveJob {
  JobPhase is = JobPhase::kToCome;
  int64_t since_us = 0;     // when it entered this state
  int64_t until_us = 0;     // starting, saving: end of it
  int64_t saved_us = 0;     // when its last save is complete
  int64_t attained_us = 0;  // time run up to since_us
  double done = 0;          // work, likewise
  double kept = 0;          // of it, what survives a failure
  double speed = 0;
  int64_t began_us = 0;  // running: since when
  int64_t queued = 0;    // rises with every queue entry
};

// An uplink of a node, rack or pod ('n', 'r', 'p') and its index.
using Link = std::pair<char, int>;
std::map<Link, int64_t> link_capacities(const ClusterSpec& spec);

// A job's topology, and its isolated speed there.
struct IsolatedSpeed {
  int gpus = 0;  // each share counts as one
  std::vector<int> nodes;
  Tier tier = Tier::kIsland;
  std::vector<Link> links;  // of its exchange
  int type = 0;             // first of its slowest GPU types
  double alone = 1;
  int64_t bytes_per_s = 0;  // on each link
  double exchange_share = 0;
};

struct WorldState {
  explicit WorldState(const ClusterSpec& spec) : cluster(spec) {}

  Cluster cluster;
  std::vector<LiveJob> jobs;
  WorldEnd end;
  int64_t timer_us = kForever;
  int64_t entries = 0;  // into the queue
  size_t next_outage = 0;
};

class SlowSimulator {
 public:
  SlowSimulator(const SlowWorld& world, const std::string& policy, const std::string& placement);

  WorldEnd play();

 private:
  int size() const { return static_cast<int>(world_.jobs.size()); }
  LiveJob& at(int j) { return state_.jobs[static_cast<size_t>(j)]; }
  JobEnd& end_of(int j) { return state_.end.jobs[static_cast<size_t>(j)]; }
  const Job& job(int j) const { return world_.jobs[static_cast<size_t>(j)]; }
  const Request& request(int j) const { return requests_[static_cast<size_t>(j)]; }
  double work(int j) const { return static_cast<double>(job(j).run_us); }
  int64_t now_us() const { return state_.cluster.now_us; }

  // --- Clock
  bool over();
  int64_t phase_end_us(int j);
  int64_t next_us();
  void pass_time(int64_t to_us);
  void end_phase(int j);
  bool ready(int j);
  void queue(int j);
  bool takes_all(const Outage& outage);
  int holder_of(const Outage& outage, int last);
  void happen(const Outage& outage);

  // --- Transitions of a job
  bool within_tenant_limit(int j);
  bool start(int j);
  void start_at(int j, const std::vector<GroupTasks>& seats);
  int64_t cost_us(int64_t stated_us, int64_t usual_us) const;
  void get_ready(int j, int64_t vacated_us);
  void stop(int j);
  void run_until_now(int j);
  void preempt(int j);
  void fail(int j);

  // --- Speeds
  int kind_of(int j) const;
  IsolatedSpeed isolated_speed(int j) const;
  double exchange_slowdown(const Link& link);
  double colocation_slowdown(int j);
  double core_overload_slowdown(int j);
  double speed_among(int j);
  void update_speeds();

  // --- Policies
  std::vector<int> those(bool (*wanted)(JobPhase));
  std::vector<int> waiting();
  std::vector<int> holding();
  int64_t attained_us(int j);
  double left(int j, double weight);
  int weight(int j) const;
  int las_queue(int j);
  int las_listed(int j, bool runs);
  void las_wait_in_front(int j);
  int64_t las_demotion_us(int j, int queue);
  void las_begin();
  void las_settle();
  double las_key(int j);
  double key(int j);
  std::vector<int> in_order(std::vector<int> jobs);
  void decide();
  bool alike_among(const std::vector<int>& jobs, int j) const;
  void start_in_order();
  bool make_room(int j, const std::vector<int>& begun);
  void decide_anew();
  void stops_first(const WorldState& before, const std::vector<int>& begun);
  void ask_for_timer();

  const SlowWorld& world_;
  const std::string policy_, placement_;
  std::vector<Request> requests_;
  std::vector<Outage> outages_;  // in order
  std::map<Link, int64_t> link_bytes_per_s_;
  WorldState state_;
  std::vector<int> stops_;              // of this decision, in order
  std::vector<int> las_stops_, begun_;  // of the last decision
  // Queues of las, front first: running jobs, and jobs that wait or have just changed queue.
  std::vector<int> las_runs_[3], las_waits_[3];
};

}  // namespace yard::reference
