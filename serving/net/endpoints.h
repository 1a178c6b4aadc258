// The HTTP endpoints of a server, for load balancers, Prometheus and curl:
//   GET /livez /readyz /version /metrics
//   POST /v1/decide (proto3 JSON both ways), /k8s/VERB (a scheduler extender of Kubernetes)
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "serving/net/http_server.h"

namespace yard {

// Functions that give the endpoints' answers. Several threads may call a function at once.
struct EndpointCallbacks {
  std::function<std::string()> why_not_alive;  // why the server is not alive; empty: it is alive
  std::function<bool()> ready;
  std::function<std::string()> metrics;
  // Decides on a snapshot in JSON; null: the server has no endpoint for decisions.
  std::function<void(HttpRequest&& request, HttpServer::Reply&& reply)> decide;
  // Answers kube-scheduler; null: the server has no such endpoint. `verb` is one of
  // kubernetes::kExtenderVerbs.
  std::function<void(std::string_view verb, std::string&& body, HttpServer::Reply&& reply)> extend =
      nullptr;
  // Whether a request with this Authorization header may ask for decisions, or read the metrics.
  std::function<bool(const std::string&authorization)> may_decide, may_read_metrics;
};

// handler_of() returns the handler of an HttpServer with these endpoints. screen_of() returns its
// screen, which refuses requests without a valid token.
HttpServer::Handler handler_of(EndpointCallbacks endpoints);
std::function<HttpResponse(const HttpRequest&)> screen_of(EndpointCallbacks endpoints);

// Returns {"error": what} with a status. Bytes of `what` which are not UTF-8 are replaced.
HttpResponse json_error(int status, const std::string& what);

}  // namespace yard
