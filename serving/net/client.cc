#include "serving/net/client.h"

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <mutex>

#include "env/base/core/error.h"
#include "serving/engine/model_store.h"
#include "serving/net/http_server.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/run_policy.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {
namespace {

// Counts the calls to which gRPC's threads still hold references.
class PendingCalls {
 public:
  void enter() {
    const std::lock_guard lock(mutex_);
    ++calls_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--calls_ == 0) none_.notify_all();
  }
  void wait_for_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [&] { return calls_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int calls_ = 0;
};

// A call in progress. gRPC's thread may finish it after decide() has stopped waiting.
struct Pending {
  explicit Pending(std::shared_ptr<PendingCalls> calls) : pending(std::move(calls)) {
    pending.calls->enter();
  }

  // Destroyed last, after the context has released the channel.
  struct Leaves {
    explicit Leaves(std::shared_ptr<PendingCalls> all) : calls(std::move(all)) {}
    ~Leaves() { calls->leave(); }
    const std::shared_ptr<PendingCalls> calls;
  } pending;

  grpc::ClientContext context;
  pb::DecideRequest request;
  pb::DecideResponse response;

  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  grpc::Status status;
};

}  // namespace

struct Client::Impl {
  explicit Impl(const ClientOptions& given)
      : options(given), fallback(open_servable(given.fallback).policy) {
    parse_address("--server", given.server);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    // Reconnect soon after a server restart.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    stub = pb::PolicyService::NewStub(
        grpc::CreateCustomChannel(given.server, grpc::InsecureChannelCredentials(), arguments));
  }

  pb::DecideResponse answer_ourselves(const pb::DecideRequest& request, PolicyResult&& own,
                                      pb::Reason reason, const std::string& detail) const {
    pb::DecideResponse out = std::move(own.response);
    out.set_request_id(request.request_id());
    out.set_source(pb::CLIENT_HEURISTIC);
    out.set_reason(reason);
    out.set_detail(detail);
    out.set_model(request.model());
    out.set_decided_by(options.fallback);
    if (own.reason != pb::NONE) {
      // An empty plan is the only decision which is always legal.
      out.clear_actions();
      out.clear_wake_after_s();
      out.clear_decided_by();
      out.set_detail(detail + "; the heuristic failed: " + own.detail);
    }
    out.mutable_timings()->set_heuristic_ms(own.elapsed_ms);
    return out;
  }

  const ClientOptions options;
  const std::unique_ptr<const Policy> fallback;
  std::unique_ptr<pb::PolicyService::Stub> stub;
  const std::shared_ptr<PendingCalls> calls = std::make_shared<PendingCalls>();
};

Client::Client(const ClientOptions& options) : impl_(std::make_unique<Impl>(options)) {}

// The last owner of the channel joins gRPC's threads. It must not be one of these threads.
Client::~Client() { impl_->calls->wait_for_none(); }

pb::DecideResponse Client::decide(const pb::DecideRequest& request,
                                  std::chrono::milliseconds deadline) {
  // Reserve the end of the deadline for returning the local answer.
  const std::chrono::microseconds all = deadline;
  const auto wait =
      all - std::min<std::chrono::microseconds>(std::chrono::milliseconds(1), all / 10);
  const auto until = std::chrono::steady_clock::now() + wait;
  const Snapshot snapshot(request);

  const auto call = std::make_shared<Pending>(impl_->calls);
  call->request = request;
  call->context.set_deadline(std::chrono::system_clock::now() + wait);
  impl_->stub->async()->Decide(&call->context, &call->request, &call->response,
                               [call](const grpc::Status& status) {
                                 const std::lock_guard lock(call->mutex);
                                 call->status = status;
                                 call->over = true;
                                 call->changed.notify_one();
                               });
  PolicyResult own = run_policy(*impl_->fallback, snapshot, request);

  std::unique_lock lock(call->mutex);
  if (!call->changed.wait_until(lock, until, [&] { return call->over; })) {
    lock.unlock();
    call->context.TryCancel();
    return impl_->answer_ourselves(request, std::move(own), pb::DEADLINE,
                                   "no response from the server before the deadline");
  }
  switch (call->status.error_code()) {
    case grpc::StatusCode::OK: {
      const std::string refused = why_illegal(request, call->response);
      if (refused.empty()) return std::move(call->response);
      return impl_->answer_ourselves(request, std::move(own), pb::INVALID_ACTION,
                                     "invalid response from the server: " + refused);
    }
    case grpc::StatusCode::INVALID_ARGUMENT:
      throw InputError(call->status.error_message());
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return impl_->answer_ourselves(request, std::move(own), pb::DEADLINE,
                                     "no response from the server before the deadline");
    default:
      return impl_->answer_ourselves(request, std::move(own), pb::UNAVAILABLE,
                                     call->status.error_message());
  }
}

}  // namespace yard
