// Who answers: the policy; where it cannot or is late, the heuristic; where that cannot either,
// nobody (no action at all). Always one answer, in time, legal, with its reason.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "policies/policy.h"
#include "serving/alarm.h"
#include "serving/ask.h"
#include "serving/messages.h"
#include "serving/model_store.h"
#include "serving/workers.h"

namespace yard {

struct EngineOptions {
  std::string fallback = "las";
  int threads = 4;         // on which policies decide; as many may hang
  int most_waiting = 64;   // decisions that wait for such a thread
  double budget_ms = 50;   // where the request names none
  int most_jobs = 50'000;  // larger snapshots go to the heuristic at once
  int most_gpus = 200'000;
  Accounts accounts = Accounts::kNone;  // whether Told has them
};

// An answer on its way out.
struct Told {
  const std::shared_ptr<const pb::DecideRequest>& request;
  const pb::DecideResponse& response;
  pb::Account& account;  // may be moved from
};

class Engine {
 public:
  using Clock = std::chrono::steady_clock;
  using Done = std::function<void(pb::DecideResponse&&)>;

  using Seen = std::function<void(const Told&)>;

  // `seen` is told of every answer before it goes out, from any thread; it may not wait for
  // anything. Throws InputError when the fallback is unknown or not for live clusters. Requires:
  // `models` outlives this.
  Engine(const EngineOptions& options, const ModelStore& models, Seen seen);
  ~Engine();  // what is still under way is answered now
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Calls `done` exactly once, from any thread, before `deadline` if that leaves a few
  // milliseconds. Throws InputError, and never calls, where the request describes no possible
  // cluster.
  void decide(pb::DecideRequest request, Clock::time_point deadline, Done done);

  int hanging() const { return workers_.hanging(); }
  int under_way() const { return under_way_.load(); }

 private:
  struct Call;

  Clock::time_point time_of_answer(const Call& call, Clock::time_point deadline) const;
  std::string next_id();

  const EngineOptions options_;
  const ModelStore& models_;
  const Seen seen_;
  std::unique_ptr<const Policy> fallback_;
  const uint64_t first_id_;
  std::atomic<uint64_t> ids_ = 0;
  std::atomic<int> under_way_ = 0;
  Workers workers_;
  Alarm alarm_;  // ends first: it gives up on what hangs, so that the workers can end
};

}  // namespace yard
