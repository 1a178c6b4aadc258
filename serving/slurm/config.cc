#include "serving/slurm/config.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "serving/slurm/texts.h"
#include "serving/snapshot/messages.h"

namespace yard::slurm {

void Config::fields(FieldList& f) {
  f("partitions", partitions, "Slurm partitions whose jobs the agent decides on");
  f("accounts", accounts, "accounts whose jobs the agent decides on; empty: all accounts");
  f("nodes", nodes, "nodes that the agent uses, such as n[0-3]; empty: all nodes of the partition");
  f("server", server,
    "HOST:PORT or unix:PATH of `yardmaster serve`; several servers, separated by commas, are asked "
    "in turn");
  f("tls", tls, "use TLS to the servers, with the system's CAs unless tls_ca is given");
  f("tls_ca", tls_ca, "PEM file of the CAs of the servers' certificates; turns TLS on");
  f("tls_cert", tls_cert, "PEM file of the agent's own certificate, for mutual TLS");
  f("tls_key", tls_key, "PEM file of the private key for tls_cert");
  f("tls_server_name", tls_server_name, "name in the servers' certificates; empty: their host");
  f("token_file", token_file, "file of the token that the agent sends to the servers");
  f("insecure", insecure, "send the token without TLS, even to servers on other machines");
  f("model", model, "name of the model that decides; empty: the model which the server serves");
  f("fallback", fallback, "heuristic that decides in the agent if no server answers; see act_on");
  f("act_on", act_on,
    "sources of decisions that the agent carries out: POLICY, HEURISTIC, CLIENT_HEURISTIC (if no "
    "server "
    "answers). A decision from another source leaves all jobs to Slurm");
  f("deadline_ms", deadline_ms, 1, 60'000, "time limit of a decision in milliseconds");
  f("deltas", deltas, "send what changed since the last snapshot, instead of whole snapshots only");
  f("interval_s", interval_s, 0.1, 60.0, "seconds between two listings of the cluster");
  f("lease_s", lease_s, 5.0, 3600.0,
    "seconds after submission, and after each renewal, at which Slurm may start a job without the "
    "agent");
  f("release_after_s", release_after_s, 60.0, 1e7,
    "seconds of waiting after which a job's lease is no longer renewed");
  f("valid_s", valid_s, 0.5, 60.0, "age in seconds at which a listing is too old to act on");
  f("pin_s", pin_s, 1.0, 600.0, "seconds a job may take to start on the nodes chosen for it");
  f("command_timeout_s", command_timeout_s, 0.5, 60.0,
    "time limit of each Slurm command in seconds");
  f("preempt", preempt, "allow requeueing jobs whose partition or QOS has PreemptMode=REQUEUE");
  f("save_s", save_s, 0.0, 86400.0,
    "seconds that a requeued job takes to save its state and release its GPUs, by which policies "
    "judge whether a preemption pays");
  f("restore_s", restore_s, 0.0, 86400.0,
    "seconds that a requeued job of up to 8 GPUs takes from its next start until it goes on where "
    "it was");
  f("restore_large_s", restore_large_s, 0.0, 86400.0, "restore_s of a job of more than 8 GPUs");
  f("lock", lock, "folder by which all agents of a cluster elect the agent that acts");
  f("lock_s", lock_s, 2.0, 600.0, "seconds of a leader's silence after which another agent leads");
  f("bin", bin, "folder of squeue, sinfo and scontrol; empty: search PATH");
}

ConnectionOptions Config::connection() const {
  ConnectionOptions out;
  for (const std::string_view one : split(server, ',')) out.servers.emplace_back(trim(one));
  out.tls = tls;
  out.files = {.cert = tls_cert, .key = tls_key, .ca = tls_ca};
  out.tls_server_name = tls_server_name;
  out.token_file = token_file;
  out.insecure = insecure;
  return out;
}

Config read_config(const std::string& path, bool acts) {
  const auto config = parse<Config>(Settings::from_yaml(path));
  const auto expect = [&](bool fits, const char* key, const std::string& what,
                          const std::string& got) {
    if (!fits) throw InputError(path + ": " + key, what, got);
  };
  expect(!config.partitions.empty(), "partitions", "the partitions to decide on", "none");
  expect(expand_nodes(config.nodes).has_value(), "nodes", "a list of nodes such as n[0-3]",
         in_quotes(config.nodes));
  for (const std::string& source : config.act_on) {
    const std::vector<std::string> known = {"POLICY", "HEURISTIC", "CLIENT_HEURISTIC"};
    expect(std::ranges::find(known, source) != known.end(), "act_on", join(known, " or "),
           in_quotes(source));
  }
  // A leader renews its lock between commands, and counts as deposed after half of lock_s.
  expect(config.lock_s >= 3 * config.command_timeout_s, "lock_s",
         "at least three times command_timeout_s (" + shortest_text(3 * config.command_timeout_s) +
             ")",
         shortest_text(config.lock_s));
  expect(config.lease_s >= 4 * config.interval_s, "lease_s",
         "at least four times interval_s (" + shortest_text(4 * config.interval_s) + ")",
         shortest_text(config.lease_s));
  if (acts) expect(!config.lock.empty(), "lock", "a folder for the leader lock", "none");
  return config;
}

}  // namespace yard::slurm
