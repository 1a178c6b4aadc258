#include "env/base/os/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "env/base/text/text.h"

namespace yard {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A status of two lines would be two messages.
std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\n', ' ');
  return out;
}

}  // namespace

SystemdNotifier::SystemdNotifier() : socket_(environment("NOTIFY_SOCKET")) {
  const auto limit_us = parse_number<int64_t>(environment("WATCHDOG_USEC"));
  const std::string_view pid = environment("WATCHDOG_PID");
  const bool is_ours = pid.empty() || parse_number<int64_t>(pid) == int64_t{getpid()};
  if (limit_us && *limit_us > 0 && is_ours) {
    notify_alive_interval_ = std::chrono::microseconds(*limit_us / 2);
  }
}

void SystemdNotifier::notify_ready(std::string_view status) const {
  send("READY=1\nSTATUS=" + one_line(status));
}

void SystemdNotifier::notify_reloading() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();  // CLOCK_MONOTONIC
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now / std::chrono::microseconds(1)));
}

void SystemdNotifier::notify_stopping() const { send("STOPPING=1"); }

void SystemdNotifier::notify_alive() const { send("WATCHDOG=1"); }

void SystemdNotifier::send(const std::string& lines) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // an abstract socket
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  sendto(fd, lines.data(), lines.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
         length);
  close(fd);
}

}  // namespace yard
