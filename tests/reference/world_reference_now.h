// The slow world as its clock and its policies see it. `Now` is all that changes: keeping a copy
// and putting it back is how a policy takes back what it tried.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/reference/cluster_reference.h"
#include "tests/reference/world_reference.h"

namespace yard::reference {

enum class Is { kToCome, kBlocked, kWaiting, kStarting, kRunning, kSaving, kDone };

struct LiveJob {
  Is is = Is::kToCome;
  int64_t since_us = 0;     // when it came to be so
  int64_t until_us = 0;     // starting, saving: till when
  int64_t saved_us = 0;     // when its last save is complete
  int64_t attained_us = 0;  // time run up to since_us
  double done = 0;          // work, likewise
  double speed = 0;
  int64_t queued = 0;  // rises with every entry into the queue
};

struct Now {
  explicit Now(const ClusterSpec& spec) : cluster(spec) {}

  Cluster cluster;
  std::vector<LiveJob> jobs;
  WorldEnd end;
  int64_t timer_us = kForever;
  int64_t entries = 0;  // into the queue
  size_t next_outage = 0;
};

class Game {
 public:
  Game(const SlowWorld& world, const std::string& policy, const std::string& placement);

  WorldEnd play();

 private:
  int size() const { return static_cast<int>(world_.jobs.size()); }
  LiveJob& at(int j) { return now_.jobs[static_cast<size_t>(j)]; }
  JobEnd& end_of(int j) { return now_.end.jobs[static_cast<size_t>(j)]; }
  const Job& job(int j) const { return world_.jobs[static_cast<size_t>(j)]; }
  const Request& asks(int j) const { return requests_[static_cast<size_t>(j)]; }
  double work(int j) const { return static_cast<double>(job(j).run_us); }
  int64_t now_us() const { return now_.cluster.now_us; }

  // --- the clock
  bool over();
  int64_t phase_end_us(int j);
  int64_t next_us();
  void pass_time(int64_t to_us);
  void end_phase(int j);
  bool ready(int j);
  void queue(int j);
  int holder_of(const Outage& outage);
  void happen(const Outage& outage);

  // --- what may happen to a job
  bool start(int j);
  void start_at(int j, const std::vector<Seats>& seats);
  void stop(int j, int64_t vacated_us);
  void run_until_now(int j);
  void preempt(int j);
  void fail(int j);

  // --- policies
  std::vector<int> those(bool (*wanted)(Is));
  std::vector<int> waiting();
  std::vector<int> holding();
  int64_t attained_us(int j);
  double left(int j);
  int weight(int j) const;
  int las_queue(int j);
  double key(int j);
  std::vector<int> in_order(std::vector<int> jobs);
  void decide();
  bool alike_among(const std::vector<int>& jobs, int j) const;
  void start_in_order();
  bool make_room(int j, const std::vector<int>& begun);
  void decide_anew();
  void ask_for_timer();

  const SlowWorld& world_;
  const std::string policy_, placement_;
  std::vector<Request> requests_;
  std::vector<Outage> outages_;  // in their order
  Now now_;
};

}  // namespace yard::reference
