#include "serving/net/client.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "env/base/core/error.h"
#include "serving/engine/model_store.h"
#include "serving/net/listener.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/utf8.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {
namespace {

// The number of calls to which gRPC's threads still hold references.
using CallCount = std::shared_ptr<std::atomic<int>>;

// A call in progress. gRPC's thread may finish it after decide() has stopped waiting.
struct Pending {
  explicit Pending(CallCount calls) : counted{std::move(calls)} { ++*counted.calls; }

  // Destroyed last, after the context has released the channel.
  struct Counted {
    CallCount calls;
    ~Counted() {
      --*calls;
      calls->notify_all();
    }
  } counted;

  grpc::ClientContext context;
  pb::DecideRequest request;
  pb::DecideResponse response;

  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  grpc::Status status;
};

// Gives jobs and nodes of an answer the names that they had in the request.
void restore_names(const std::map<std::string, std::string>& originals,
                   pb::DecideResponse& answer) {
  if (originals.empty()) return;
  const auto restore = [&](std::string& name) {
    if (const auto found = originals.find(name); found != originals.end()) name = found->second;
  };
  restore(*answer.mutable_request_id());
  for (pb::Action& action : *answer.mutable_actions()) {
    restore(*action.mutable_job());
    for (pb::Piece& piece : *action.mutable_pieces()) restore(*piece.mutable_node());
  }
}

}  // namespace

struct Client::Impl {
  explicit Impl(const ClientOptions& given)
      : options(given), fallback(open_servable(given.fallback).policy) {
    if (!given.server.starts_with("unix:")) parse_address("--server", given.server);
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
  const CallCount calls = std::make_shared<std::atomic<int>>(0);
};

Client::Client(const ClientOptions& options) : impl_(std::make_unique<Impl>(options)) {}

// The last owner of the channel joins gRPC's threads. It must not be one of these threads.
Client::~Client() {
  for (int n = 0; (n = impl_->calls->load()) > 0;) impl_->calls->wait(n);
}

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
  const auto originals = make_utf8(call->request);
  call->context.set_deadline(std::chrono::system_clock::now() + wait);
  impl_->stub->async()->Decide(&call->context, &call->request, &call->response,
                               [call](const grpc::Status& status) {
                                 const std::lock_guard lock(call->mutex);
                                 call->status = status;
                                 call->over = true;
                                 call->changed.notify_one();
                               });
  PolicyResult own = run_policy(*impl_->fallback, snapshot, request);

  const auto answer_ourselves = [&](pb::Reason reason, const std::string& detail) {
    return impl_->answer_ourselves(request, std::move(own), reason, detail);
  };

  std::unique_lock lock(call->mutex);
  const bool over = call->changed.wait_until(lock, until, [&] { return call->over; });
  lock.unlock();
  if (!over) call->context.TryCancel();
  switch (over ? call->status.error_code() : grpc::StatusCode::DEADLINE_EXCEEDED) {
    case grpc::StatusCode::OK: {
      restore_names(originals, call->response);
      const std::string refused = flaw_of_decision(request, call->response);
      if (refused.empty()) return std::move(call->response);
      return answer_ourselves(pb::INVALID_ACTION, "invalid response from the server: " + refused);
    }
    case grpc::StatusCode::INVALID_ARGUMENT:
      throw InputError(call->status.error_message());
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return answer_ourselves(pb::DEADLINE, "no response from the server before the deadline");
    default:
      return answer_ourselves(pb::UNAVAILABLE, call->status.error_message());
  }
}

}  // namespace yard
