#include "serving/net/http_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>
// Asio's coroutines use std::exchange without its header: <utility> comes first.
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <condition_variable>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "serving/net/listener.h"
#include "serving/net/traceparent.h"

namespace yard {
namespace {

namespace net = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

using Protocol = net::generic::stream_protocol;
using Stream = beast::basic_stream<Protocol, net::any_io_executor>;
using TlsStream = net::ssl::stream<Stream&>;
using Error = beast::error_code;
using Message = http::response<http::string_body>;

constexpr size_t kChunk = 4096;
constexpr std::chrono::milliseconds kPause{20};     // before accepting again without descriptors
constexpr std::chrono::milliseconds kLinger{2000};  // for the rest of a request that was refused

auto into(Error& error) { return net::redirect_error(net::use_awaitable, error); }

struct Connection {
  Stream stream;
  std::unique_ptr<TlsStream> tls = nullptr;  // over `stream`
  bool waits = true;                         // for a complete header
  bool closed = false;                       // by us; its coroutine ends soon
};
using At = std::list<Connection>::iterator;

// Bytes that a body may take of the bound for all bodies.
class Allowance {
 public:
  explicit Allowance(size_t& left) : left_(left) {}
  ~Allowance() { left_ += taken_; }
  Allowance(const Allowance&) = delete;

  bool take(size_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    taken_ += bytes;
    return true;
  }

 private:
  size_t& left_;
  size_t taken_ = 0;
};

// Whether the peer sent something else than HTTP, rather than too little or too slowly.
bool is_malformed(const Error& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

int domain_of(int fd) {
  int domain = AF_INET;
  socklen_t size = sizeof domain;
  getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
  return domain;
}

Message message_of(HttpResponse&& answer, bool keep, bool without_body) {
  Message out(static_cast<http::status>(answer.status), 11);
  out.set(http::field::content_type, answer.content_type);
  if (!answer.allow.empty()) out.set(http::field::allow, answer.allow);
  if (!answer.authenticate.empty()) out.set(http::field::www_authenticate, answer.authenticate);
  if (!answer.traceparent.empty()) out.set(kTraceparent, answer.traceparent);
  out.keep_alive(keep);
  out.content_length(answer.body.size());
  if (!without_body) out.body() = std::move(answer.body);
  return out;
}

}  // namespace

// One thread runs `io`, and uses everything here that is not marked otherwise.
struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  Impl(Options&& given, Handler handle)
      : options(std::move(given)),
        handler(std::move(handle)),
        listener(options.option, options.address),
        left_for_bodies(limits.max_bodies_bytes) {
    net::co_spawn(io, accept_connections(), [](const std::exception_ptr&) {});
    thread = std::thread([this] { io.run(); });
  }

  net::awaitable<void> accept_connections() {
    // It closes the descriptor that it is given.
    net::posix::stream_descriptor pending(io, fcntl(listener.fd(), F_DUPFD_CLOEXEC, 0));
    net::steady_timer pause(io);
    const int domain = domain_of(listener.fd());
    Error error;
    for (;;) {
      co_await pending.async_wait(net::posix::stream_descriptor::wait_read, into(error));
      if (error || ending) co_return;
      const uint64_t lacking = listener.closed_for_lack_of_descriptors();
      for (int fd; (fd = listener.accept()) >= 0;) take(fd, domain);
      if (listener.closed_for_lack_of_descriptors() == lacking) continue;
      pause.expires_after(kPause);
      co_await pause.async_wait(into(error));
    }
  }

  void take(int fd, int domain) {
    if (live >= limits.max_connections) make_room();
    Error error;
    Protocol::socket socket(io);
    socket.assign(Protocol(domain, 0), fd, error);
    if (error) ::close(fd);
    if (error || live >= limits.max_connections) return;
    const At at = connections.insert(connections.end(), Connection{Stream(std::move(socket))});
    ++live;
    net::co_spawn(io, serve(at), [this, at](const std::exception_ptr&) { forget(at); });
  }

  // The list is in the order of the last requests.
  void make_room() {
    for (Connection& one : connections) {
      if (one.waits && !one.closed) return drop(one);
    }
  }

  void drop(Connection& one) {
    one.closed = true;
    --live;
    Error ignored;
    one.stream.socket().close(ignored);
  }

  void forget(At at) {
    if (!at->closed) --live;
    connections.erase(at);
    if (!ending || !connections.empty()) return;
    const std::lock_guard lock(mutex);
    over = true;
    changed.notify_all();
  }

  net::awaitable<void> serve(At at) {
    if (options.certificates == nullptr) {
      const bool refused = co_await converse(at, at->stream);
      co_await end(at, refused);
      co_return;
    }
    // The context lives as long as the stream that was made from it.
    const std::shared_ptr<const TlsIdentity> identity = options.certificates->current();
    SSL_CTX_up_ref(identity->context.get());
    net::ssl::context context(identity->context.get());
    at->tls = std::make_unique<TlsStream>(at->stream, context);
    Error error;
    if (options.check_clients) {
      at->tls->set_verify_mode(net::ssl::verify_peer | net::ssl::verify_fail_if_no_peer_cert,
                               error);
    }
    at->stream.expires_after(limits.handshake);
    co_await at->tls->async_handshake(net::ssl::stream_base::server, into(error));
    if (error) co_return;
    const bool refused = co_await converse(at, *at->tls);
    co_await end(at, refused);
  }

  // Answers requests until one side wants to end. Returns whether the last one was not read to its
  // end. GCC 12 copies objects made in the operand of co_await byte by byte (its bug 99576):
  // strings and the like are made before.
  template <class AnyStream>
  net::awaitable<bool> converse(At at, AnyStream& stream) {
    beast::flat_buffer buffer;
    Error error;
    for (bool first = true;; first = false) {
      at->waits = true;
      connections.splice(connections.end(), connections, at);
      if (buffer.size() == 0) {
        at->stream.expires_after(first ? limits.first_byte : limits.idle);
        const size_t n = co_await stream.async_read_some(buffer.prepare(kChunk), into(error));
        if (error) co_return false;
        buffer.commit(n);
      }
      http::request_parser<http::string_body> parser;
      parser.header_limit(static_cast<uint32_t>(limits.max_head_bytes));
      parser.body_limit(limits.max_body_bytes);
      at->stream.expires_after(limits.head);
      co_await http::async_read_header(stream, buffer, parser, into(error));
      at->waits = false;
      HttpRequest request;
      HttpResponse answer;
      if (!error) {
        request = head_of(parser.get());
        if (options.screen != nullptr) answer = options.screen(request);
      }
      const bool screened = answer.status != 200;
      Allowance allowance(left_for_bodies);
      bool fits = true;
      if (!error && !screened && !parser.is_done()) {
        // A body in chunks does not say how large it will be.
        const auto length = parser.content_length();
        fits = allowance.take(
            std::min<size_t>(length.value_or(limits.max_body_bytes), limits.max_body_bytes));
        at->stream.expires_after(limits.body);
        if (fits && beast::iequals(parser.get()[http::field::expect], "100-continue")) {
          http::response<http::empty_body> go_on(http::status::continue_, 11);
          co_await http::async_write(stream, go_on, into(error));
        }
        if (fits && !error) co_await http::async_read(stream, buffer, parser, into(error));
      }
      if (!screened) answer = refusal_of(error, fits);
      const bool refused = answer.status != 200;
      if (error && !refused) co_return false;

      const bool unread = refused && !parser.is_done();
      const bool without_body = parser.get().method() == http::verb::head;
      const bool keep = (!refused || screened) && !unread && parser.get().keep_alive();
      if (!refused) {
        request.body = std::move(parser.get().body());
        at->stream.expires_never();
        const std::string traceparent = request.traceparent;
        answer = co_await answer_to(request);
        answer.traceparent = traceparent;
      }
      at->stream.expires_after(limits.write);
      Message out = message_of(std::move(answer), keep && !ending, without_body);
      co_await http::async_write(stream, out, into(error));
      if (error) co_return false;
      if (!keep || ending) co_return unread;
    }
  }

  static HttpRequest head_of(const http::request<http::string_body>& in) {
    HttpRequest out;
    out.method = std::string(in.method_string());
    const std::string target(in.target());
    out.path = target.substr(0, target.find('?'));
    if (in.count(http::field::authorization) == 1) {
      out.authorization = std::string(in[http::field::authorization]);
    }
    if (in.count(kTraceparent) == 1) {
      const auto given = in[kTraceparent];
      out.traceparent = valid_traceparent({given.data(), given.size()});
    }
    return out;
  }

  // Closes a connection after its last answer.
  net::awaitable<void> end(At at, bool unread) {
    Error error;
    at->stream.expires_after(kLinger);
    if (at->tls != nullptr) co_await at->tls->async_shutdown(into(error));
    at->stream.socket().shutdown(Protocol::socket::shutdown_send, error);
    if (!unread) co_return;
    // What still comes of a request that was not read to its end is dropped for a moment: the
    // reset of a connection with unread bytes would reach the peer before the answer.
    std::vector<char> dropped(kChunk);
    for (error = {}; !error;) {
      co_await at->stream.async_read_some(net::buffer(dropped), into(error));
    }
  }

  // Status 200: the request is not refused.
  HttpResponse refusal_of(const Error& error, bool fits) const {
    if (!fits) return {503, "too many large requests are in progress; try again later\n"};
    const auto larger = [](const char* what, size_t bytes) {
      return std::string(what) + " is larger than " + std::to_string(bytes) + " bytes\n";
    };
    if (error == http::error::header_limit)
      return {431, larger("the header", limits.max_head_bytes)};
    if (error == http::error::body_limit) return {413, larger("the body", limits.max_body_bytes)};
    if (is_malformed(error)) return {400, "not HTTP: " + error.message() + "\n"};
    return {};
  }

  struct Waiting {
    explicit Waiting(net::io_context& io) : timer(io, net::steady_timer::time_point::max()) {}
    net::steady_timer timer;
    std::optional<HttpResponse> answer;
  };

  // Has the handler answer, and waits for its reply.
  net::awaitable<HttpResponse> answer_to(HttpRequest& request) {
    const auto waiting = std::make_shared<Waiting>(io);
    // The reply may come after the connection, or the server, has ended.
    Reply reply = [server = weak_from_this(), to = std::weak_ptr(waiting)](HttpResponse&& answer) {
      const auto self = server.lock();
      if (self == nullptr) return;
      net::post(self->io, [to, answer = std::move(answer)]() mutable {
        const auto waits = to.lock();
        if (waits == nullptr) return;
        waits->answer = std::move(answer);
        waits->timer.cancel();
      });
    };
    handler(std::move(request), std::move(reply));
    Error cancelled;
    while (!waiting->answer) co_await waiting->timer.async_wait(into(cancelled));
    co_return std::move(*waiting->answer);
  }

  // Called by another thread.
  void stop(std::chrono::milliseconds timeout) {
    if (!thread.joinable()) return;
    net::post(io, [this] {
      ending = true;
      // Wakes the coroutine that accepts.
      shutdown(listener.fd(), SHUT_RDWR);
      for (Connection& one : connections) {
        if (one.waits && !one.closed) drop(one);
      }
      if (!connections.empty()) return;
      const std::lock_guard lock(mutex);
      over = true;
      changed.notify_all();
    });
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, timeout, [this] { return over; });
    }
    io.stop();
    thread.join();
  }

  const Options options;
  const HttpLimits& limits = options.limits;
  const Handler handler;
  Listener listener;
  size_t left_for_bodies;
  net::io_context io{1};
  std::list<Connection> connections;
  std::atomic<int> live = 0;  // connections that we have not closed; read by all threads
  bool ending = false;

  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;  // of all threads

  std::thread thread;
};

HttpServer::HttpServer(Options options, Handler handler)
    : impl_(std::make_shared<Impl>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() { stop(std::chrono::milliseconds(0)); }

const std::string& HttpServer::address() const { return impl_->listener.address(); }
int HttpServer::connections() const { return impl_->live.load(); }
void HttpServer::stop(std::chrono::milliseconds timeout) { impl_->stop(timeout); }

}  // namespace yard
