#include "tests/serving/tls/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "serving/net/listener.h"

namespace yard::testing {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

Peer::Peer(const std::string& address) {
  const HostPort at = parse_address("test", address);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(at.port));
  inet_pton(AF_INET, at.host.c_str(), &to.sin_addr);
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) end();
}

Peer::~Peer() { end(); }

Peer::Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

bool Peer::send(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string Peer::read(const std::string& until, milliseconds most) const {
  std::string out;
  const auto end = Clock::now() + most;
  while (out.find(until) == std::string::npos) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    pollfd on{fd_, POLLIN, 0};
    if (left <= 0 || poll(&on, 1, static_cast<int>(left)) <= 0) break;
    char buffer[4096];
    const ssize_t n = recv(fd_, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    out.append(buffer, static_cast<size_t>(n));
  }
  return out;
}

bool Peer::is_open() const {
  char byte;
  return recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void Peer::end() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

}  // namespace yard::testing
