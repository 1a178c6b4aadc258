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

class SystemdNotifier {
 public:
  // Reads $NOTIFY_SOCKET, $WATCHDOG_USEC and $WATCHDOG_PID.
  SystemdNotifier();

  // `status` is what `systemctl status` shows of the process.
  void notify_ready(std::string_view status) const;
  void notify_reloading() const;  // until notify_ready()
  void notify_stopping() const;
  void notify_alive() const;  // to be called every notify_alive_interval()

  // Half the time without notify_alive() after which the service manager takes the process for
  // hung; empty if there is no such limit.
  std::optional<std::chrono::microseconds> notify_alive_interval() const {
    return notify_alive_interval_;
  }

 private:
  void send(const std::string& lines) const;

  std::string socket_;  // empty: no service manager
  std::optional<std::chrono::microseconds> notify_alive_interval_;
};

}  // namespace yard
