// Prometheus metrics of the Slurm agent.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "serving/net/client.h"

namespace yard::slurm {

class AgentMetrics {
 public:
  AgentMetrics();
  ~AgentMetrics();

  // All functions of AgentMetrics are thread-safe.
  void count_action(const std::string& action, const std::string& outcome);
  void count_decision(const std::string& source, const std::string& reason);
  void ran(const std::string& command, const std::string& result, double elapsed_s);
  void count_start(const std::string& by);  // counts a start of a job, by "agent" or by "slurm"
  void gap();
  void count_failed_listing();
  void set_leader(bool leads);
  void set_client_counts(
      const ClientCounts& counts);  // sets the client's totals since the agent's start
  void set_queue(const std::string& partition, int waiting, int held_gpus,
                 const std::map<std::string, int>& left);

  // Returns the text of the endpoint /metrics.
  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace yard::slurm
