// Sends commands to Slurm. Each command has a time limit, runs without a shell, and is sent only
// while the agent may act.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/base/os/command.h"
#include "serving/slurm/boot_clock.h"
#include "serving/slurm/config.h"
#include "serving/slurm/records.h"

namespace yard::slurm {

enum class Outcome {
  kDone,       // scontrol accepted the command
  kChanged,    // the job has changed since it was listed; no command was sent
  kRefused,    // Slurm refused the command
  kUnknown,    // the command exceeded its time limit, but may still take effect
  kForbidden,  // the agent may not act, or the listing is too old; no command was sent
};

const char* name_of(Outcome outcome);

struct ActionResult {
  Outcome outcome = Outcome::kForbidden;
  std::string detail;
  double elapsed_s = 0;
};

class SlurmCommander {
 public:
  struct Hooks {
    // Returns why no command may be sent now, or "" if commands may be sent.
    std::function<std::string()> why_forbidden;
    // Called after each command, with its name ("squeue") and result.
    std::function<void(const std::string& command, const CommandResult& result)> ran;
  };
  SlurmCommander(const Config& config, Hooks hooks);

  // Commands that only read from Slurm are sent whether or not the agent leads.
  CommandResult list_jobs() const;                   // squeue --json, with jobs that have ended
  CommandResult list_nodes(bool by_scontrol) const;  // sinfo --json, or scontrol show nodes --json
  CommandResult show_config() const;
  CommandResult show_partitions() const;
  CommandResult show_qos() const;

  // Starts a waiting job on `nodes`. No command is sent after `until`.
  ActionResult start(const SlurmJob& job, const std::vector<std::string>& nodes,
                     const std::string& decision, BootClock::time_point until) const;
  // Sends a running job back to the queue.
  ActionResult requeue(const SlurmJob& job, BootClock::time_point until) const;
  // Releases a waiting job from the nodes that start() required, and renews its lease.
  ActionResult unpin(const SlurmJob& job, BootClock::time_point until) const;
  // Renews the leases of waiting jobs. Slurm refuses jobs that no longer wait, which is no failure.
  ActionResult renew(const std::vector<std::string>& records, BootClock::time_point until) const;
  // Ends the leases of waiting jobs, so that only Slurm decides on them.
  ActionResult release(const std::vector<std::string>& records) const;

 private:
  CommandResult run(std::vector<std::string> argv) const;
  // Reads the job again. Returns what has changed since the listing, or "" if nothing has.
  std::string change_since_listing(const SlurmJob& job, bool pinned, ActionResult& result) const;
  ActionResult update(const std::vector<std::string>& arguments, BootClock::time_point until) const;
  ActionResult forbidden(const std::string& why) const { return {Outcome::kForbidden, why, 0}; }
  std::string why_forbidden(BootClock::time_point until) const;
  std::string lease_argument() const;

  const Config& config_;
  const Hooks hooks_;
};

}  // namespace yard::slurm
