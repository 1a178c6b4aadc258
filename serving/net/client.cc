#include "serving/net/client.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "serving/engine/model_store.h"
#include "serving/engine/state_store.h"
#include "serving/net/client_calls.h"
#include "serving/net/outcome_queue.h"
#include "serving/snapshot/delta.h"
#include "serving/snapshot/guard.h"
#include "serving/snapshot/run_policy.h"
#include "serving/snapshot/utf8.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;
using Request = std::shared_ptr<const pb::DecideRequest>;

constexpr std::chrono::seconds kAvoid{5};         // a server that failed
constexpr std::chrono::milliseconds kPause{50};   // before all are asked once more
constexpr std::chrono::milliseconds kReach{200};  // for a connection then
constexpr int kRounds = 2;
constexpr const char* kLate = "no response from the server before the deadline";
constexpr std::chrono::seconds kReportTime{5};   // for one call with outcomes
constexpr std::chrono::seconds kReportPause{1};  // after such a call has failed
// Bounds of the states which each server has confirmed.
constexpr size_t kMaxStates = 64, kMaxStateBytes = size_t{256} << 20;

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

// Versions of states rise, and differ from those of other clients of a cluster, which begin at
// another microsecond.
uint64_t first_version() {
  return static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                               std::chrono::microseconds(1));
}

}  // namespace

struct Client::Impl {
  using Manager = std::shared_ptr<const pb::RegisterRequest>;
  struct Registered {
    Manager manager;
    uint64_t epoch = 0;
  };

  // What the client knows of one server.
  struct Server {
    explicit Server(std::unique_ptr<pb::PolicyService::Stub> to) : stub(std::move(to)) {}

    const std::unique_ptr<pb::PolicyService::Stub> stub;
    std::atomic<Clock::time_point> avoid_until = Clock::time_point();
    StateStore confirmed{kMaxStates, kMaxStateBytes};  // the last state of each cluster
    std::mutex mutex;
    std::map<std::string, Registered> registered;  // by cluster
  };

  explicit Impl(const ClientOptions& given)
      : options(given),
        fallback(open_servable(given.fallback).policy),
        connections(given.to),
        version(first_version()),
        outcomes(given.max_outcomes) {
    for (size_t i = 0; i < connections.servers().size(); ++i) {
      servers.push_back(
          std::make_unique<Server>(pb::PolicyService::NewStub(connections.channel(i))));
    }
  }

  // The servers in the order in which they are asked.
  std::vector<size_t> order() const {
    std::vector<size_t> out(servers.size());
    std::iota(out.begin(), out.end(), size_t{0});
    const Clock::time_point now = Clock::now();
    std::ranges::stable_partition(out,
                                  [&](size_t i) { return servers[i]->avoid_until.load() <= now; });
    return out;
  }

  // Avoids a server for a while if it is gone or silent.
  void note_failure(Server& server, grpc::StatusCode code) {
    if (code == grpc::StatusCode::DEADLINE_EXCEEDED || code == grpc::StatusCode::UNAVAILABLE) {
      server.avoid_until = Clock::now() + kAvoid;
    }
  }

  template <class Sent, class Received>
  std::shared_ptr<ClientCall<Sent, Received>> call(
      Server& server, ClientMethod<Sent, Received> method, std::shared_ptr<const Sent> message,
      Clock::time_point until, typename ClientCall<Sent, Received>::Ended ended = nullptr) {
    auto out = std::make_shared<ClientCall<Sent, Received>>(calls, std::move(message));
    connections.add_token(out->context);
    start_call(*server.stub, method, out, until, std::move(ended));
    return out;
  }

  // Waits a moment for a connection to a server that may be starting again.
  void reach(size_t server, Clock::time_point until) {
    const auto most = std::min<Clock::duration>(kReach, (until - Clock::now()) / 2);
    connections.channel(server)->WaitForConnected(std::chrono::system_clock::now() + most);
  }

  // Returns the registration of the cluster's manager; null: it has not been set.
  Manager manager_of(const std::string& cluster) {
    const std::lock_guard lock(mutex);
    const auto found = managers.find(cluster);
    return found == managers.end() ? nullptr : found->second;
  }

  // Registers the manager with a server, unless the server knows it, and sets `epoch`.
  grpc::Status register_manager(size_t index, const Manager& manager, Clock::time_point until,
                                uint64_t& epoch) {
    Server& server = *servers[index];
    {
      const std::lock_guard lock(server.mutex);
      const auto found = server.registered.find(manager->cluster());
      if (found != server.registered.end() && found->second.manager == manager) {
        epoch = found->second.epoch;
        return grpc::Status::OK;
      }
    }
    const auto made = call<pb::RegisterRequest, pb::RegisterResponse>(
        server, &pb::PolicyService::StubInterface::async_interface::Register, manager, until);
    const grpc::Status status = made->finish(until);
    if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) {
      throw Deposed(connections.servers()[index] + ": " + status.error_message());
    }
    if (!status.ok()) return status;
    {
      const std::lock_guard lock(server.mutex);
      Registered& known = server.registered[manager->cluster()];
      if (known.manager != manager) known = {manager, 0};
      // Another thread may have registered later.
      epoch = known.epoch = std::max(known.epoch, made->response.epoch());
    }
    if (options.on_registered) options.on_registered(connections.servers()[index], made->response);
    return grpc::Status::OK;
  }

  static void forget_epoch(Server& server, const std::string& cluster, uint64_t epoch) {
    const std::lock_guard lock(server.mutex);
    const auto found = server.registered.find(cluster);
    if (found != server.registered.end() && found->second.epoch == epoch) {
      server.registered.erase(found);
    }
  }

  // Asks one server, with what changed since the state that the server has confirmed if that is
  // less to send. If the server lacks the state or the registration, sends these again. Calls
  // `meanwhile` while the server decides.
  template <class Meanwhile>
  grpc::Status ask(size_t index, const Request& whole, bool versioned, Clock::time_point until,
                   Meanwhile meanwhile, pb::DecideResponse& answer) {
    Server& server = *servers[index];
    const std::string& cluster = whole->cluster();
    const Manager manager = manager_of(cluster);
    const StateStore::State base = versioned ? server.confirmed.find(cluster) : nullptr;
    std::optional<pb::DecideRequest> delta;
    if (base != nullptr) delta = delta_between(*base, *whole);
    if (delta && delta->ByteSizeLong() >= whole->ByteSizeLong()) delta.reset();
    StateStore::State after = whole;
    grpc::Status status;
    bool registers_again = manager != nullptr;
    for (;;) {
      uint64_t epoch = 0;
      if (manager != nullptr) {
        status = register_manager(index, manager, until, epoch);
        if (!status.ok()) break;
      }
      Request message = whole;
      if (delta || manager != nullptr) {
        auto own = std::make_shared<pb::DecideRequest>(delta ? *delta : *whole);
        if (manager != nullptr) own->set_epoch(epoch);
        message = std::move(own);
      }
      ++(delta ? deltas : snapshots);
      bytes += message->ByteSizeLong();
      const auto made = call<pb::DecideRequest, pb::DecideResponse>(
          server, &pb::PolicyService::StubInterface::async_interface::Decide, message, until);
      meanwhile();
      after = delta ? apply_delta(*base, *delta) : whole;
      status = made->finish(until);
      if (registers_again && status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) {
        registers_again = false;
        forget_epoch(server, cluster, epoch);
        continue;
      }
      if (status.ok()) answer = std::move(made->response);
      const bool lacks_base = status.ok() && delta && answer.reason() == pb::STALE_STATE;
      if (!lacks_base) break;
      ++resyncs;
      delta.reset();
    }
    if (!versioned) return status;
    const bool confirms = status.ok() && answer.state_version() == whole->state_version();
    if (confirms) {
      server.confirmed.keep({after, std::make_shared<StateHistory>(after)}, "");
    } else {
      server.confirmed.forget(cluster);
    }
    return status;
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

  // Starts to send queued outcomes, unless that is in progress or has just failed. Requires: the
  // lock of the outcomes.
  void begin_sending() {
    if (ending || Clock::now() < report_again_at) return;
    auto batch = outcomes.begin_batch();
    if (!batch) return;
    const std::vector<size_t> servers_now = order();
    // A server that has just failed comes last in the order, unless all have.
    const bool again = servers_now.size() > 1 && servers_now[0] == last_failed;
    const size_t index = servers_now[again ? 1 : 0];
    sending = call<pb::ReportOutcomeRequest, pb::ReportOutcomeResponse>(
        *servers[index], &pb::PolicyService::StubInterface::async_interface::ReportOutcome,
        std::make_shared<const pb::ReportOutcomeRequest>(std::move(*batch)),
        Clock::now() + kReportTime,
        [this, index](const grpc::Status& status, const pb::ReportOutcomeResponse& answer) {
          on_sent(index, status, answer);
        });
  }

  void on_sent(size_t server, const grpc::Status& status, const pb::ReportOutcomeResponse& answer) {
    const std::lock_guard lock(outcomes_mutex);
    outcomes.end_batch(status.ok());
    if (status.ok()) {
      accepted += answer.accepted();
      refused += static_cast<uint64_t>(answer.quarantined_size());
      last_failed.reset();
    } else {
      note_failure(*servers[server], status.error_code());
      last_failed = server;
      report_again_at = Clock::now() + kReportPause;
    }
    outcomes_changed.notify_all();
  }

  const ClientOptions options;
  const std::unique_ptr<const Policy> fallback;
  Connections connections;
  std::vector<std::unique_ptr<Server>> servers;
  std::atomic<uint64_t> version;  // of the last state that was sent
  std::atomic<uint64_t> snapshots = 0, deltas = 0, resyncs = 0, bytes = 0;
  const CallCount calls = std::make_shared<std::atomic<int>>(0);

  std::mutex mutex;
  std::map<std::string, Manager> managers;  // by cluster

  std::mutex outcomes_mutex;  // guards all that follows
  std::condition_variable outcomes_changed;
  OutcomeQueue outcomes;
  std::weak_ptr<ClientCall<pb::ReportOutcomeRequest, pb::ReportOutcomeResponse>> sending;
  uint64_t accepted = 0, refused = 0;
  std::optional<size_t> last_failed;  // server of the last report, if that failed
  Clock::time_point report_again_at;
  bool ending = false;
};

Client::Client(const ClientOptions& options) : impl_(std::make_unique<Impl>(options)) {}

// The last owner of the channel joins gRPC's threads. It must not be one of these threads.
Client::~Client() {
  {
    const std::lock_guard lock(impl_->outcomes_mutex);
    impl_->ending = true;
  }
  if (const auto sending = impl_->sending.lock()) sending->context.TryCancel();
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
  const auto sent = std::make_shared<pb::DecideRequest>(request);
  const auto originals = make_utf8(*sent);
  const bool versioned = impl_->options.deltas && !request.cluster().empty() &&
                         request.request_id().empty() && !request.has_state_version();
  if (versioned) sent->set_state_version(++impl_->version);

  std::optional<PolicyResult> own;
  // The heuristic runs while the server decides.
  const auto decide_ourselves = [&] {
    if (!own) own = run_policy(*impl_->fallback, snapshot, request);
  };
  const auto answer_ourselves = [&](pb::Reason reason, const std::string& detail) {
    decide_ourselves();
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
      pb::DecideResponse answer;
      const grpc::Status status =
          impl_->ask(server, sent, versioned, until, decide_ourselves, answer);
      if (status.ok()) {
        impl_->servers[server]->avoid_until = Clock::time_point();
        restore_names(originals, answer);
        const std::string refused = flaw_of_decision(request, answer, {}, snapshot.quarantine());
        if (refused.empty()) return answer;
        return answer_ourselves(pb::INVALID_ACTION, "invalid response from the server: " + refused);
      }
      if (status.error_code() == grpc::StatusCode::INVALID_ARGUMENT) {
        throw InputError(status.error_message());
      }
      impl_->note_failure(*impl_->servers[server], status.error_code());
      const bool late = status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED;
      if (late && last) return answer_ourselves(pb::DEADLINE, kLate);
      unavailable = unavailable && status.error_code() == grpc::StatusCode::UNAVAILABLE;
      detail += (detail.empty() ? "" : "; ") + impl_->connections.servers()[server] + ": " +
                (late ? kLate : status.error_message());
    }
    if (!unavailable || round + 1 == kRounds || Clock::now() + kPause >= end) break;
    detail.clear();
    std::this_thread::sleep_for(kPause);
  }
  return answer_ourselves(pb::UNAVAILABLE, detail);
}

void Client::set_manager(pb::RegisterRequest manager) {
  make_utf8(manager);
  const std::lock_guard lock(impl_->mutex);
  auto& known = impl_->managers[manager.cluster()];
  if (known != nullptr && known->SerializeAsString() == manager.SerializeAsString()) return;
  known = std::make_shared<const pb::RegisterRequest>(std::move(manager));
}

void Client::report(const std::string& cluster, pb::Outcome outcome) {
  make_utf8(outcome);
  const std::lock_guard lock(impl_->outcomes_mutex);
  impl_->outcomes.add(escaped_as_utf8(cluster), std::move(outcome));
}

bool Client::send_outcomes(std::chrono::milliseconds wait) {
  const Clock::time_point until = Clock::now() + wait;
  std::unique_lock lock(impl_->outcomes_mutex);
  do {
    impl_->begin_sending();
    if (!impl_->outcomes.in_batch()) {
      const bool pauses = Clock::now() < impl_->report_again_at;
      if (impl_->outcomes.size() == 0 || !pauses || impl_->report_again_at >= until) break;
      const auto pause_ends = impl_->report_again_at;
      impl_->outcomes_changed.wait_until(lock, pause_ends, [&] { return impl_->ending; });
      continue;
    }
    impl_->outcomes_changed.wait_until(lock, until, [&] { return !impl_->outcomes.in_batch(); });
  } while (Clock::now() < until);
  return impl_->outcomes.size() == 0;
}

ClientCounts Client::counts() const {
  const std::lock_guard lock(impl_->outcomes_mutex);
  return {.snapshots = impl_->snapshots,
          .deltas = impl_->deltas,
          .resyncs = impl_->resyncs,
          .bytes = impl_->bytes,
          .outcomes_accepted = impl_->accepted,
          .outcomes_refused = impl_->refused,
          .outcomes_dropped = impl_->outcomes.dropped(),
          .outcomes_waiting = impl_->outcomes.size()};
}

}  // namespace yard
