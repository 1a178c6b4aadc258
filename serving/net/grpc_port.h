// A gRPC server which accepts its connections without gRPC. gRPC 1.51 stops accepting for good once
// the process lacks file descriptors, and has no limit on connections.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "serving/net/certificates.h"
#include "serving/net/listener.h"

namespace yard {

struct GrpcPortOptions {
  std::string option;   // option that names the port in errors, such as "--listen"
  std::string address;  // as for Listener
  int max_connections = 1024;
  int max_message_bytes = 16 << 20;
  std::shared_ptr<const Certificates> certificates = nullptr;  // null: no TLS
};

class GrpcPort {
 public:
  // Returns when the port serves. Throws InputError if the server cannot listen on the address.
  // Requires: the service outlives the port.
  GrpcPort(const GrpcPortOptions& options, grpc::Service& service);
  ~GrpcPort();  // ends all calls immediately
  GrpcPort(const GrpcPort&) = delete;

  const std::string& address() const { return listener_.address(); }
  grpc::HealthCheckServiceInterface& health() { return *server_->GetHealthCheckService(); }

  // Accepts no more connections and gives pending calls the time `timeout` to end.
  void stop(std::chrono::milliseconds timeout);

  // Returns whether the port accepts a connection and answers a call, each within the time
  // `timeout`. Returns true as well if the process has no file descriptors left for the check.
  bool answers(std::chrono::milliseconds timeout);

  int connections();
  // Returns the number of connections closed over a limit.
  uint64_t connections_turned_away() const { return turned_away_.load(); }

 private:
  // A connection that was handed to gRPC. gRPC does not report when it closes the descriptor.
  struct Connection {
    int fd;
    uint64_t inode;
  };

  void accept_connections();
  void take(int fd);
  void forget_closed();

  const int max_connections_;
  const std::shared_ptr<grpc::ServerCredentials> credentials_;  // credentials of `server_`
  Listener listener_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  // Channel over a socket pair, which needs no further file descriptors.
  std::shared_ptr<grpc::Channel> to_itself_;
  int wake_ = -1;  // descriptor that wakes and ends the thread
  std::mutex mutex_;
  std::vector<Connection> connections_;  // connections, some of which are closed by now
  std::atomic<uint64_t> turned_away_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace yard
