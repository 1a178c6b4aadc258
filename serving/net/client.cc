#include "serving/net/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "env/base/core/error.h"
#include "serving/engine/model_store.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/utf8.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAvoid{5};         // a server that failed
constexpr std::chrono::milliseconds kPause{50};   // before all are asked once more
constexpr std::chrono::milliseconds kReach{200};  // for a connection then
constexpr int kRounds = 2;
constexpr const char* kLate = "no response from the server before the deadline";

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
      : options(given),
        fallback(open_servable(given.fallback).policy),
        connections(given.to),
        avoid_until(given.to.servers.size()) {
    for (size_t i = 0; i < connections.servers().size(); ++i) {
      stubs.push_back(pb::PolicyService::NewStub(connections.channel(i)));
    }
  }

  // The servers in the order in which they are asked.
  std::vector<size_t> order() const {
    std::vector<size_t> out(stubs.size());
    std::iota(out.begin(), out.end(), size_t{0});
    const Clock::time_point now = Clock::now();
    std::ranges::stable_partition(out, [&](size_t i) { return avoid_until[i].load() <= now; });
    return out;
  }

  std::shared_ptr<Pending> start(size_t server, const pb::DecideRequest& request,
                                 Clock::time_point until) {
    const auto call = std::make_shared<Pending>(calls);
    call->request = request;
    call->context.set_deadline(std::chrono::system_clock::now() + (until - Clock::now()));
    connections.authorize(call->context);
    stubs[server]->async()->Decide(&call->context, &call->request, &call->response,
                                   [call](const grpc::Status& status) {
                                     const std::lock_guard lock(call->mutex);
                                     call->status = status;
                                     call->over = true;
                                     call->changed.notify_one();
                                   });
    return call;
  }

  // Waits a moment for a connection to a server that may be starting again.
  void reach(size_t server, Clock::time_point until) {
    const auto most = std::min<Clock::duration>(kReach, (until - Clock::now()) / 2);
    connections.channel(server)->WaitForConnected(std::chrono::system_clock::now() + most);
  }

  // Waits for the status of a call, or cancels it.
  static grpc::Status finish(Pending& call, Clock::time_point until) {
    std::unique_lock lock(call.mutex);
    const bool over = call.changed.wait_until(lock, until, [&] { return call.over; });
    lock.unlock();
    if (over) return call.status;
    call.context.TryCancel();
    return {grpc::StatusCode::DEADLINE_EXCEEDED, ""};
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
  Connections connections;
  std::vector<std::unique_ptr<pb::PolicyService::Stub>> stubs;
  std::vector<std::atomic<Clock::time_point>> avoid_until;
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
  const Clock::time_point end = Clock::now() + wait;
  const Snapshot snapshot(request);
  pb::DecideRequest sent = request;
  const auto originals = make_utf8(sent);

  std::optional<PolicyResult> own;
  const auto answer_ourselves = [&](pb::Reason reason, const std::string& detail) {
    if (!own) own = run_policy(*impl_->fallback, snapshot, request);
    return impl_->answer_ourselves(request, std::move(*own), reason, detail);
  };

  std::string detail;
  const std::vector<size_t> order = impl_->order();
  for (int round = 0; round < kRounds; ++round) {
    bool unavailable = true;  // all of them
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t server = order[i];
      const Clock::time_point now = Clock::now();
      if (now >= end) return answer_ourselves(pb::DEADLINE, kLate);
      const bool last = i + 1 == order.size();
      const Clock::time_point until = last ? end : now + (end - now) / 2;
      if (round > 0) impl_->reach(server, until);
      const auto call = impl_->start(server, sent, until);
      // The heuristic runs while the server decides.
      if (!own) own = run_policy(*impl_->fallback, snapshot, request);
      const grpc::Status status = Impl::finish(*call, until);
      if (status.ok()) {
        impl_->avoid_until[server] = Clock::time_point();
        restore_names(originals, call->response);
        const std::string refused = flaw_of_decision(request, call->response);
        if (refused.empty()) return std::move(call->response);
        return answer_ourselves(pb::INVALID_ACTION, "invalid response from the server: " + refused);
      }
      if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) {
        throw InputError(status.error_message());
      }
      const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
      const bool gone = status.error_code() == grpc::StatusCode::UNAVAILABLE;
      if (late || gone) impl_->avoid_until[server] = Clock::now() + kAvoid;
      if (late && last) return answer_ourselves(pb::DEADLINE, kLate);
      unavailable = unavailable && gone;
      detail += (detail.empty() ? "" : "; ") + impl_->connections.servers()[server] + ": " +
                (late ? kLate : status.error_message());
    }
    if (!unavailable || round + 1 == kRounds || Clock::now() + kPause >= end) break;
    detail.clear();
    std::this_thread::sleep_for(kPause);
  }
  return answer_ourselves(pb::UNAVAILABLE, detail);
}

}  // namespace yard
