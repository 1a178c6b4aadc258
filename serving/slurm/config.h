// Settings of the Slurm agent, read from FILE.yaml in `yardmaster slurm --config FILE.yaml`.
#pragma once

#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "serving/net/connections.h"

namespace yard::slurm {

struct Config {
  std::vector<std::string> partitions, accounts;
  std::string nodes;
  std::string server = "127.0.0.1:50051", model, fallback = "las";
  bool tls = false, insecure = false;
  std::string tls_ca, tls_cert, tls_key, tls_server_name, token_file;
  std::vector<std::string> act_on = {"POLICY", "HEURISTIC"};
  int deadline_ms = 500;
  bool deltas = true;
  double interval_s = 1, lease_s = 30, release_after_s = 21600, valid_s = 5, pin_s = 30;
  double command_timeout_s = 5;
  bool preempt = false;
  double save_s = 10, restore_s = 30, restore_large_s = 60;
  std::string lock;
  double lock_s = 20;
  std::string bin;

  void fields(FieldList& f);
  ConnectionOptions connection() const;  // to the servers
};

// Reads and checks the file. Throws InputError for an invalid setting. `acts`: the agent will
// change jobs, so that the setting `lock` is needed.
Config read_config(const std::string& path, bool acts);

}  // namespace yard::slurm
