#include "serving/net/listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

constexpr int kBacklog = 1024;
constexpr std::string_view kUnix = "unix:";

std::string words_of(int error) { return std::generic_category().message(error); }

int open_spare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// The host without the brackets of an IPv6 address.
std::string bare(const std::string& host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']'
             ? host.substr(1, host.size() - 2)
             : host;
}

bool is_loopback(const sockaddr& at) {
  if (at.sa_family == AF_INET6) {
    return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(at).sin6_addr) != 0;
  }
  constexpr uint32_t kLoopbackNet = 127;
  return at.sa_family == AF_INET &&
         ntohl(reinterpret_cast<const sockaddr_in&>(at).sin_addr.s_addr) >> 24 == kLoopbackNet;
}

// A Unix socket at which no process listens is left over from one that was killed.
bool is_abandoned(const sockaddr_un& at) {
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool answered = connect(probe, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  const bool refused = !answered && errno == ECONNREFUSED;
  close(probe);
  return refused;
}

}  // namespace

HostPort parse_address(const std::string& option, const std::string& text) {
  const size_t colon = text.rfind(':');
  const bool has_host = colon != std::string::npos && colon > 0;
  const size_t digits = colon == std::string::npos ? 0 : colon + 1;
  const auto port = parse_int(std::string_view(text).substr(digits));
  if (!port || *port < 0 || *port > 65535) {
    throw InputError(option, "HOST:PORT", "'" + text + "'");
  }
  return {has_host ? text.substr(0, colon) : "127.0.0.1", static_cast<int>(*port)};
}

bool is_unix_socket(const std::string& address) { return address.starts_with(kUnix); }

bool is_local(const std::string& option, const std::string& address) {
  if (is_unix_socket(address)) return true;
  const HostPort at = parse_address(option, address);
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(bare(at.host).c_str(), nullptr, &hints, &found) != 0) return false;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    if (!is_loopback(*one->ai_addr)) return false;
  }
  return true;
}

int raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised = {limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

Listener::Listener(std::string option, const std::string& address)
    : option_(std::move(option)), address_(address), spare_(open_spare()) {
  if (is_unix_socket(address)) {
    listen_on_path(address.substr(kUnix.size()));
  } else {
    listen_on_host(parse_address(option_, address));
  }
}

Listener::~Listener() {
  close_descriptors();
  if (!path_.empty()) unlink(path_.c_str());
}

void Listener::close_descriptors() {
  if (fd_ >= 0) close(fd_);
  if (spare_ >= 0) close(spare_);
}

// Called by the constructor, after which there is no destructor.
void Listener::fail(const std::string& why) {
  close_descriptors();
  throw InputError(option_, "a free address and port", "'" + address_ + "' (" + why + ")");
}

void Listener::listen_on_path(const std::string& path) {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof at.sun_path) {
    fail("a path of 1 to " + std::to_string(sizeof at.sun_path - 1) + " bytes is needed");
  }
  path.copy(at.sun_path, path.size());
  struct stat about {};
  if (lstat(path.c_str(), &about) == 0) {
    if (!S_ISSOCK(about.st_mode)) fail("a file that is no socket");
    if (!is_abandoned(at)) fail("in use");
    unlink(path.c_str());
  }
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ < 0 || bind(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      listen(fd_, kBacklog) != 0) {
    fail(words_of(errno));
  }
  path_ = path;
}

void Listener::listen_on_host(const HostPort& at) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string host = bare(at.host);
  const int error = getaddrinfo(host.c_str(), std::to_string(at.port).c_str(), &hints, &found);
  if (error != 0) fail(gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, &freeaddrinfo);
  int last = 0;
  for (const addrinfo* one = found; one != nullptr && fd_ < 0; one = one->ai_next) {
    fd_ = socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd_ < 0) {
      last = errno;
      continue;
    }
    // A port which a server has just left can be taken again. Without SO_REUSEPORT two servers
    // cannot share one unnoticed.
    const int yes = 1;
    setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd_, one->ai_addr, one->ai_addrlen) != 0 || listen(fd_, kBacklog) != 0) {
      last = errno;
      close(fd_);
      fd_ = -1;
    }
  }
  if (fd_ < 0) fail(words_of(last));
  sockaddr_storage mine{};
  socklen_t size = sizeof mine;
  getsockname(fd_, reinterpret_cast<sockaddr*>(&mine), &size);
  const in_port_t port = mine.ss_family == AF_INET6
                             ? reinterpret_cast<const sockaddr_in6&>(mine).sin6_port
                             : reinterpret_cast<const sockaddr_in&>(mine).sin_port;
  address_ = at.host + ":" + std::to_string(ntohs(port));
}

int Listener::accept() {
  for (;;) {
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      ++seen_;
      if (path_.empty()) {  // an answer must not wait for the confirmation of the one before
        const int yes = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      }
      return fd;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EMFILE && errno != ENFILE) return -1;
    ++seen_;
    ++lacking_;
    if (spare_ >= 0) close(spare_);
    const int unwanted = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (unwanted >= 0) close(unwanted);
    spare_ = open_spare();
    if (unwanted < 0) return -1;
  }
}

bool Listener::attempt_connection() const {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size) != 0) return false;
  const int fd = socket(at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  // To an address that stands for all, the system connects by loopback.
  connect(fd, reinterpret_cast<const sockaddr*>(&at), size);
  close(fd);
  return true;
}

}  // namespace yard
