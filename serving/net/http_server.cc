#include "serving/net/http_server.h"

#include <httplib.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

std::string version_json() {
  nlohmann::ordered_json out = {{"yardmaster", release()}, {"commit", commit()}};
  for (const BuildFact& fact : build_facts()) out[std::string(fact.name)] = fact.value;
  return out.dump() + "\n";
}

// Without SO_REUSEPORT, so that two servers cannot share a port unnoticed.
void forbid_port_sharing(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

HostPort parse_address(const std::string& option, const std::string& text) {
  const size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : parse_int(std::string_view(text).substr(colon + 1));
  if (!port || *port < 0 || *port > 65535 || colon == 0) {
    throw InputError(option, "HOST:PORT", "'" + text + "'");
  }
  return {text.substr(0, colon), static_cast<int>(*port)};
}

struct HttpServer::Impl {
  httplib::Server server;
  std::string address;
  std::thread thread;
};

HttpServer::HttpServer(const std::string& address, size_t max_bytes, const HttpHandlers& answers)
    : impl_(std::make_unique<Impl>()) {
  HostPort at = parse_address("--http", address);
  httplib::Server& server = impl_->server;
  server.set_socket_options(forbid_port_sharing);
  server.set_payload_max_length(max_bytes);
  server.set_keep_alive_timeout(1);
  server.new_task_queue = [] { return new httplib::ThreadPool(4); };
  constexpr const char* kText = "text/plain; charset=utf-8";
  constexpr const char* kJson = "application/json";
  server.Get("/livez", [=](const httplib::Request&, httplib::Response& out) {
    out.set_content("alive\n", kText);
  });
  server.Get("/readyz", [=](const httplib::Request&, httplib::Response& out) {
    const bool ready = answers.ready();
    out.status = ready ? 200 : 503;
    out.set_content(ready ? "ready\n" : "draining\n", kText);
  });
  server.Get("/version", [=](const httplib::Request&, httplib::Response& out) {
    out.set_content(version_json(), kJson);
  });
  server.Get("/metrics", [=](const httplib::Request&, httplib::Response& out) {
    out.set_content(answers.metrics(), "text/plain; version=0.0.4; charset=utf-8");
  });
  server.Post("/v1/decide", [=](const httplib::Request& in, httplib::Response& out) {
    const HttpHandlers::Decided decided = answers.decide(in.body);
    out.status = decided.status;
    out.set_content(decided.body, kJson);
  });
  if (at.port == 0) {
    at.port = server.bind_to_any_port(at.host);
  } else if (!server.bind_to_port(at.host, at.port)) {
    at.port = -1;
  }
  if (at.port < 0) throw InputError("--http", "a free address and port", "'" + address + "'");
  impl_->address = at.host + ":" + std::to_string(at.port);
  impl_->thread = std::thread([&server] { server.listen_after_bind(); });
  // A stop() before the loop runs would have no effect.
  while (!server.is_running()) std::this_thread::yield();
}

HttpServer::~HttpServer() {
  impl_->server.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

const std::string& HttpServer::address() const { return impl_->address; }

}  // namespace yard
