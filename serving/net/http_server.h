// An HTTP/1.1 server with a bound on everything that a peer can make it wait for or keep: the
// number of connections, the size of headers and bodies, and the time of each step.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "serving/net/certificates.h"

namespace yard {

struct HttpLimits {
  int max_connections = 512;  // at the limit, the one closes that has waited longest for a request
  size_t max_head_bytes = size_t{16} << 10;
  size_t max_body_bytes = size_t{16} << 20;      // of one request
  size_t max_bodies_bytes = size_t{256} << 20;   // of all requests in progress
  std::chrono::milliseconds handshake{5'000};    // of TLS
  std::chrono::milliseconds first_byte{10'000};  // on a new connection
  std::chrono::milliseconds idle{60'000};        // between two requests
  std::chrono::milliseconds head{10'000};        // from the first byte to the end of the header
  std::chrono::milliseconds body{20'000};        // from there to the end of the body
  std::chrono::milliseconds write{20'000};       // of one answer
};

struct HttpRequest {
  std::string method;         // "GET"
  std::string path;           // without the query
  std::string authorization;  // that header; empty: none, or several
  std::string traceparent;    // that header; empty: none, several, or not as W3C defines it
  std::string body;
};

struct HttpResponse {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::string allow = {};         // header of status 405
  std::string authenticate = {};  // header of status 401
  std::string traceparent = {};   // header of the request, sent back
};

class HttpServer {
 public:
  using Reply = std::function<void(HttpResponse&&)>;
  // Called on the thread that also reads and writes: it must take no time. Replies once, at once or
  // later, from any thread. Must not throw.
  using Handler = std::function<void(HttpRequest&&, Reply&&)>;

  struct Options {
    std::string option;   // names the port in errors: "--http"
    std::string address;  // as for Listener
    HttpLimits limits = {};
    std::shared_ptr<const Certificates> certificates = nullptr;  // null: no TLS
    bool check_clients = false;                                  // they need a certificate
    // Looks at a request before its body is read. It goes on if the status is 200; else this is the
    // answer.
    std::function<HttpResponse(const HttpRequest&)> screen = nullptr;
  };

  // Serves when it returns. Throws InputError if the address cannot be listened on.
  HttpServer(Options options, Handler handler);
  ~HttpServer();  // without waiting for replies

  const std::string& address() const;  // with the port in use
  int connections() const;

  // Accepts no more connections and closes those between two requests. The others have `most` to
  // end.
  void stop(std::chrono::milliseconds most);

 private:
  struct Impl;
  const std::shared_ptr<Impl> impl_;
};

}  // namespace yard
