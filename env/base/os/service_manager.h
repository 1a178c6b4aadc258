// Tells the service manager which started this process how the process is doing: systemd's protocol
// of sd_notify(3), datagrams to the socket that $NOTIFY_SOCKET names. The protocol is stable and
// small, so that a program need not load libsystemd for it. Without a service manager nothing
// happens.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace yard {

class ServiceManager {
 public:
  // Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID.
  ServiceManager();

  // `status` is what `systemctl status` shows of the process.
  void ready(std::string_view status) const;
  void reloading() const;  // until ready()
  void stopping() const;
  void alive() const;  // to be called every alive_interval()

  // Half the time without alive() after which the process counts as hung; absent: any.
  std::optional<std::chrono::microseconds> alive_interval() const { return alive_interval_; }

 private:
  void send(const std::string& lines) const;

  std::string socket_;  // empty: no service manager
  std::optional<std::chrono::microseconds> alive_interval_;
};

}  // namespace yard
