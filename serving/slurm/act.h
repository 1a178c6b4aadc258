// Sends Slurm commands: each with its own time limit, none through a shell, and each only while the
// agent may act.
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
  kDone,       // scontrol accepted it
  kChanged,    // the job is no longer as it was listed; nothing was sent
  kRefused,    // Slurm refused the command
  kUnknown,    // the command ran past its time limit: it may take effect
  kForbidden,  // the agent may no longer act, or the listing is too old; nothing was sent
};

const char* name_of(Outcome outcome);

struct ActionResult {
  Outcome outcome = Outcome::kForbidden;
  std::string detail;
  double elapsed_s = 0;
};

class Actor {
 public:
  struct Hooks {
    // Returns why no command may be sent now; "" if one may.
    std::function<std::string()> why_not;
    // Called after each command, with its name ("squeue") and result.
    std::function<void(const std::string& command, const CommandResult& result)> ran;
  };
  Actor(const Config& config, Hooks hooks);

  // Commands which change nothing. They are sent whether or not the agent leads.
  CommandResult list_jobs() const;                   // squeue --json
  CommandResult list_nodes(bool by_scontrol) const;  // sinfo --json, or scontrol show nodes --json
  CommandResult show_config() const;
  CommandResult show_partitions() const;
  CommandResult show_qos() const;

  // Starts a waiting job on these nodes.
  ActionResult start(const SlurmJob& job, const std::vector<std::string>& nodes,
                     const std::string& decision, BootClock::time_point until) const;
  // Sends a running job back to the queue.
  ActionResult requeue(const SlurmJob& job, BootClock::time_point until) const;
  // Frees a waiting job from the nodes that start() gave it, with a new lease.
  ActionResult unpin(const SlurmJob& job, BootClock::time_point until) const;
  // Renews leases. Jobs which no longer wait are refused one by one, which is no failure.
  ActionResult renew(const std::vector<std::string>& records, BootClock::time_point until) const;
  // Gives waiting jobs to Slurm for good.
  ActionResult release(const std::vector<std::string>& records) const;

 private:
  CommandResult run(std::vector<std::string> argv) const;
  // Reads the job again. Returns "" if it still is as listed, else what has changed.
  std::string change_of(const SlurmJob& job, bool pinned, ActionResult& result) const;
  ActionResult update(const std::vector<std::string>& arguments, BootClock::time_point until) const;
  ActionResult forbidden(const std::string& why) const { return {Outcome::kForbidden, why, 0}; }
  std::string why_not(BootClock::time_point until) const;
  std::string lease() const;

  const Config& config_;
  const Hooks hooks_;
};

}  // namespace yard::slurm
