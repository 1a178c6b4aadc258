// `serve`: runs the policy server until SIGTERM. SIGHUP reloads the model's files.

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "env/base/os/interrupt.h"
#include "env/base/text/wall_clock.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/credential_options.h"
#include "serving/net/server.h"

namespace yard {
namespace {

volatile std::sig_atomic_t reload_requested = 0;

void request_reload(int) { reload_requested = 1; }

std::string state_of(const ModelStore::Status& status) {
  const std::string refused = pb::Reason_Name(status.refused) + ": " + status.refused_detail;
  if (status.current.model == nullptr) return refused;
  return status.refused == pb::NONE ? "serving" : "serving the version in memory; " + refused;
}

void print_addresses(const Server& server, const std::string& fallback, bool json) {
  const ModelStore::Status status = server.model();
  if (json) {
    const nlohmann::ordered_json out = {{"grpc", server.address()},
                                        {"http", server.http_address()},
                                        {"probes", server.probes_address()},
                                        {"admin", server.admin_address()},
                                        {"model", status.current.name},
                                        {"digest", status.current.digest},
                                        {"serving", status.current.model != nullptr},
                                        {"reason", pb::Reason_Name(status.current.reason)},
                                        {"fallback", fallback}};
    std::puts(out.dump().c_str());
  } else {
    std::printf("listening grpc=%s", server.address().c_str());
    if (!server.http_address().empty()) std::printf(" http=%s", server.http_address().c_str());
    if (!server.probes_address().empty())
      std::printf(" probes=%s", server.probes_address().c_str());
    if (!server.admin_address().empty()) std::printf(" admin=%s", server.admin_address().c_str());
    std::printf(" model=%s fallback=%s\n", status.current.name.c_str(), fallback.c_str());
  }
  std::fflush(stdout);
}

}  // namespace

int run_serve(int argc, char** argv) {
  ServerOptions options;
  std::string checkpoint;
  bool json = false;
  CLI::App app("Serve a policy to a cluster manager.", "serve");
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Model");
  auto* folder =
      app.add_option("--checkpoint", checkpoint,
                     "folder of a trained policy; without it and --policy, the fallback decides");
  app.add_option("--policy", options.policy,
                 "a registered policy or a tuned policy's file, instead of --checkpoint")
      ->type_name(kPolicyType)
      ->excludes(folder);
  app.add_option("--name", options.name,
                 "name of the model; default: that of the folder or policy");
  app.add_option("--fallback", options.engine.fallback,
                 "heuristic that decides if the policy cannot")
      ->type_name(kPolicyType);
  app.option_defaults()->group("Addresses");
  app.add_option("--listen", options.listen,
                 "HOST:PORT, PORT on loopback or unix:PATH for gRPC; port 0 selects a free port");
  app.add_option("--http", options.http, "address for /metrics, /readyz, /v1/decide, /k8s/filter, ...");
  app.add_option("--probes", options.probes,
                 "second address for /livez, /readyz and /metrics, which callers of --http cannot "
                 "block");
  app.add_option("--admin", options.admin, "address for the service ModelAdmin");
  add_credential_options(app, options.credentials);
  app.option_defaults()->group("Limits");
  app.add_option("--budget-ms", options.engine.budget_ms,
                 "time limit of a decision in milliseconds, if the request sets none")
      ->check(CLI::Range(0.1, 3.6e6));
  app.add_option("--threads", options.engine.threads, "threads that run policies")
      ->check(CLI::Range(1, 256));
  app.add_option("--max-jobs", options.engine.max_jobs,
                 "maximum jobs in a snapshot for the policy; the fallback decides larger snapshots")
      ->check(CLI::Range(1, 1 << 18));
  app.add_option("--max-message-mib", options.max_message_mib,
                 "maximum size of a request in MiB; larger requests are refused")
      ->check(CLI::Range(1, 1024));
  app.add_option("--max-connections", options.max_connections,
                 "maximum connections to --listen; further ones are closed")
      ->check(CLI::Range(16, 1 << 20));
  app.add_option("--grace", options.grace_s, "seconds from 'not ready' to shutdown")
      ->check(CLI::Range(0.0, 3600.0));
  PreemptionLimitOptions& limits = options.engine.preemptions;
  app.option_defaults()->group("Preemptions");
  app.add_option("--preempted-share", limits.gpu_share,
                 "GPUs of running jobs preempted within --preempted-within, as a share of the "
                 "cluster's; one job may have more; 0: none, 1: no limit")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--preempted-within", limits.interval_s, "seconds, for --preempted-share")
      ->check(CLI::Range(1.0, 3600.0));
  app.add_option("--preemptions-per-job", limits.per_job, "preemptions of one job within an hour")
      ->check(CLI::Range(0, 1'000'000));
  app.add_option("--min-run", limits.min_run_s,
                 "seconds for which a job runs before it may be preempted")
      ->check(CLI::Range(0.0, 1e9));
  app.option_defaults()->group("Guards");
  app.add_option("--breaker-share", options.engine.breaker.failed_share,
                 "share of the last 100 decisions that the policy may fail; beyond it the fallback "
                 "decides for a while; 1: any")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--breaker-open", options.engine.breaker.open_s,
                 "seconds until the policy is tried again, doubled after each failed trial")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--max-idle", options.engine.max_idle_s,
                 "seconds for which a checkpoint may leave GPUs idle while the fallback would "
                 "start a job; 0: any")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--max-wait", options.engine.max_wait_s,
                 "seconds after which easy places a waiting job first; 0: any")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--max-age", options.engine.max_age_s,
                 "age_s of a snapshot in seconds, beyond which nothing is decided; 0: any")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--valid-for", options.engine.valid_s, "seconds until the actions expire")
      ->check(CLI::Range(0.1, 1e9));
  app.option_defaults()->group("Kubernetes");
  app.add_option("--extender-cluster", options.extender.cluster,
                 "cluster whose snapshots tell the scheduler extender which GPUs are in use; "
                 "default: any");
  app.add_option("--extender-memory", options.extender.memory_s,
                 "seconds for which the scheduler extender assumes that a pod runs on the node "
                 "with its best score, unless a snapshot says otherwise")
      ->check(CLI::Range(1.0, 1e6));
  app.option_defaults()->group("Decision log");
  auto* log = app.add_option("--decision-log", options.log.folder,
                             "folder for a log of all decisions, for training");
  app.add_option("--decision-log-mib", options.log.max_mib,
                 "maximum total size of the log in MiB; the oldest files are deleted first")
      ->check(CLI::Range(2, 1 << 30))
      ->needs(log);
  app.add_option("--decision-log-file-mib", options.log.file_mib,
                 "maximum size of a log file in MiB")
      ->check(CLI::Range(1, 1024))
      ->needs(log);
  app.add_option("--decision-log-sync", options.log.sync_s,
                 "seconds after which a record would survive a power cut; 0: at once; without it, "
                 "when the system decides")
      ->check(CLI::Range(0.0, 3600.0))
      ->needs(log);
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print the addresses as one JSON document");
  set_examples(app, {"yardmaster serve --policy las --listen 127.0.0.1:50051",
                     "yardmaster serve --checkpoint checkpoints/pilot --decision-log decisions",
                     "yardmaster serve --policy las --listen 0.0.0.0:50051 --tls-cert server.pem "
                     "--tls-key server.key --tls-client-ca clients.pem --token-file tokens"});
  if (!parse_arguments(app, argc, argv)) return 0;
  if (!checkpoint.empty()) {
    options.policy =
        checkpoint.starts_with("checkpoint:") ? checkpoint : "checkpoint:" + checkpoint;
  }

  spdlog::set_default_logger(spdlog::stderr_color_mt("serve"));
  std::signal(SIGHUP, request_reload);
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log that ends does not end the server
  std::signal(SIGXFSZ, SIG_IGN);  // a log at its size limit then fails with a write error
  Server server(options);
  print_addresses(server, options.engine.fallback, json);
  std::string state = state_of(server.model());
  const bool serves = server.model().current.model != nullptr;
  if (options.policy.empty()) {
    spdlog::warn("neither --checkpoint nor --policy is given: the fallback {} makes every decision",
                 options.engine.fallback);
  } else if (serves) {
    spdlog::info("model '{}': {}", server.model().current.name, state);
  } else {
    spdlog::warn("model '{}': {}; the fallback {} decides", server.model().current.name, state,
                 options.engine.fallback);
  }
  Credentials::Status credentials = server.credentials();
  const auto report_credentials = [&] {
    const Credentials::Status now = server.credentials();
    if (now.certificates.loaded != credentials.certificates.loaded) {
      spdlog::info("new certificate in service, valid until {} UTC",
                   date_text(now.certificate_expires_s));
    }
    if (now.tokens.loaded != credentials.tokens.loaded) spdlog::info("new tokens in service");
    if (now.trouble != credentials.trouble && !now.trouble.empty()) {
      spdlog::warn("{}; what is in memory stays in service", now.trouble);
    }
    credentials = now;
  };
  std::string trouble;
  const auto report_trouble = [&] {
    const auto written = server.log();
    if (!written || written->trouble == trouble) return;
    trouble = written->trouble;
    spdlog::warn("decision log: {}",
                 trouble.empty() ? "writing again" : trouble + "; records are dropped");
  };
  while (!interrupted() && server.failure().empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (reload_requested) {
      reload_requested = 0;
      server.reload();
    }
    const ModelStore::Status now = server.model();
    if (std::string next = state_of(now); next != state) {
      state = std::move(next);
      spdlog::warn("model '{}': {}", now.current.name, state);
    }
    report_credentials();
    report_trouble();
  }
  const std::string failure = server.failure();
  if (!failure.empty()) {
    // To go on would leave a process which looks alive and does not serve.
    spdlog::critical("{}; the server ends", failure);
    std::fflush(stdout);
    std::_Exit(1);
  }
  spdlog::info("draining for {} s", options.grace_s);
  server.drain();
  report_trouble();
  spdlog::info("done");
  if (server.has_stuck_policy()) {
    // A policy which still runs must not see destroyed statics.
    std::fflush(stdout);
    std::_Exit(0);
  }
  return 0;
}

}  // namespace yard
