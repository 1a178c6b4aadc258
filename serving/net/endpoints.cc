#include "serving/net/endpoints.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "env/base/core/version.h"
#include "serving/kubernetes/extender.h"

namespace yard {
namespace {

constexpr const char* kJson = "application/json";

std::string version_json() {
  nlohmann::ordered_json out = {{"yardmaster", release_version()}, {"commit", source_commit()}};
  for (const BuildFact& fact : build_facts()) out[std::string(fact.name)] = fact.value;
  return out.dump() + "\n";
}

HttpResponse probe(const EndpointCallbacks& on, const std::string& path) {
  if (path == "/livez") {
    const std::string trouble = on.why_not_alive();
    return trouble.empty() ? HttpResponse{200, "alive\n"} : HttpResponse{503, trouble + "\n"};
  }
  if (path == "/readyz") {
    return on.ready() ? HttpResponse{200, "ready\n"} : HttpResponse{503, "draining\n"};
  }
  if (path == "/version") return {200, version_json(), kJson};
  return {200, on.metrics(), "text/plain; version=0.0.4; charset=utf-8"};
}

constexpr const char* kDecide = "/v1/decide";
constexpr std::string_view kExtender = "/k8s/";
constexpr std::array kProbes = {"/livez", "/readyz", "/version", "/metrics"};

// Returns the verb of /k8s/VERB; "" for other paths.
std::string_view extender_verb(std::string_view path) {
  if (!path.starts_with(kExtender)) return "";
  const auto* const verb =
      std::ranges::find(kubernetes::kExtenderVerbs, path.substr(kExtender.size()));
  return verb == kubernetes::kExtenderVerbs.end() ? "" : *verb;
}

void answer(const EndpointCallbacks& on, HttpRequest&& request, HttpServer::Reply&& reply) {
  const bool probes = std::ranges::find(kProbes, request.path) != kProbes.end();
  const bool decides = on.decide != nullptr && request.path == kDecide;
  const std::string_view verb = on.extend != nullptr ? extender_verb(request.path) : "";
  const std::string allowed = probes ? "GET, HEAD" : "POST";
  if (!probes && !decides && verb.empty())
    return reply(json_error(404, "no such endpoint: " + request.path));
  const bool fits =
      probes ? request.method == "GET" || request.method == "HEAD" : request.method == "POST";
  if (!fits) {
    HttpResponse refused = json_error(405, request.path + " takes " + allowed);
    refused.allow = allowed;
    return reply(std::move(refused));
  }
  if (probes) return reply(probe(on, request.path));
  if (!verb.empty()) return on.extend(verb, std::move(request.body), std::move(reply));
  on.decide(std::move(request), std::move(reply));
}

}  // namespace

HttpServer::Handler handler_of(EndpointCallbacks endpoints) {
  return [on = std::move(endpoints)](HttpRequest&& request, HttpServer::Reply&& reply) {
    answer(on, std::move(request), std::move(reply));
  };
}

std::function<HttpResponse(const HttpRequest&)> screen_of(EndpointCallbacks endpoints) {
  return [on = std::move(endpoints)](const HttpRequest& request) {
    const bool decides = request.path == kDecide || request.path.starts_with(kExtender);
    const bool allowed = decides                      ? on.may_decide(request.authorization)
                         : request.path == "/metrics" ? on.may_read_metrics(request.authorization)
                                                      : true;
    if (allowed) return HttpResponse{};
    HttpResponse out = json_error(401, request.path + " needs a valid token");
    out.authenticate = "Bearer";
    return out;
  };
}

HttpResponse json_error(int status, const std::string& what) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return {status, nlohmann::json{{"error", what}}.dump(-1, ' ', false, kReplace) + "\n", kJson};
}

}  // namespace yard
