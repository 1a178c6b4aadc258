// The HTTP endpoints of a server, for load balancers, Prometheus and curl.
//   GET /livez /readyz /version /metrics    POST /v1/decide (proto3 JSON both ways)
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace yard {

// Handlers of the endpoints. Each may be called from several threads at once.
struct HttpHandlers {
  struct Decided {
    int status = 200;
    std::string body;  // JSON
  };
  std::function<bool()> ready;
  std::function<std::string()> metrics;
  std::function<Decided(const std::string& body)> decide;
};

class HttpServer {
 public:
  // Throws InputError if the address cannot be listened on. Serves until destroyed.
  HttpServer(const std::string& address, size_t max_bytes, const HttpHandlers& answers);
  ~HttpServer();

  const std::string& address() const;  // with the actual port in place of 0

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct HostPort {
  std::string host;
  int port = 0;
};

// Throws InputError naming `option` unless `text` is HOST:PORT.
HostPort parse_address(const std::string& option, const std::string& text);

}  // namespace yard
