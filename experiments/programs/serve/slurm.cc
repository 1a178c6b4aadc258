// `slurm`: the agent beside a live Slurm. Prints one line an event; `release-all` gives all jobs
// back.

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/os/service_manager.h"
#include "env/base/text/print.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/serve/commands.h"
#include "serving/net/endpoints.h"
#include "serving/net/http_server.h"
#include "serving/net/listener.h"
#include "serving/slurm/release.h"
#include "serving/slurm/slurm_agent.h"

namespace yard {
namespace {

using Event = nlohmann::ordered_json;

// "start job=17 outcome=done nodes=n3"
std::string text_of(const Event& event) {
  std::string out;
  for (const auto& [key, value] : event.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (key == "event") {
      out += text;
    } else if (!text.empty() && text != "null") {
      out += " " + key + "=" + (text.find(' ') == std::string::npos ? text : "'" + text + "'");
    }
  }
  return out;
}

void print_event(const Event& event, bool json) {
  const auto line =
      json ? event.dump(-1, ' ', false, Event::error_handler_t::replace) : text_of(event);
  print_to(stdout, "{}\n", line);
  std::fflush(stdout);
}

// Waits until the next step, or an interrupt.
void wait_until(slurm::BootClock::time_point next) {
  while (!interrupted() && slurm::BootClock::now() < next) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::unique_ptr<HttpServer> serve_http(const std::string& address, const slurm::SlurmAgent& agent) {
  if (address.empty()) return nullptr;
  if (!is_local("--http", address)) {
    throw InputError("--http", "a loopback address or a Unix socket", in_quotes(address));
  }
  // A step takes a few commands, each with a time limit.
  constexpr double kStuckS = 120;
  return std::make_unique<HttpServer>(
      HttpServer::Options{.option = "--http", .address = address},
      handler_of({.why_not_alive =
                      [&agent] {
                        const double since_s = agent.seconds_since_step();
                        return since_s < kStuckS
                                   ? std::string()
                                   : fmt::format("no step for {:.0f} seconds", since_s);
                      },
                  .ready = [] { return true; },
                  .metrics = [&agent] { return agent.metrics().text(); },
                  .decide = nullptr,
                  .may_decide = nullptr,
                  .may_read_metrics = nullptr}));
}

struct Arguments {
  std::string config, http;
  bool dry_run = false, json = false, if_no_leader = false;
  double for_s = 0;
};

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

// Waits until this process leads, or another agent gives a sign of life, and returns whether it
// leads.
bool leads_alone(slurm::LeaderLock& lock, double lock_s) {
  const auto until = slurm::BootClock::now() + nanoseconds_of(lock_s + 1);
  while (!lock.renew()) {
    throw_if_interrupted();
    if (lock.has_seen_other_agent() || slurm::BootClock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  return true;
}

int release(const Arguments& arguments) {
  const slurm::Config config = slurm::read_config(arguments.config, arguments.if_no_leader);
  std::unique_ptr<slurm::LeaderLock> lock;  // until the end: no agent begins meanwhile
  if (arguments.if_no_leader) {
    lock = std::make_unique<slurm::LeaderLock>(config.lock, config.lock_s);
    if (!leads_alone(*lock, config.lock_s)) {
      print_event({{"event", "led"}, {"by", lock->leader()}}, arguments.json);
      return 0;
    }
  }
  const slurm::Released done = slurm::release_all(config);
  print_event({{"event", "released"}, {"jobs", done.released}, {"refused", done.refused}},
              arguments.json);
  return done.refused == 0 ? 0 : 1;
}

int run_agent(const Arguments& arguments) {
  const slurm::Config config = slurm::read_config(arguments.config, !arguments.dry_run);
  slurm::SlurmAgent agent(
      {.config = config, .dry_run = arguments.dry_run, .report = [&](const Event& event) {
         print_event(event, arguments.json);
       }});
  const auto http = serve_http(arguments.http, agent);
  if (http != nullptr) spdlog::info("listening http={}", http->address());
  const SystemdNotifier manager;
  manager.notify_ready("deciding with " + config.server);
  const auto begin = slurm::BootClock::now();
  while (!interrupted()) {
    const auto next = slurm::BootClock::now() + nanoseconds_of(config.interval_s);
    agent.step();
    if (manager.notify_alive_interval()) manager.notify_alive();
    if (arguments.for_s > 0 && slurm::seconds_since(begin) >= arguments.for_s) break;
    wait_until(next);
  }
  manager.notify_stopping();
  agent.stop();
  const ClientCounts sent = agent.client_counts();
  print_event({{"event", "sent"},
               {"snapshots", sent.snapshots},
               {"deltas", sent.deltas},
               {"bytes", sent.bytes},
               {"outcomes", sent.outcomes_accepted},
               {"outcomes_unsent", sent.outcomes_waiting + sent.outcomes_dropped}},
              arguments.json);
  if (arguments.dry_run) print_event(agent.dry_run_gains(), arguments.json);
  return 0;
}

}  // namespace

int run_slurm(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Let the policy server decide when and where jobs of a live Slurm start.", "slurm");
  app.require_subcommand(0, 1);
  auto* release_command = app.add_subcommand(
      "release-all", "give all waiting jobs with a lease to Slurm's own scheduler, for good");
  constexpr const char* kConfig = "YAML file: partitions, server, limits";
  constexpr const char* kJson = "print one JSON object a line";
  app.option_defaults()->always_capture_default();
  app.option_defaults()->group("Agent");
  app.add_option("--config", arguments.config, kConfig);
  app.add_flag(
      "--dry-run", arguments.dry_run,
      "change nothing; print what the agent would do, and at the end what that would gain");
  app.add_option("--for", arguments.for_s, "seconds to run; 0: until SIGTERM")
      ->check(CLI::Range(0.0, 1e9));
  app.add_option("--http", arguments.http, "HOST:PORT for /metrics, /livez and /readyz");
  app.option_defaults()->group("Output");
  app.add_flag("--json", arguments.json, kJson);
  set_examples(app, {"yardmaster slurm --config serving/slurm/agent.yaml --dry-run --for 3600"});
  release_command->option_defaults()->group("Agent");
  release_command->add_option("--config", arguments.config, kConfig)->required();
  release_command->add_flag(
      "--if-no-leader", arguments.if_no_leader,
      "act only if no running agent gives a sign of life; for use from a timer");
  release_command->option_defaults()->group("Output");
  release_command->add_flag("--json", arguments.json, kJson);
  set_examples(*release_command,
               {"yardmaster slurm release-all --config serving/slurm/agent.yaml"});
  if (!parse_arguments(app, argc, argv)) return 0;
  spdlog::set_default_logger(spdlog::stderr_color_mt("slurm"));
  if (release_command->parsed()) return release(arguments);
  if (arguments.config.empty()) {
    throw InputError("--config", "a YAML file, such as serving/slurm/agent.yaml", "none");
  }
  return run_agent(arguments);
}

}  // namespace yard
