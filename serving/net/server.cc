#include "serving/net/server.h"

#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <condition_variable>
#include <stop_token>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "serving/log/drift_reports.h"
#include "serving/net/endpoints.h"
#include "serving/net/grpc_port.h"
#include "serving/net/metrics.h"
#include "serving/net/rpc.h"
#include "serving/net/traceparent.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

constexpr const char* kService = "yardmaster.v1.PolicyService";
constexpr std::chrono::seconds kHttpDeadline{10};        // callers by HTTP send none
constexpr std::chrono::seconds kReloadInterval{1};       // between checks of files
constexpr std::chrono::milliseconds kShutdownTime{800};  // for pending calls at the end
constexpr std::chrono::seconds kFlushTime{5};            // for the decision log
constexpr int kAdminConnections = 32;
constexpr int kProbeConnections = 64;

// Questions of kube-scheduler, which asks one at a time.
constexpr int kExtenderThreads = 2;
constexpr int kMaxExtenderWaiting = 64;
constexpr size_t kMaxExtenderBytes = size_t{64} << 20;

// The port calls itself, as often and as long as this, until it counts as dead.
constexpr std::chrono::seconds kProbeInterval{5};
constexpr std::chrono::seconds kProbeTime{2};
constexpr int kProbeTries = 3;

// Of the descriptors, callers by gRPC get half and callers by HTTP an eighth; the rest is for
// files, probes and the admin port.
int grpc_connections(const ServerOptions& options, int descriptors) {
  return std::max(16, std::min(options.max_connections, descriptors / 2));
}

int http_connections(int descriptors) { return std::max(16, std::min(512, descriptors / 8)); }

HttpLimits limits_of_probes() {
  HttpLimits out;
  out.max_connections = kProbeConnections;
  out.max_body_bytes = 0;
  out.first_byte = out.head = out.write = std::chrono::seconds(5);
  return out;
}

// Waits for `duration`, or until `ending` is requested.
void wait(const std::stop_token& ending, std::chrono::milliseconds duration) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait_for(lock, ending, duration, [] { return false; });
}

// Calls `work` every `interval` until the thread is to stop.
template <class Work>
std::jthread every(std::chrono::milliseconds interval, Work work) {
  return std::jthread([=](const std::stop_token& ending) {
    while (wait(ending, interval), !ending.stop_requested()) work();
  });
}

EngineOptions engine_options(const ServerOptions& given) {
  EngineOptions out = given.engine;
  out.tracing = given.log.folder.empty() ? Tracing::kNone : Tracing::kOn;
  return out;
}

std::vector<ModelCatalog::ModelOptions> all_models(const ServerOptions& given) {
  std::vector<ModelCatalog::ModelOptions> out = {{given.policy, given.name}};
  out.insert(out.end(), given.more_models.begin(), given.more_models.end());
  return out;
}

std::unique_ptr<Credentials> checked(const ServerOptions& given) {
  auto out = std::make_unique<Credentials>(given.credentials);
  out->require_tls_unless_local("--listen", given.listen);
  if (!given.admin.empty()) out->require_tls_unless_local("--admin", given.admin);
  if (!given.http.empty()) out->require_tls_unless_local("--http", given.http);
  if (!given.probes.empty()) out->require_protected_probes_address(given.probes);
  return out;
}

}  // namespace

struct Server::Impl {
  explicit Impl(const ServerOptions& given)
      : options(given),
        credentials(checked(given)),
        models(all_models(given), given.models_file),
        log(given.log.folder.empty() ? nullptr : std::make_unique<DecisionLog>(given.log)),
        extender(std::make_shared<kubernetes::Extender>(given.extender)),
        engine(engine_options(given), models,
               [this](const ServedDecision& served) { on_served(served); }),
        extender_pool({.threads = kExtenderThreads,
                       .max_waiting = kMaxExtenderWaiting,
                       .max_waiting_cost = kMaxExtenderBytes}),
        rpc(engine, {.access = counted("grpc", &Credentials::decide),
                     .max_message_bytes = static_cast<uint64_t>(message_bytes()),
                     .refused = [this] { metrics.count_refused_request(); },
                     .report = [this](const std::string& cluster,
                                      const pb::Outcome& outcome) { report(cluster, outcome); }}),
        admin_rpc({.status = [this] { return status(); },
                   .reload = [this] { reload(); },
                   .reset_breaker = [this] { breaker().reset(); },
                   .models = &models,
                   .read_access = counted("admin", &Credentials::allow_admin_read),
                   .write_access = counted("admin", &Credentials::allow_admin_write)}) {
    grpc::EnableDefaultHealthCheckService(true);
    [[maybe_unused]] static const bool once = [] {
      grpc::reflection::InitProtoReflectionServerBuilderPlugin();
      // Malformed client messages get an error response, not a log entry.
      google::protobuf::SetLogHandler(nullptr);
      return true;
    }();
    main = std::make_unique<GrpcPort>(
        GrpcPortOptions{"--listen", options.listen, grpc_connections(options, descriptors),
                        message_bytes(), credentials->certificates_for(options.listen)},
        rpc);
    if (!options.admin.empty()) {
      admin = std::make_unique<GrpcPort>(
          GrpcPortOptions{"--admin", options.admin, kAdminConnections, message_bytes(),
                          credentials->certificates_for(options.admin)},
          admin_rpc);
    }
    EndpointCallbacks endpoints = {
        .why_not_alive = [this] { return why_not_alive(); },
        .ready = [this] { return !draining.load(); },
        .metrics = [this] { return metrics_text(); },
        .decide = nullptr,
        .may_decide = allowed("http", &Credentials::decide),
        .may_read_metrics = allowed("http", &Credentials::allow_metrics_read)};
    if (!options.probes.empty()) {
      probes = std::make_unique<HttpServer>(
          HttpServer::Options{.option = "--probes",
                              .address = options.probes,
                              .limits = limits_of_probes(),
                              .certificates = credentials->certificates_for_probes(options.probes),
                              .check_clients = credentials->verifies_probe_clients(),
                              .screen = screen_of(endpoints)},
          handler_of(endpoints));
    }
    if (!options.http.empty()) {
      endpoints.decide = [this](HttpRequest&& request, HttpServer::Reply&& reply) {
        decide(std::move(request), std::move(reply));
      };
      endpoints.extend = [this](std::string_view verb, std::string&& body,
                                HttpServer::Reply&& reply) {
        extend(verb, std::move(body), std::move(reply));
      };
      HttpLimits limits;
      limits.max_connections = http_connections(descriptors);
      limits.max_body_bytes = static_cast<size_t>(message_bytes());
      const auto certificates = credentials->certificates_for(options.http);
      http = std::make_unique<HttpServer>(
          HttpServer::Options{
              .option = "--http",
              .address = options.http,
              .limits = limits,
              .certificates = certificates,
              .check_clients = certificates != nullptr && certificates->verifies_clients(),
              .screen = screen_of(endpoints)},
          handler_of(endpoints));
    }
    publish_health();
    watch = every(kReloadInterval, [this] {
      credentials->reload_if_changed(false);
      models.reload_if_changed();
      publish_health();
    });
    self_test = every(kProbeInterval, [this] { test_port(); });
  }

  ~Impl() { stop(); }

  using Check = Access (Credentials::*)(std::string_view) const;

  // Counts what is refused on that port.
  std::function<Access(std::string_view)> counted(const char* port, Check check) {
    return [this, port, check](std::string_view authorization) {
      const Access out = (*credentials.*check)(authorization);
      if (out != Access::kAllowed) metrics.count_denied_request(port);
      return out;
    };
  }

  std::function<bool(const std::string&)> allowed(const char* port, Check check) {
    return [check = counted(port, check)](const std::string& authorization) {
      return check(authorization) == Access::kAllowed;
    };
  }

  void on_served(const ServedDecision& served) {
    metrics.count_decision(served.response, models.has(served.response.model()));
    if (options.on_traced && !served.traceparent.empty() && is_sampled(served.traceparent)) {
      options.on_traced(served.response, served.traceparent);
    }
    if (served.request != nullptr) {
      extender->observe(served.request->cluster(),
                        [history = served.history] { return history->state(); });
    }
    if (log == nullptr || served.request == nullptr) return;
    log->add(served.request, served.response, std::move(served.trace), *served.bounds,
             {.traceparent = served.traceparent, .recall = served.recall});
  }

  void report(const std::string& cluster, const pb::Outcome& outcome) {
    metrics.count_reported_outcome(outcome);
    if (log != nullptr) log->add(cluster, outcome);
  }

  int message_bytes() const { return options.max_message_mib << 20; }

  void stop() {
    self_test = {};
    watch = {};
    const auto until = std::chrono::steady_clock::now() + kShutdownTime;
    const auto left = [until] {
      return std::max(std::chrono::milliseconds(0),
                      std::chrono::duration_cast<std::chrono::milliseconds>(
                          until - std::chrono::steady_clock::now()));
    };
    rpc.end_idle_streams();
    // gRPC waits for every call, also for one whose policy hangs and whose budget is an hour.
    const std::jthread hurry([this, left](const std::stop_token& over) {
      wait(over, left());
      engine.expire_all_deadlines();
    });
    main->stop(left());
    if (http != nullptr) http->stop(left());
    if (admin != nullptr) admin->stop(left());
    if (probes != nullptr) probes->stop(left());
  }

  void shut_down_gracefully() {
    draining = true;
    publish_health();
    std::this_thread::sleep_for(std::chrono::duration<double>(options.grace_s));
    stop();
    if (log != nullptr) log->flush(kFlushTime);
  }

  void reload() {
    credentials->reload_if_changed(true);
    models.reload();
    publish_health();
  }

  Breaker& breaker() {
    const ModelStore::ModelVersion now = models.first_model_status().current;
    return engine.breaker_of(now.name, now.digest);
  }

  void publish_health() {
    const bool up = !draining.load();
    grpc::HealthCheckServiceInterface& health = main->health();
    health.SetServingStatus("", up);
    health.SetServingStatus(kService, up);
    const ModelStore::Status now = models.first_model_status();
    if (now.current.name.empty()) return;
    health.SetServingStatus("policy/" + now.current.name, up && now.current.model != nullptr);
  }

  void test_port() {
    const bool answers = main->answers(kProbeTime);
    failed_tests = answers ? 0 : failed_tests + 1;
  }

  // Why a load balancer should not send callers here.
  std::string why_not_alive() const {
    const int failed = failed_tests.load();
    return failed == 0
               ? ""
               : fmt::format("the port {} did not answer {} times", main->address(), failed);
  }

  pb::StatusResponse status() {
    const ModelStore::Status now = models.first_model_status();
    pb::StatusResponse out;
    out.set_model(now.current.name);
    out.set_digest(now.current.digest);
    out.set_serving(now.current.model != nullptr);
    out.set_reason(pb::Reason_Name(now.refused));
    out.set_detail(now.refused_detail);
    out.set_fallback(options.engine.fallback);
    out.set_loads(now.loads);
    out.set_refusals(now.refusals);
    out.set_draining(draining.load());
    out.set_release(std::string(release_version()));
    out.set_commit(std::string(source_commit()));
    const auto time = std::chrono::steady_clock::now();
    out.set_breaker(breaker_state_name(breaker().state(time)));
    out.set_breaker_detail(breaker().detail(time));
    if (now.current.model != nullptr) out.set_envelope(now.current.model->envelope_text());
    if (!out.envelope().empty() && options.engine.envelope_tolerance <= 0) {
      out.mutable_envelope()->append(", not checked (--envelope-tolerance 0)");
    }
    if (auto drift = drift_report()) *out.mutable_drift() = *std::move(drift);
    return out;
  }

  std::optional<pb::DriftReport> drift_report() const {
    return log == nullptr ? std::nullopt : latest_drift_report(options.log.folder);
  }

  std::optional<DecisionLog::Counts> log_counts() const {
    return log == nullptr ? std::nullopt : std::optional(log->counts());
  }

  std::string metrics_text() {
    return metrics.text({.pending = engine.pending_requests(),
                         .queues = engine.queues(),
                         .stuck = engine.num_stuck(),
                         .ready = !draining.load(),
                         .grpc_connections = main->connections(),
                         .http_connections = http == nullptr ? 0 : http->connections(),
                         .turned_away = main->connections_turned_away(),
                         .memories = engine.cluster_memories().count(),
                         .memory_bytes = engine.cluster_memories().bytes(),
                         .breaker = static_cast<int>(breaker().state(Engine::Clock::now())),
                         .times_breakers_opened = engine.times_breakers_opened(),
                         .repeated = engine.repeated_requests(),
                         .state_copies = engine.state_copies(),
                         .credentials = credentials->status(),
                         .models = models.first_model_status(),
                         .versions = models.list(),
                         .log = log_counts(),
                         .drift = drift_report(),
                         .extender = extender->counts()});
  }

  void decide(HttpRequest&& request, HttpServer::Reply&& reply) {
    const size_t bytes = request.body.size();
    // Shared, since the answer and the refusal each have one use for it.
    const auto send = std::make_shared<HttpServer::Reply>(std::move(reply));
    engine.submit({
        .read =
            [body = std::make_shared<const std::string>(std::move(request.body))] {
              return std::make_shared<pb::DecideRequest>(parse_snapshot(*body, "body"));
            },
        .bytes = bytes,
        .client = "http",
        .is_client_known = false,
        .request_id = "",
        .traceparent = std::move(request.traceparent),
        .deadline = Engine::Clock::now() + kHttpDeadline,
        .cancelled = nullptr,
        .done =
            [send](pb::DecideResponse&& response) {
              (*send)({200, to_json(response), "application/json"});
            },
        .refuse =
            [this, send](const pb::Refusal& why) {
              metrics.count_refused_request();
              (*send)(json_error(400, why.message()));
            },
    });
  }

  void extend(std::string_view verb, std::string&& body, HttpServer::Reply&& reply) {
    const size_t bytes = body.size();
    const auto send = std::make_shared<HttpServer::Reply>(std::move(reply));
    const auto begin = std::chrono::steady_clock::now();
    const auto answer = [=, this](const kubernetes::ExtenderAnswer& with) {
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      metrics.count_extender_answer(std::string(verb), with.status, taken.count());
      (*send)({with.status, with.body, "application/json"});
    };
    const auto busy = [answer] {
      answer({503, json_error(503, "too many requests are in progress; try again later").body});
    };
    // The pool and the port end before the metrics do.
    const auto ticket = extender_pool.submit(
        {"kube-scheduler", bytes,
         [=, on = extender, body = std::move(body)] { answer(on->answer(verb, body)); }, busy});
    if (ticket == nullptr) busy();
  }

  const ServerOptions options;
  const std::unique_ptr<Credentials> credentials;
  const int descriptors = raise_descriptor_limit();
  Metrics metrics;
  ModelCatalog models;
  const std::unique_ptr<DecisionLog> log;
  const std::shared_ptr<kubernetes::Extender> extender;
  Engine engine;
  WorkPool extender_pool;
  PolicyRpc rpc;
  AdminRpc admin_rpc;
  std::atomic<bool> draining = false;
  std::atomic<int> failed_tests = 0;  // in a row
  std::unique_ptr<GrpcPort> main, admin;
  std::unique_ptr<HttpServer> http, probes;
  std::jthread watch, self_test;  // destroyed first
};

Server::Server(const ServerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Server::~Server() = default;

std::string Server::address() const { return impl_->main->address(); }
std::string Server::http_address() const { return impl_->http ? impl_->http->address() : ""; }
std::string Server::probes_address() const { return impl_->probes ? impl_->probes->address() : ""; }
std::string Server::admin_address() const { return impl_->admin ? impl_->admin->address() : ""; }
ModelStore::Status Server::model() const { return impl_->models.first_model_status(); }
const std::vector<std::string>& Server::restore_errors() const {
  return impl_->models.restore_errors();
}
Credentials::Status Server::credentials() const { return impl_->credentials->status(); }
std::optional<DecisionLog::Counts> Server::log() const { return impl_->log_counts(); }
void Server::reload() { impl_->reload(); }
void Server::shut_down_gracefully() { impl_->shut_down_gracefully(); }
std::string Server::why_not_alive() const { return impl_->why_not_alive(); }
std::string Server::why_must_end() const {
  return impl_->failed_tests.load() < kProbeTries ? "" : impl_->why_not_alive();
}
bool Server::has_stuck_policy() const { return impl_->engine.num_stuck() > 0; }

}  // namespace yard
