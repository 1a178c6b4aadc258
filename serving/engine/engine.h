// Answers each request once, in time and legally: with the policy's plan, else with the fallback's
// plan, else with an empty plan.
//
//   bytes -> reading pool -> snapshot -> policy pool -> guard -> answer
//                                   `--> heuristic pool, shortly before the deadline
//
// An idle thread of the policy pool reads a small request itself: to change threads takes as long
// as a decision on a small cluster.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "policies/policy.h"
#include "serving/engine/answer_store.h"
#include "serving/engine/breaker.h"
#include "serving/engine/callback_timer.h"
#include "serving/engine/idle_watch.h"
#include "serving/engine/memory_store.h"
#include "serving/engine/model_catalog.h"
#include "serving/engine/preemption_limits.h"
#include "serving/engine/recent_decisions.h"
#include "serving/engine/registrations.h"
#include "serving/engine/state_store.h"
#include "serving/engine/time_estimate.h"
#include "serving/engine/work_pool.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/run_policy.h"

namespace yard {

// Heuristic that decides when a job has waited too long: it starts jobs in order of arrival, with a
// reservation for the first.
inline constexpr const char* kForStarved = "easy";

struct EngineOptions {
  std::string fallback = "las";
  int threads = 4;          // threads which run policies, and read small requests if they are idle
  int max_waiting = 64;     // decisions that may wait for a policy thread
  int reading_threads = 2;  // threads which read requests, besides one for small requests
  int max_unread = 1024;    // requests that may wait for a reading thread
  size_t max_unread_bytes = size_t{256} << 20;
  double budget_ms = 50;  // milliseconds for a decision, if the request sets no budget
  int max_jobs = 50'000;  // snapshots with more jobs are decided by the fallback
  int max_gpus = 200'000;
  size_t max_memories = 64;  // policies' cluster_memories kept, one for each cluster and model
  size_t max_memory_bytes = size_t{256} << 20;
  size_t max_states = 64;  // cluster states kept for managers that send deltas
  size_t max_state_bytes = size_t{256} << 20;
  AnswerStore::Options answers = {};
  size_t max_recent = 256;  // decisions that can be explained
  size_t max_recent_bytes = size_t{64} << 20;
  PreemptionLimitOptions preemptions = {};
  BreakerOptions breaker = {};
  double max_idle_s = 3600;     // seconds a learned policy may idle GPUs if jobs wait; 0: no limit
  double max_wait_s = 604'800;  // seconds a job may wait before a heuristic decides; 0: no limit
  // Factor by which a snapshot may exceed the envelope of a checkpoint's training before a
  // heuristic decides; 0: no limit.
  double envelope_tolerance = 4;
  double max_age_s = 60;             // seconds after which a snapshot is too old; 0: never
  double valid_s = 60;               // seconds after which an action expires
  Tracing tracing = Tracing::kNone;  // whether ServedDecision::trace is filled
};

// A request that has arrived, with functions to read and answer it. The functions may be called
// from any thread, even after the sender has gone.
struct IncomingRequest {
  using Read = std::function<std::shared_ptr<pb::DecideRequest>()>;

  Read read;                    // throws InputError
  size_t bytes = 0;             // size of the message
  std::string client;           // name of the sender; clients share the server's time fairly
  bool is_client_known = true;  // false: `client` stands for many senders
  std::string request_id;       // id of the request, if known before reading
  std::string traceparent;      // W3C trace context of the call; empty: the call has none
  std::chrono::steady_clock::time_point deadline;
  std::function<bool()> cancelled;  // whether the sender has stopped waiting; null: never
  // Either done() or refuse() is called, exactly once.
  std::function<void(pb::DecideResponse&&)> done;
  std::function<void(const pb::Refusal& why)> refuse;  // for a malformed request
};

// A decision that is about to be sent, with its request.
struct ServedDecision {
  const std::shared_ptr<const pb::DecideRequest> request;  // null: the request was not read in time
  // How the request's state came about. Keep this after the answer instead of `request`, which the
  // next delta would have to copy.
  const std::shared_ptr<const StateHistory> history;
  const pb::DecideResponse& response;
  pb::DecisionTrace& trace;           // the receiver may move the trace away
  const PreemptionBounds* bounds;     // limits on preemptions; null: the request was read too late
  const std::string& traceparent;     // W3C trace context of the request; empty: none
  pb::LoggedDecision::Recall recall;  // what the policy remembered of the cluster
};

class Engine {
 public:
  using Clock = std::chrono::steady_clock;
  using OnServed = std::function<void(const ServedDecision&)>;

  // Calls `on_served`, which must not block, with each answer before it is sent, from any thread.
  // Throws InputError if the fallback is unknown or cannot serve. `models` must outlive the engine.
  Engine(const EngineOptions& options, ModelCatalog& models, OnServed on_served);
  ~Engine();  // answers all pending requests now
  Engine(const Engine&) = delete;

  // Answers the request at the latest a few milliseconds before its deadline, if possible.
  void submit(IncomingRequest request);

  // From now on, the deadline of every request counts as past: its answer is the fallback's if
  // there is one, else no action. For the end of the server.
  void expire_all_deadlines() { alarm_.run_all_now(); }

  int num_stuck() const {
    return policies_.num_stuck() + heuristics_.num_stuck() + aside_.num_stuck();
  }
  int pending_requests() const { return pending_.load(); }
  // A queue in front of a pool of threads.
  struct QueueStatus {
    const char* name;
    int waiting;  // pieces of work that no thread has begun yet
    int limit;    // most pieces of work that may wait
  };
  std::array<QueueStatus, 3> queues() const;
  const ClusterMemoryStore& cluster_memories() const { return *memories_; }
  // Returns the breaker of one version of a model. The breaker lives as long as the engine.
  Breaker& breaker_of(const std::string& model, const std::string& digest);
  uint64_t times_breakers_opened() const;  // how often breakers have opened, over all models

  // Limits later requests of the cluster to what its manager can carry out. Throws InputError if
  // the registration makes no sense.
  pb::RegisterResponse add_registration(const pb::RegisterRequest& request);

  // Explains a recent decision, or decides the given request and explains that. Calls one of the
  // two functions, once, perhaps on another thread.
  void explain(std::shared_ptr<const pb::ExplainRequest> request,
               std::function<void(pb::ExplainResponse&&)> done,
               std::function<void(const pb::Refusal& why)> refuse);
  uint64_t repeated_requests() const { return repeated_.load(); }  // answered by a stored answer
  uint64_t state_copies() const { return states_.copies(); }  // deltas that had to copy a state

 private:
  struct Call;

  Clock::time_point answer_deadline(Clock::time_point begin, Clock::time_point deadline,
                                    double budget_ms) const;

  const EngineOptions options_;
  ModelCatalog& models_;
  const OnServed on_served_;
  // Shared with heuristics that hang and outlive the engine.
  std::shared_ptr<const Policy> fallback_, for_starved_;
  const std::shared_ptr<ClusterMemoryStore> memories_;  // shared with policies that hang
  StateStore states_;
  PreemptionLimits preemptions_;
  IdleWatch idle_;
  mutable std::mutex breakers_mutex_;
  std::map<std::string, Breaker> breakers_;  // by the model's name and digest
  AnswerStore answers_;
  RecentDecisions recent_;
  std::atomic<uint64_t> repeated_ = 0;
  const uint64_t first_id_;
  Registrations registrations_;
  std::atomic<uint64_t> ids_ = 0;
  std::atomic<int> pending_ = 0;
  DurationEstimate reading_time_, heuristic_time_;  // reading by bytes; heuristic by jobs and nodes
  WorkPool policies_, heuristics_;
  CallbackTimer alarm_;  // destroyed before the pools, so that it can abandon their stuck work
  WorkPool aside_;       // runs shadows and explanations, for which no manager waits
  // Destroyed first, so that no request begins without an alarm. The threads of `policies_` may
  // still read requests: before the alarm ends, it answers each request, and an answered request is
  // not decided.
  WorkPool reading_;
};

}  // namespace yard
