// A listening socket which goes on accepting after the process has run out of file descriptors.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace yard {

struct HostPort {
  std::string host;
  int port = 0;
};

// Parses HOST:PORT, :PORT or PORT; without a host, the host is 127.0.0.1. Throws InputError, which
// names `option`, for other text.
HostPort parse_address(const std::string& option, const std::string& text);

bool is_unix_socket(const std::string& address);

// Returns whether only this machine reaches the address: a Unix socket, or a host with loopback
// addresses only. Returns false for an unknown host. Throws InputError for text that is no address.
bool is_local(const std::string& option, const std::string& address);

// Raises the number of file descriptors which the process may open to the system's maximum. Returns
// the maximum.
int raise_descriptor_limit();

class Listener {
 public:
  // `address`: HOST:PORT, [IPV6]:PORT, PORT on loopback, or unix:PATH; port 0 means any free port.
  // Throws InputError, which names `option`, if the process cannot listen on the address.
  Listener(std::string option, const std::string& address);
  ~Listener();  // closes the socket and removes the file of a Unix socket
  Listener(const Listener&) = delete;

  int fd() const { return fd_; }  // socket, readable while a connection waits
  const std::string& address() const { return address_; }  // address with the port in use

  // Returns the descriptor of the next connection, or -1 if none is pending. Never blocks. If the
  // process has no descriptor left, pending connections are closed instead of left to wait.
  int accept();
  // Returns the number of connections that accept() returned or closed.
  uint64_t connections_seen() const { return seen_.load(); }
  uint64_t closed_for_lack_of_descriptors() const { return lacking_.load(); }

  // Connects to the listener from the same process and closes the connection. Returns false if the
  // process has no descriptor left for the test.
  bool attempt_connection() const;

 private:
  void listen_on_path(const std::string& path);
  void listen_on_host(const HostPort& at);
  void close_descriptors();
  [[noreturn]] void fail(const std::string& why);

  const std::string option_;
  std::string address_;
  std::string path_;  // path of a Unix socket
  int fd_ = -1;
  int spare_ = -1;  // descriptor kept for accepting and closing a connection when no other is left
  std::atomic<uint64_t> seen_ = 0, lacking_ = 0;
};

}  // namespace yard
