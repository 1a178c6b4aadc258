// Calls of the client library that run until an answer arrives or the caller stops to wait.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "env/base/core/happens_before.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {

// The number of calls to which gRPC's threads still hold references.
using CallCount = std::shared_ptr<std::atomic<int>>;

// A call in progress. gRPC's thread may finish the call after its caller has stopped to wait.
template <class Request, class Response>
struct ClientCall {
  using Clock = std::chrono::steady_clock;
  using Ended = std::function<void(const grpc::Status& status, const Response& response)>;

  ClientCall(CallCount calls, std::shared_ptr<const Request> sent)
      : counted{std::move(calls)}, request(std::move(sent)) {
    ++*counted.calls;
  }

  // Waits for the status of the call, or cancels it at `until`.
  grpc::Status finish(Clock::time_point until) {
    std::unique_lock lock(mutex);
    const bool in_time = changed.wait_until(lock, until, [&] { return over; });
    lock.unlock();
    if (in_time) return status;
    context.TryCancel();
    return {grpc::StatusCode::DEADLINE_EXCEEDED, ""};
  }

  // Destroyed last, after the context has released the channel.
  struct CallCountGuard {
    CallCount calls;
    ~CallCountGuard() {
      --*calls;
      calls->notify_all();
    }
  } counted;

  grpc::ClientContext context;
  const std::shared_ptr<const Request> request;
  Response response;

  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  grpc::Status status;
};

// One of the methods of PolicyService that have one request and one response.
template <class Request, class Response>
using ClientMethod = void (pb::PolicyService::StubInterface::async_interface::*)(
    grpc::ClientContext*, const Request*, Response*, std::function<void(grpc::Status)>);

// Starts a call that ends at `until` at the latest. Calls `ended`, unless it is null, from a thread
// of gRPC.
template <class Request, class Response>
void start_call(pb::PolicyService::Stub& stub, ClientMethod<Request, Response> method,
                const std::shared_ptr<ClientCall<Request, Response>>& call,
                std::chrono::steady_clock::time_point until,
                typename ClientCall<Request, Response>::Ended ended = nullptr) {
  call->context.set_deadline(std::chrono::system_clock::now() +
                             (until - std::chrono::steady_clock::now()));
  happens_before(call.get());
  (static_cast<pb::PolicyService::StubInterface::async_interface*>(stub.async())->*method)(
      &call->context, call->request.get(), &call->response,
      [call, ended = std::move(ended)](const grpc::Status& status) {
        happens_after(call.get());
        if (ended) ended(status, call->response);
        const std::lock_guard lock(call->mutex);
        call->status = status;
        call->over = true;
        call->changed.notify_one();
      });
}

}  // namespace yard
