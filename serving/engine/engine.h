// Answers each request once, in time and legally: with the policy's plan, else with the fallback's
// plan, else with an empty plan.
//
//   bytes -> reading pool -> snapshot -> policy pool -> guard -> answer
//                                   `--> heuristic pool, shortly before the deadline
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
#include "serving/engine/breaker.h"
#include "serving/engine/callback_timer.h"
#include "serving/engine/idle_watch.h"
#include "serving/engine/memory_store.h"
#include "serving/engine/model_store.h"
#include "serving/engine/preemption_limits.h"
#include "serving/engine/state_store.h"
#include "serving/engine/time_estimate.h"
#include "serving/engine/work_pool.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/run_policy.h"

namespace yard {

struct EngineOptions {
  std::string fallback = "las";
  int threads = 4;          // threads which run policies
  int max_waiting = 64;     // decisions queued for these threads
  int reading_threads = 2;  // threads which read requests; one more for small requests only
  int max_unread = 1024;    // requests queued for these threads
  size_t max_unread_bytes = size_t{256} << 20;
  double budget_ms = 50;  // time for a decision, if the request sets no budget
  int max_jobs = 50'000;  // larger snapshots go to the fallback at once
  int max_gpus = 200'000;
  size_t max_memories = 64;  // of policies, one for each cluster and model
  size_t max_memory_bytes = size_t{256} << 20;
  size_t max_states = 64;  // of clusters whose managers send deltas
  size_t max_state_bytes = size_t{256} << 20;
  PreemptionLimitOptions preemptions = {};
  BreakerOptions breaker = {};
  double max_idle_s = 3600;     // learned policies may leave GPUs idle beside jobs; 0: for ever
  double max_wait_s = 604'800;  // of a job before a heuristic places it; 0: any
  double max_age_s = 60;        // of a snapshot; 0: any
  double valid_s = 60;          // actions expire after it
  Tracing tracing = Tracing::kNone;  // whether ServedDecision::trace is filled
};

// A request that has arrived, and ways to read and answer it. All functions may be called from any
// thread, and by then the sender may have gone.
struct IncomingRequest {
  using Read = std::function<std::shared_ptr<const pb::DecideRequest>()>;

  Read read;                // throws InputError
  size_t bytes = 0;         // its size
  std::string client;       // requests of the same client share the server's time
  std::string request_id;   // if it is known before reading
  std::string traceparent;  // W3C trace context; empty: none
  std::chrono::steady_clock::time_point deadline;
  std::function<bool()> cancelled;  // whether the sender no longer waits; null: it does
  // Exactly one of these is called, once.
  std::function<void(pb::DecideResponse&&)> done;
  std::function<void(const std::string& why)> refuse;  // it contradicts itself, or is no request
};

// An answer about to be sent.
struct ServedDecision {
  const std::shared_ptr<const pb::DecideRequest> request;  // null: it was not read in time
  const pb::DecideResponse& response;
  pb::DecisionTrace& trace;        // may be moved from
  const PreemptionBounds* bounds;  // of the request; null: it was not read in time
  const std::string& traceparent;  // of the request
  pb::LoggedDecision::Recall recall;
};

class Engine {
 public:
  using Clock = std::chrono::steady_clock;
  using OnServed = std::function<void(const ServedDecision&)>;

  // `on_served` is called with every answer before it is sent, from any thread. It must not block.
  // Throws InputError if the fallback is unknown or not servable. Requires: `models` outlives this.
  Engine(const EngineOptions& options, const ModelStore& models, OnServed on_served);
  ~Engine();  // answers all pending requests now
  Engine(const Engine&) = delete;

  // Answers at the latest a few milliseconds before the deadline, if that leaves them.
  void submit(IncomingRequest request);

  // Answers all pending requests now, and later ones at once.
  void hurry() { alarm_.hurry(); }

  int stuck() const { return policies_.stuck() + heuristics_.stuck(); }
  int pending() const { return pending_.load(); }
  // Work that no thread has begun yet, and how much of it there may be.
  struct Queue {
    const char* name;
    int waiting, limit;
  };
  std::array<Queue, 3> queues() const;
  const MemoryStore& memories() const { return *memories_; }
  // The breaker in front of a version of a model, which lives as long as this.
  Breaker& breaker_of(const std::string& model, const std::string& digest);
  uint64_t breakers_opened() const;  // how often, of all models together

 private:
  struct Call;

  Clock::time_point answer_deadline(Clock::time_point begin, Clock::time_point deadline,
                                    double budget_ms) const;

  const EngineOptions options_;
  const ModelStore& models_;
  const OnServed on_served_;
  // Shared with heuristics that hang.
  std::shared_ptr<const Policy> fallback_, for_starved_;
  const std::shared_ptr<MemoryStore> memories_;  // shared with policies that hang
  StateStore states_;
  PreemptionLimits preemptions_;
  IdleWatch idle_;
  mutable std::mutex breakers_mutex_;
  std::map<std::string, Breaker> breakers_;  // by name and digest
  const uint64_t first_id_;
  std::atomic<uint64_t> ids_ = 0;
  std::atomic<int> pending_ = 0;
  TimeEstimate reading_time_, heuristic_time_;  // by bytes; by jobs and nodes
  WorkPool policies_, heuristics_;
  CallbackTimer alarm_;  // destroyed before the pools: gives stuck work up, so that they can end
  WorkPool reading_;     // destroyed first: no call begins after the alarm has ended
};

}  // namespace yard
