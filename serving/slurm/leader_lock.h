// Elects one leader among agents that share a folder. Each term is a file that one agent alone can
// create. The leader rewrites a counter in the file as a sign of life. Clocks are never compared:
// a candidate takes over if it has seen no change for `lock_s` seconds by its own clock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "serving/slurm/boot_clock.h"

namespace yard::slurm {

class LeaderLock {
 public:
  // Creates the folder if it is missing. Throws InputError if the folder cannot be used.
  LeaderLock(std::filesystem::path folder, double lock_s);
  ~LeaderLock();  // gives up the leadership
  LeaderLock(const LeaderLock&) = delete;

  // Tries to become the leader, or gives a sign of life as the leader. Call renew() at least four
  // times within lock_s. Returns whether this agent leads.
  bool renew();

  // Gives a sign of life if this agent still leads and its last sign is older than an eighth of
  // lock_s. keep() never begins a term. Returns whether this agent leads.
  bool keep();

  // Returns whether this agent leads: its last sign of life is younger than half of lock_s, and no
  // later term has begun. Call still_leads() just before each command.
  bool still_leads();

  int64_t term() const { return term_; }  // term of this agent; 0: not the leader
  // Returns whether another agent has given a sign of life since this agent began to watch.
  bool has_seen_other_agent() const { return other_alive_; }
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
  // The file of another leader as last seen, and the time since which it has not changed.
  std::string seen_, seen_owner_;
  int64_t seen_term_ = -1;
  BootClock::time_point seen_at_;
  bool other_alive_ = false;
};

}  // namespace yard::slurm
