// The HTTP side of a server: what load balancers, Prometheus and people with curl ask.
//   GET /livez /readyz /version /metrics    POST /v1/decide (proto3 JSON both ways)
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace yard {

// What the server answers with; each may be called from several threads at a time.
struct HttpAnswers {
  struct Decided {
    int status = 200;
    std::string body;  // JSON
  };
  std::function<bool()> ready;
  std::function<std::string()> metrics;
  std::function<Decided(const std::string& body)> decide;
};

class HttpSide {
 public:
  // Throws InputError where the address cannot be listened on. Answers until destroyed.
  HttpSide(const std::string& address, size_t most_bytes, const HttpAnswers& answers);
  ~HttpSide();

  const std::string& address() const;  // with the port that was chosen for port 0

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct HostPort {
  std::string host;
  int port = 0;
};

// Throws InputError unless `text` is HOST:PORT; `option` is named in it.
HostPort parse_address(const std::string& option, const std::string& text);

}  // namespace yard
