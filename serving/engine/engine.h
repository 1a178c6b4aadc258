// Answers each request once, in time and legally: with the policy's plan, else with the fallback's
// plan, else with an empty plan.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "policies/policy.h"
#include "serving/engine/model_store.h"
#include "serving/engine/workers.h"
#include "serving/snapshot/messages.h"
#include "serving/snapshot/run_policy.h"

namespace yard {

struct EngineOptions {
  std::string fallback = "las";
  int threads = 4;        // threads which run policies
  int max_waiting = 64;   // decisions queued for these threads
  double budget_ms = 50;  // time for a decision, if the request sets no budget
  int max_jobs = 50'000;  // larger snapshots go to the fallback at once
  int max_gpus = 200'000;
  Tracing tracing = Tracing::kNone;  // whether ServedDecision::trace is filled
};

// An answer about to be sent.
struct ServedDecision {
  const std::shared_ptr<const pb::DecideRequest>& request;
  const pb::DecideResponse& response;
  pb::DecisionTrace& trace;  // may be moved from
};

class Engine {
 public:
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(pb::DecideResponse&&)>;
  using OnServed = std::function<void(const ServedDecision&)>;

  // `on_served` is called with every answer before it is sent, from any thread. It must not block.
  // Throws InputError if the fallback is unknown or not servable. Requires: `models` outlives this.
  Engine(const EngineOptions& options, const ModelStore& models, OnServed on_served);
  ~Engine();  // answers all pending requests now
  Engine(const Engine&) = delete;

  // Calls `done` exactly once, from any thread, at the latest a few milliseconds before `deadline`
  // if that leaves them. Throws InputError, without a call, if the request describes an impossible
  // cluster.
  void decide(std::shared_ptr<const pb::DecideRequest> request, Clock::time_point deadline,
              Done done);

  int stuck() const { return workers_.stuck(); }
  int pending() const { return pending_.load(); }

 private:
  struct Call;

  Clock::time_point answer_deadline(const Call& call, Clock::time_point deadline) const;

  const EngineOptions options_;
  const ModelStore& models_;
  const OnServed on_served_;
  std::unique_ptr<const Policy> fallback_;
  const uint64_t first_id_;
  std::atomic<uint64_t> ids_ = 0;
  std::atomic<int> pending_ = 0;
  Workers workers_;
  CallbackTimer alarm_;  // destroyed first: gives stuck work up, so that the workers can end
};

}  // namespace yard
