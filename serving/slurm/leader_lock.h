// Elects one leader among agents that share a folder. Each term is a file, created by one agent
// only; its leader rewrites a counter in it as a sign of life. No clocks are compared between
// machines: a candidate takes over if it has seen no change for the lock time, by its own clock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "serving/slurm/boot_clock.h"

namespace yard::slurm {

class LeaderLock {
 public:
  // Creates the folder if it is missing. Throws InputError if it cannot be used.
  LeaderLock(std::filesystem::path folder, double lock_s);
  ~LeaderLock();  // gives the leadership up
  LeaderLock(const LeaderLock&) = delete;

  // Tries to become the leader, or gives a sign of life as the leader. To be called at least four
  // times within lock_s. Returns whether this agent leads.
  bool renew();

  // Gives a sign of life if this agent still leads and the last one is older than an eighth of
  // lock_s. Never begins a term. Returns whether this agent leads.
  bool keep();

  // Whether this agent still leads: its last sign of life is younger than half of lock_s, and no
  // later term has begun. To be called just before each command.
  bool leads();

  int64_t term() const { return term_; }  // 0: not the leader
  // Whether another agent has given a sign of life since this one began to watch.
  bool other_alive() const { return other_alive_; }
  const std::string& leader() const { return seen_owner_; }

 private:
  std::filesystem::path file_of(int64_t term) const;
  int64_t latest_term() const;
  bool begin(int64_t term);
  bool write(const std::string& state);
  void remove_before(int64_t term) const;

  const std::filesystem::path folder_;
  const double lock_s_;
  const std::string owner_;
  int64_t term_ = 0;
  uint64_t beats_ = 0;
  BootClock::time_point beat_at_;
  // What was last seen of another leader, and since when it has not changed.
  std::string seen_, seen_owner_;
  int64_t seen_term_ = -1;
  BootClock::time_point seen_at_;
  bool other_alive_ = false;
};

}  // namespace yard::slurm
