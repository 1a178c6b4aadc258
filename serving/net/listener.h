// A listening socket which outlives a lack of file descriptors.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace yard {

struct HostPort {
  std::string host;
  int port = 0;
};

// Parses HOST:PORT; without a host, :PORT or PORT, it is 127.0.0.1. Throws InputError naming
// `option`.
HostPort parse_address(const std::string& option, const std::string& text);

bool is_unix_socket(const std::string& address);

// Whether only this machine reaches the address: a Unix socket, or a host of which every address is
// loopback. Throws InputError naming `option` if it is no address. False for an unknown host.
bool is_local(const std::string& option, const std::string& address);

// Raises the number of descriptors which the process may open to the system's maximum, and returns
// it.
int raise_descriptor_limit();

class Listener {
 public:
  // `address`: HOST:PORT, where port 0 is a free one, [IPV6]:PORT, PORT on loopback, or unix:PATH.
  // Throws InputError naming `option` if it cannot be listened on.
  Listener(std::string option, const std::string& address);
  ~Listener();  // removes the file of a Unix socket
  Listener(const Listener&) = delete;

  int fd() const { return fd_; }                           // readable while a connection is pending
  const std::string& address() const { return address_; }  // with the port in use

  // Returns the descriptor of the next connection, or -1 if none is pending. Never blocks. If the
  // process has no descriptor left, connections are closed at once instead of left to wait.
  int accept();
  // Connections that accept() returned or closed.
  uint64_t seen() const { return seen_.load(); }
  uint64_t closed_for_lack_of_descriptors() const { return lacking_.load(); }

  // Connects to this listener from the same process and closes the connection. Returns false if the
  // process has no descriptor left, which says nothing about the listener.
  bool knock() const;

 private:
  void listen_on_path(const std::string& path);
  void listen_on_host(const HostPort& at);
  void close_all();
  [[noreturn]] void fail(const std::string& why);

  const std::string option_;
  std::string address_;
  std::string path_;  // of a Unix socket
  int fd_ = -1;
  int spare_ = -1;  // given up for a moment, to close a connection that finds no descriptor
  std::atomic<uint64_t> seen_ = 0, lacking_ = 0;
};

}  // namespace yard
