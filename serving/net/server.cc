#include "serving/net/server.h"

#include <google/protobuf/stubs/logging.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/health_check_service_interface.h>

#include <condition_variable>
#include <future>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "serving/net/http_server.h"
#include "serving/net/metrics.h"
#include "serving/net/rpc.h"
#include "serving/snapshot/json.h"

namespace yard {
namespace {

constexpr const char* kService = "yardmaster.v1.PolicyService";
constexpr std::chrono::seconds kHttpDeadline{10};    // HTTP callers send none, and hold a thread
constexpr std::chrono::seconds kReloadInterval{1};   // between checks of the model's files
constexpr std::chrono::seconds kShutdownTimeout{5};  // for pending calls at the end

struct Listening {
  std::unique_ptr<grpc::Server> server;
  std::string address;
};

Listening listen(const std::string& option, const std::string& text, grpc::Service& service,
                 int max_message_mib) {
  const HostPort at = parse_address(option, text);
  grpc::ServerBuilder builder;
  int port = 0;
  // Otherwise two servers could share a port, and each would get some of the calls.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddListeningPort(text, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&service);
  builder.SetMaxReceiveMessageSize(max_message_mib << 20);
  Listening out{builder.BuildAndStart(), ""};
  if (out.server == nullptr || port == 0) {
    throw InputError(option, "a free address and port", "'" + text + "'");
  }
  out.address = at.host + ":" + std::to_string(port);
  return out;
}

EngineOptions engine_options(const ServerOptions& given) {
  EngineOptions out = given.engine;
  out.tracing = given.log.folder.empty() ? Tracing::kNone : Tracing::kOn;
  return out;
}

}  // namespace

struct Server::Impl {
  explicit Impl(const ServerOptions& given)
      : options(given),
        models(given.policy, given.name),
        log(given.log.folder.empty() ? nullptr : std::make_unique<DecisionLog>(given.log)),
        engine(engine_options(given), models,
               [this](const ServedDecision& served) { on_served(served); }),
        rpc(engine, [this] { metrics.refused_request(); }),
        admin_rpc({[this] { return status(); }, [this] { reload(); }}) {
    grpc::EnableDefaultHealthCheckService(true);
    [[maybe_unused]] static const bool once = [] {
      grpc::reflection::InitProtoReflectionServerBuilderPlugin();
      // Malformed client messages get an error response, not a log entry.
      google::protobuf::SetLogHandler(nullptr);
      return true;
    }();
    main = listen("--listen", options.listen, rpc, options.max_message_mib);
    if (!options.admin.empty()) {
      admin = listen("--admin", options.admin, admin_rpc, options.max_message_mib);
    }
    if (!options.http.empty()) {
      http = std::make_unique<HttpServer>(
          options.http, static_cast<size_t>(options.max_message_mib) << 20,
          HttpHandlers{[this] { return !draining.load(); }, [this] { return metrics_text(); },
                       [this](const std::string& body) { return decide(body); }});
    }
    publish_health();
    watch = std::jthread([this](const std::stop_token& ending) { keep_watch(ending); });
  }

  ~Impl() { stop(); }

  void on_served(const ServedDecision& served) {
    metrics.decided(served.response, models.name());
    if (log != nullptr) log->add(served.request, served.response, std::move(served.trace));
  }

  void stop() {
    http.reset();
    const auto until = std::chrono::system_clock::now() + kShutdownTimeout;
    for (Listening* one : {&main, &admin}) {
      if (one->server == nullptr) continue;
      one->server->Shutdown(until);
      one->server->Wait();
    }
  }

  void drain() {
    draining = true;
    publish_health();
    std::this_thread::sleep_for(std::chrono::duration<double>(options.grace_s));
    stop();
    if (log != nullptr) log->flush(kShutdownTimeout);
  }

  void reload() {
    models.reload();
    publish_health();
  }

  void publish_health() {
    const bool up = !draining.load();
    grpc::HealthCheckServiceInterface& health = *main.server->GetHealthCheckService();
    health.SetServingStatus("", up);
    health.SetServingStatus(kService, up);
    const ModelStore::Status now = models.status();
    if (now.current.name.empty()) return;
    health.SetServingStatus("policy/" + now.current.name, up && now.current.model != nullptr);
  }

  void keep_watch(const std::stop_token& ending) {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::unique_lock lock(mutex);
    const auto never = [] { return false; };
    while (changed.wait_for(lock, ending, kReloadInterval, never), !ending.stop_requested()) {
      models.reload_if_changed();
      publish_health();
    }
  }

  pb::StatusResponse status() const {
    const ModelStore::Status now = models.status();
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
    out.set_release(std::string(release()));
    out.set_commit(std::string(commit()));
    return out;
  }

  std::optional<DecisionLog::Counts> log_counts() const {
    return log == nullptr ? std::nullopt : std::optional(log->counts());
  }

  std::string metrics_text() {
    return metrics.text({.pending = engine.pending(),
                         .stuck = engine.stuck(),
                         .ready = !draining.load(),
                         .models = models.status(),
                         .log = log_counts()});
  }

  HttpHandlers::Decided decide(const std::string& body) {
    const auto error = [](int status, const char* what) {
      return HttpHandlers::Decided{
          status, nlohmann::json{{"error", what}}.dump(-1, ' ', false,
                                                       nlohmann::json::error_handler_t::replace) +
                      "\n"};
    };
    std::promise<pb::DecideResponse> answer;
    try {
      engine.decide(parse_snapshot(body, "body"), Engine::Clock::now() + kHttpDeadline,
                    [&](pb::DecideResponse&& response) { answer.set_value(std::move(response)); });
      return {200, to_json(answer.get_future().get())};
    } catch (const InputError& bad) {
      metrics.refused_request();
      return error(400, bad.what());
    } catch (const std::exception& failed) {
      return error(500, failed.what());
    }
  }

  const ServerOptions options;
  Metrics metrics;
  ModelStore models;
  const std::unique_ptr<DecisionLog> log;
  Engine engine;
  PolicyRpc rpc;
  AdminRpc admin_rpc;
  std::atomic<bool> draining = false;
  Listening main, admin;
  std::unique_ptr<HttpServer> http;
  std::jthread watch;  // destroyed first
};

Server::Server(const ServerOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Server::~Server() = default;

std::string Server::address() const { return impl_->main.address; }
std::string Server::http_address() const { return impl_->http ? impl_->http->address() : ""; }
std::string Server::admin_address() const { return impl_->admin.address; }
ModelStore::Status Server::model() const { return impl_->models.status(); }
std::optional<DecisionLog::Counts> Server::log() const { return impl_->log_counts(); }
void Server::reload() { impl_->reload(); }
void Server::drain() { impl_->drain(); }
bool Server::has_stuck_policy() const { return impl_->engine.stuck() > 0; }

}  // namespace yard
