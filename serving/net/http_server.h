// An HTTP/1.1 server with bounds on all that a peer can make it wait for or store: the number of
// connections, the size of headers and bodies, and the time of each step.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "serving/net/certificates.h"

namespace yard {

struct HttpLimits {
  int max_connections = 512;  // at the limit, the connection idle for longest is closed
  size_t max_head_bytes = size_t{16} << 10;
  size_t max_body_bytes = size_t{16} << 20;      // limit for one request
  size_t max_bodies_bytes = size_t{256} << 20;   // limit for all requests in progress
  std::chrono::milliseconds handshake{5'000};    // time for TLS
  std::chrono::milliseconds first_byte{10'000};  // time to the first byte of a connection
  std::chrono::milliseconds idle{60'000};        // time between two requests
  std::chrono::milliseconds head{10'000};        // time from the first byte to the header's end
  std::chrono::milliseconds body{20'000};        // time from the header's end to the body's end
  std::chrono::milliseconds write{20'000};       // time to write one answer
};

struct HttpRequest {
  std::string method;         // "GET"
  std::string path;           // without the query
  std::string authorization;  // Authorization header; empty: none or several
  std::string traceparent;    // traceparent header; empty: none, several, or not as W3C defines it
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::string allow = {};         // Allow header of status 405
  std::string authenticate = {};  // WWW-Authenticate header of status 401
  std::string traceparent = {};   // traceparent header of the request, sent back
};

class HttpServer {
 public:
  using Reply = std::function<void(HttpResponse&&)>;
  // A handler is called on the thread that reads and writes, so it must return quickly and not
  // throw. The handler replies once, immediately or later, from any thread.
  using Handler = std::function<void(HttpRequest&&, Reply&&)>;

  struct Options {
    std::string option;   // option that names the port in errors, such as "--http"
    std::string address;  // as for Listener
    HttpLimits limits = {};
    std::shared_ptr<const Certificates> certificates = nullptr;  // null: no TLS
    bool check_clients = false;                                  // clients need a certificate
    // Checks a request before its body is read. Status 200 lets the request go on; any other
    // response is the answer.
    std::function<HttpResponse(const HttpRequest&)> screen = nullptr;
  };

  // Returns when the server serves. Throws InputError if listening on the address fails.
  HttpServer(Options options, Handler handler);
  ~HttpServer();  // closes all connections without waiting for replies

  const std::string& address() const;  // address with the port in use
  int connections() const;

  // Accepts no more connections and closes connections between two requests. Connections with a
  // request have the time `timeout` to end.
  void stop(std::chrono::milliseconds timeout);

 private:
  struct Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace yard
