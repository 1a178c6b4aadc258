// A gRPC server whose connections we accept ourselves: gRPC 1.51 stops accepting for good once the
// process lacks descriptors, and has no limit on connections.
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
  std::string option;   // names the port in errors: "--listen"
  std::string address;  // as for Listener
  int max_connections = 1024;
  int max_message_bytes = 16 << 20;
  std::shared_ptr<const Certificates> certificates = nullptr;  // null: no TLS
};

class GrpcPort {
 public:
  // Serves when it returns. Throws InputError if the address cannot be listened on.
  // Requires: the service outlives this.
  GrpcPort(const GrpcPortOptions& options, grpc::Service& service);
  ~GrpcPort();  // ends all calls at once
  GrpcPort(const GrpcPort&) = delete;

  const std::string& address() const { return listener_.address(); }
  grpc::HealthCheckServiceInterface& health() { return *server_->GetHealthCheckService(); }

  // Accepts no more connections; pending calls have `most` to end.
  void stop(std::chrono::milliseconds most);

  // Whether the port accepts a connection and answers a call within `most` each. True as well if
  // the process lacks the descriptors to find out.
  bool answers(std::chrono::milliseconds most);

  int connections();
  uint64_t turned_away() const { return turned_away_.load(); }  // above the limit, or no descriptor

 private:
  // A connection that was handed to gRPC, which closes its descriptor without a word.
  struct Connection {
    int fd;
    uint64_t inode;
  };

  void accept_connections();
  void take(int fd);
  void forget_closed();

  const int max_connections_;
  const std::shared_ptr<grpc::ServerCredentials> credentials_;  // which the server calls
  Listener listener_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel>
      to_itself_;  // over a socket pair, so without descriptors of its own
  int wake_ = -1;  // ends the accepting thread
  std::mutex mutex_;
  std::vector<Connection> connections_;  // with some that have been closed since
  std::atomic<uint64_t> turned_away_ = 0;
  std::atomic<bool> ending_ = false;
  std::thread thread_;
};

}  // namespace yard
