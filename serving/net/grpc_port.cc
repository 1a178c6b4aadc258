#include "serving/net/grpc_port.h"

#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "env/base/core/error.h"
#include "serving/net/grpc_tls.h"

namespace yard {
namespace {

constexpr int kHandshakeMs = 5'000;  // for silent connections
constexpr int kIdleMs = 300'000;     // without a call; the client connects again
constexpr int kPingMs = 60'000;      // finds peers that vanished
constexpr int kPingTimeoutMs = 20'000;
constexpr int kMaxStreams = 256;  // calls in progress on one connection
constexpr int kMaxMetadata = 16 << 10;
constexpr size_t kQuotaBytes = size_t{512} << 20;  // of all messages in transit
constexpr std::chrono::milliseconds kPause{20};    // before accepting again without descriptors
constexpr std::chrono::milliseconds kStep{10};

uint64_t inode_of(int fd) {
  struct stat about {};
  return fstat(fd, &about) == 0 ? about.st_ino : 0;
}

void limit(grpc::ServerBuilder& builder, const GrpcPortOptions& options) {
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxStreams);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadata);
  grpc::ResourceQuota quota("yardmaster");
  quota.Resize(kQuotaBytes);
  builder.SetResourceQuota(quota);
}

}  // namespace

GrpcPort::GrpcPort(const GrpcPortOptions& options, grpc::Service& service)
    : max_connections_(options.max_connections),
      credentials_(options.certificates == nullptr ? grpc::InsecureServerCredentials()
                                                   : grpc_credentials(options.certificates)),
      listener_(options.option, options.address) {
  grpc::ServerBuilder builder;
  limit(builder, options);
  using Builder = grpc::ServerBuilder::experimental_type;
  acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
      Builder::ExternalConnectionType::FROM_FD, credentials_);
  builder.RegisterService(&service);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) throw RunError(options.option + ": gRPC does not start");

  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    throw RunError(options.option + ": no descriptor left");
  }
  grpc::AddInsecureChannelFromFd(server_.get(), ends[0]);
  to_itself_ = grpc::CreateInsecureChannelFromFd("self", ends[1]);

  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_ < 0) throw RunError(options.option + ": no descriptor left");
  thread_ = std::thread([this] { accept_connections(); });
}

GrpcPort::~GrpcPort() {
  stop(std::chrono::milliseconds(0));
  if (wake_ >= 0) close(wake_);
}

void GrpcPort::stop(std::chrono::milliseconds timeout) {
  if (thread_.joinable()) {
    ending_ = true;
    eventfd_write(wake_, 1);
    thread_.join();
    // Callers find the port closed, instead of waiting for an answer to their handshake.
    shutdown(listener_.fd(), SHUT_RDWR);
  }
  to_itself_.reset();
  server_->Shutdown(std::chrono::system_clock::now() + timeout);
  server_->Wait();
}

void GrpcPort::accept_connections() {
  pollfd on[] = {{listener_.fd(), POLLIN, 0}, {wake_, POLLIN, 0}};
  while (!ending_) {
    poll(on, 2, -1);
    const uint64_t lacking = listener_.closed_for_lack_of_descriptors();
    for (int fd; !ending_ && (fd = listener_.accept()) >= 0;) take(fd);
    const uint64_t more = listener_.closed_for_lack_of_descriptors() - lacking;
    if (more == 0) continue;
    turned_away_ += more;
    std::this_thread::sleep_for(kPause);
  }
}

void GrpcPort::take(int fd) {
  const std::lock_guard lock(mutex_);
  if (static_cast<int>(connections_.size()) >= max_connections_) forget_closed();
  if (static_cast<int>(connections_.size()) >= max_connections_) {
    ++turned_away_;
    close(fd);
    return;
  }
  connections_.push_back({fd, inode_of(fd)});
  grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters handed;
  handed.listener_fd = -1;
  handed.fd = fd;
  acceptor_->HandleNewConnection(&handed);
}

// A descriptor whose number now stands for another file, or none, was closed.
void GrpcPort::forget_closed() {
  std::erase_if(connections_, [](const Connection& one) { return inode_of(one.fd) != one.inode; });
  // A number may stand for two: the later connection is the one that is open.
  std::ranges::stable_sort(connections_, {}, &Connection::fd);
  const auto twice = std::ranges::unique(connections_, {}, &Connection::fd);
  connections_.erase(twice.begin(), twice.end());
}

int GrpcPort::connections() {
  const std::lock_guard lock(mutex_);
  forget_closed();
  return static_cast<int>(connections_.size());
}

bool GrpcPort::answers(std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const uint64_t before = listener_.connections_seen();
  const bool knocked = listener_.attempt_connection();
  for (const auto until = Clock::now() + timeout;
       knocked && listener_.connections_seen() == before;) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(kStep);
  }
  grpc::GenericStub stub(to_itself_);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  const grpc::Slice nothing;
  const grpc::ByteBuffer request(&nothing, 1);
  auto call = stub.PrepareUnaryCall(&context, "/grpc.health.v1.Health/Check", request, &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  call->Finish(&answer, &status, nullptr);
  queue.Next(&tag, &ok);
  return ok && status.ok();
}

}  // namespace yard
