// A real Slurm for one test: slurmctld, four slurmd with eight fake GPUs each, on loopback.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/serving/child.h"
#include "tests/serving/requests.h"

namespace yard::testing {

// Returns why Slurm cannot run here; "" if it can.
std::string why_no_slurm();

// Waits for up to a minute.
bool eventually(const std::function<bool()>& holds);

class SlurmCluster {
 public:
  // `lease_s` 0: without the gate. Throws RunError if Slurm does not start.
  explicit SlurmCluster(int lease_s);
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;

  const std::filesystem::path& folder() const { return temp_.path(); }

  // Submits a job that appends a line to runs() and sleeps. Returns its id. A stubborn job ignores
  // SIGTERM, so that it is COMPLETING until Slurm kills it.
  std::string submit(const std::vector<std::string>& options, bool stubborn = false) const;
  // Lines "ID RESTARTS NODES", one a start.
  std::vector<std::string> runs() const;
  // Returns the lines of one job.
  std::vector<std::string> runs_of(const std::string& job) const;

  // Returns one column of squeue: "State", "ReqNodes", ...; "" for an unknown job.
  std::string show(const std::string& job, const std::string& column) const;
  bool is_running(const std::string& job) const { return show(job, "State") == "RUNNING"; }
  // Runs a command of Slurm. Returns whether it succeeded.
  bool run(const std::vector<std::string>& argv) const;

  // Writes the configuration of an agent whose scontrol logs to commands(). Returns its path.
  std::string agent_config(const std::string& server, const std::string& more = "") const;
  // Lines "PARENT_PID ARGUMENTS" of scontrol commands by agents.
  std::vector<std::string> commands() const;
  // While `broken`, agents get the first kilobyte of squeue's list only.
  void break_squeue(bool broken) const;
  // Signals slurmctld.
  void signal_controller(int number) const;

 private:
  void make_shims() const;

  TempFolder temp_;
  std::filesystem::path cluster_, bin_;
};

// Returns the events of one kind that an agent has printed.
std::vector<nlohmann::json> events_of(const Child& agent, const std::string& event);

}  // namespace yard::testing
