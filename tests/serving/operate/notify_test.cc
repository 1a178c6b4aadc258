// Checks what the server tells a service manager, on a real datagram socket as systemd's.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tests/serving/child.h"
#include "tests/serving/requests.h"
#include "tests/serving/tls/peer.h"

namespace yard::testing {
namespace {

using std::chrono::milliseconds;

// The end of a service manager. A name that begins with '@' is an abstract one.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name.starts_with('@')) address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), length), 0);
  }
  ~NotifySocket() { close(fd_); }
  NotifySocket(const NotifySocket&) = delete;

  // The next message; nothing if none comes in time.
  std::optional<std::string> next(milliseconds most = milliseconds(20'000)) const {
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(most.count())) != 1) return std::nullopt;
    std::string out(4096, 0);
    out.resize(static_cast<size_t>(recv(fd_, out.data(), out.size(), 0)));
    return out;
  }

  // The next message that begins so; an empty one if none comes in time.
  std::string next_with(const std::string& begin) const {
    while (const auto message = next()) {
      if (message->starts_with(begin)) return *message;
    }
    return "";
  }

 private:
  const int fd_;
};

class Notify : public ::testing::Test {
 protected:
  Child serve(const std::string& socket, const std::string& watchdog_us = "",
              const std::string& watchdog_pid = "") const {
    return {temp_.path(),
            {"serve", "--policy", "las", "--listen", "127.0.0.1:0", "--grace", "0", "--json"},
            [=] {
              setenv("NOTIFY_SOCKET", socket.c_str(), 1);
              if (!watchdog_us.empty()) setenv("WATCHDOG_USEC", watchdog_us.c_str(), 1);
              if (!watchdog_pid.empty()) setenv("WATCHDOG_PID", watchdog_pid.c_str(), 1);
            }};
  }
  std::string path() const { return (temp_.path() / "notify").string(); }

  TempFolder temp_;
};

TEST_F(Notify, TellsOfReadinessReloadsAndTheEnd) {
  const NotifySocket manager(path());
  Child server = serve(path());
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=model las: serving");
  // By then the port listens: the connection is not refused.
  const Peer caller(server.addresses().at("grpc"));
  server.signal(SIGHUP);
  const std::string reloading = manager.next_with("RELOADING=1\nMONOTONIC_USEC=");
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const double at_s = std::stod(reloading.substr(reloading.rfind('=') + 1)) * 1e-6;
  EXPECT_NEAR(at_s, static_cast<double>(now.tv_sec), 20);
  EXPECT_EQ(manager.next(), "READY=1\nSTATUS=model las: serving");
  server.signal(SIGTERM);
  EXPECT_EQ(manager.next(), "STOPPING=1");
  EXPECT_EQ(server.wait(), 0) << server.err();
  EXPECT_FALSE(manager.next(milliseconds(0)));
}

TEST_F(Notify, ShowsSignsOfLifeAtHalfTheWatchdogsTime) {
  const std::string abstract = "@yardmaster-test-" + std::to_string(getpid());
  const NotifySocket manager(abstract);
  Child server = serve(abstract, "1000000");
  manager.next_with("READY=1");
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(manager.next(), "WATCHDOG=1");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(1'400));
  // A server that stands still gives none.
  server.signal(SIGSTOP);
  while (manager.next(milliseconds(0))) {
  }
  EXPECT_FALSE(manager.next(milliseconds(1'200)));
  server.signal(SIGCONT);
  EXPECT_EQ(manager.next(), "WATCHDOG=1");
}

TEST_F(Notify, LeavesTheWatchdogOfAnotherProcessAlone) {
  const NotifySocket manager(path());
  Child server = serve(path(), "100000", "1");
  manager.next_with("READY=1");
  EXPECT_FALSE(manager.next(milliseconds(500)));
}

}  // namespace
}  // namespace yard::testing
