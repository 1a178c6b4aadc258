// `serve`: runs the policy server until SIGTERM. SIGHUP has it read its files again.

#include <spdlog/spdlog.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/os/interrupt.h"
#include "env/base/os/service_manager.h"
#include "env/base/text/wall_clock.h"
#include "experiments/programs/serve/commands.h"
#include "experiments/programs/serve/serve_options.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;

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

// Runs a server, and tells the operator and the service manager how it is doing.
class ServerLoop {
 public:
  // Requires: both outlive this.
  ServerLoop(Server& server, const ServeOptions& options, std::vector<std::string> arguments)
      : server_(server),
        options_(options),
        arguments_(std::move(arguments)),
        file_(text_of_file()),
        state_(state_of(server.model())),
        credentials_(server.credentials()) {}

  // Returns at SIGTERM, or when the server can no longer serve, with the reason; empty: it can.
  std::string run() {
    print_addresses(server_, options_.server.engine.fallback, options_.json);
    report_first_state();
    manager_.notify_ready(status());
    while (!interrupted() && server_.why_must_end().empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (reload_requested != 0) {
        reload_requested = 0;
        reload();
      }
      report_state();
      report_credentials();
      report_log();
      report_alive();
    }
    return server_.why_must_end();
  }

  void shut_down_gracefully() {
    manager_.notify_stopping();
    spdlog::info("draining for {} s", options_.server.grace_s);
    server_.shut_down_gracefully();
    report_log();
    spdlog::info("done");
  }

 private:
  std::string text_of_file() const {
    return options_.config.empty() ? "" : read_file(options_.config);
  }

  std::string status() const {
    const std::string& model = server_.model().current.name;
    return model.empty() ? "the fallback decides" : "model " + model + ": " + state_;
  }

  void reload() {
    manager_.notify_reloading();
    server_.reload();
    check_file();
    manager_.notify_ready(status());
  }

  // Options last as long as the process. If their file has changed, the operator learns now whether
  // the next start would succeed.
  void check_file() {
    try {
      std::string now = text_of_file();
      if (now == file_) return;
      file_ = std::move(now);
      ServeOptions unused;
      parse_serve_options(arguments_, unused);
      spdlog::warn("{} has changed: its options count from the next start", options_.config);
    } catch (const InputError& error) {
      spdlog::error("the next start would fail: {}", error.what());
    }
  }

  void report_first_state() const {
    for (const std::string& what : server_.restore_errors()) {
      spdlog::warn("{}: not restored: {}", options_.server.models_file, what);
    }
    const std::string& fallback = options_.server.engine.fallback;
    const ModelStore::Status now = server_.model();
    if (options_.server.policy.empty()) {
      spdlog::warn(
          "neither --checkpoint nor --policy is given: the fallback {} makes every decision",
          fallback);
    } else if (now.current.model != nullptr) {
      spdlog::info("model '{}': {}", now.current.name, state_);
    } else {
      spdlog::warn("model '{}': {}; the fallback {} decides", now.current.name, state_, fallback);
    }
  }

  void report_state() {
    const ModelStore::Status now = server_.model();
    std::string next = state_of(now);
    if (next == state_) return;
    state_ = std::move(next);
    spdlog::warn("model '{}': {}", now.current.name, state_);
    manager_.notify_ready(status());
  }

  void report_credentials() {
    const Credentials::Status now = server_.credentials();
    if (now.certificates.loaded != credentials_.certificates.loaded) {
      spdlog::info("new certificate in service, valid until {} UTC",
                   date_text(now.certificate_expires_s));
    }
    if (now.tokens.loaded != credentials_.tokens.loaded) spdlog::info("new tokens in service");
    if (now.trouble != credentials_.trouble && !now.trouble.empty()) {
      spdlog::warn("{}; what is in memory stays in service", now.trouble);
    }
    credentials_ = now;
  }

  void report_log() {
    const auto written = server_.log();
    if (!written || written->trouble == log_trouble_) return;
    log_trouble_ = written->trouble;
    spdlog::warn("decision log: {}",
                 log_trouble_.empty() ? "writing again" : log_trouble_ + "; records are dropped");
  }

  // Without a sign of life for long enough the service manager starts the server anew.
  void report_alive() {
    const auto interval = manager_.notify_alive_interval();
    if (!interval || Clock::now() < next_sign_ || !server_.why_not_alive().empty()) return;
    next_sign_ = Clock::now() + *interval;
    manager_.notify_alive();
  }

  Server& server_;
  const ServeOptions& options_;
  const std::vector<std::string> arguments_;
  const SystemdNotifier manager_;
  std::string file_;   // text of the file of options
  std::string state_;  // of the model, in words
  Credentials::Status credentials_;
  std::string log_trouble_;
  Clock::time_point next_sign_ = {};
};

}  // namespace

int run_serve(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  ServeOptions options;
  if (!parse_serve_options(arguments, options)) return 0;
  start_log("serve", options.log_format);
  options.server.on_traced = log_decision;
  std::signal(SIGHUP, request_reload);
  std::signal(SIGPIPE, SIG_IGN);  // a reader of the log that ends does not end the server
  std::signal(SIGXFSZ, SIG_IGN);  // a log at its size limit then fails with a write error
  Server server(options.server);
  ServerLoop loop(server, options, arguments);
  if (const std::string failure = loop.run(); !failure.empty()) {
    // To go on would leave a process which looks alive and does not serve.
    spdlog::critical("{}; the server ends", failure);
    std::fflush(stdout);
    std::_Exit(1);
  }
  loop.shut_down_gracefully();
  if (server.has_stuck_policy()) {
    // A policy which still runs must not see destroyed statics.
    std::fflush(stdout);
    std::_Exit(0);
  }
  return 0;
}

}  // namespace yard
