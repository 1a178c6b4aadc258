#include "serving/engine/engine.h"

#include <algorithm>
#include <utility>

#include "env/base/core/error.h"
#include "serving/engine/call.h"
#include "serving/engine/grpc_codes.h"
#include "serving/explain/explain.h"
#include "serving/snapshot/quarantine.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

// Reserved for the answer's way back to the caller.
constexpr std::chrono::milliseconds kMargin{2};
constexpr double kMaxBudgetMs = 3.6e6;
constexpr int kHeuristicThreads = 2;
constexpr size_t kMaxClusters = 1024;  // of which preemptions and registrations are kept
constexpr int kMaxWaitingAside = 16;
constexpr size_t kSmallRequest = size_t{64} << 10;  // bytes

}  // namespace

Engine::Engine(const EngineOptions& options, ModelCatalog& models, OnServed on_served)
    : options_(options),
      models_(models),
      on_served_(std::move(on_served)),
      fallback_(open_servable(options.fallback).policy),
      for_starved_(open_servable(kForStarved).policy),
      memories_(
          std::make_shared<ClusterMemoryStore>(options.max_memories, options.max_memory_bytes)),
      states_(options.max_states, options.max_state_bytes),
      preemptions_(options.preemptions, kMaxClusters),
      idle_(options.max_idle_s, kMaxClusters),
      answers_(options.answers),
      recent_(options.max_recent, options.max_recent_bytes),
      first_id_(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                      std::chrono::microseconds(1))),
      registrations_(kMaxClusters, first_id_),
      policies_({.threads = options.threads, .max_waiting = options.max_waiting}),
      heuristics_({.threads = kHeuristicThreads, .max_waiting = options.max_unread}),
      aside_({.threads = 1, .max_waiting = kMaxWaitingAside}),
      reading_({.threads = options.reading_threads,
                .small_threads = 1,
                .max_waiting = options.max_unread,
                .max_waiting_cost = options.max_unread_bytes}) {}

Engine::~Engine() = default;

Engine::Clock::time_point Engine::answer_deadline(Clock::time_point begin,
                                                  Clock::time_point deadline,
                                                  double budget_ms) const {
  const Clock::duration left = deadline - begin;
  // If a deadline is nearly over, half of the rest is for the way back.
  const Clock::duration most = std::max<Clock::duration>(left - kMargin, left / 2);
  const std::chrono::duration<double, std::milli> budget(std::min(budget_ms, kMaxBudgetMs));
  return begin + std::min(std::chrono::duration_cast<Clock::duration>(budget), most);
}

std::array<Engine::QueueStatus, 3> Engine::queues() const {
  return {{{"reading", reading_.waiting(), options_.max_unread},
           {"policy", policies_.waiting(), options_.max_waiting},
           {"heuristic", heuristics_.waiting(), options_.max_unread}}};
}

Breaker& Engine::breaker_of(const std::string& model, const std::string& digest) {
  const std::lock_guard lock(breakers_mutex_);
  return breakers_.try_emplace(model + '\n' + digest, options_.breaker).first->second;
}

uint64_t Engine::times_breakers_opened() const {
  const std::lock_guard lock(breakers_mutex_);
  uint64_t sum = 0;
  for (const auto& [key, breaker] : breakers_) sum += breaker.times_opened();
  return sum;
}

void Engine::submit(IncomingRequest request) {
  const auto call = std::make_shared<Call>(*this, std::move(request));
  ++pending_;
  std::unique_lock lock(call->mutex);
  // Its own budget is not known before it is read.
  call->answer_by = answer_deadline(call->begin, call->in.deadline, kMaxBudgetMs);
  call->deadline_alarm = alarm_.at(call->answer_by, [weak = std::weak_ptr(call)] {
    if (const auto late = weak.lock()) late->on_deadline();
  });
  const auto drop = call->later([call] { call->on_unread_dropped(); });
  if (call->in.bytes <= kSmallRequest) {
    call->reading_ticket = policies_.submit_if_idle(
        {call->in.client, 1, [call] { call->read_and_decide(true); }, drop});
  }
  if (call->reading_ticket == nullptr) {
    call->reading_ticket = reading_.submit(
        {call->in.client, call->in.bytes, [call] { call->read_and_decide(false); }, drop});
  }
  if (call->reading_ticket != nullptr) return;
  call->fail(pb::QUEUE_FULL, "too many requests wait to be read");
  call->finish_without_policy(lock);
}

pb::RegisterResponse Engine::add_registration(const pb::RegisterRequest& request) {
  pb::RegisterResponse out;
  out.set_epoch(registrations_.add(request));
  out.set_max_jobs(kMaxJobs);
  out.set_max_nodes(kMaxSnapshotNodes);
  const auto model = models_.choose("", request.cluster(), 0).decider.model;
  if (model == nullptr) return out;
  const auto& fields = request.fields();
  for (const std::string& needed : model->snapshot_fields) {
    if (std::ranges::find(fields, needed) == fields.end()) out.add_missing(needed);
  }
  return out;
}

void Engine::explain(std::shared_ptr<const pb::ExplainRequest> request,
                     std::function<void(pb::ExplainResponse&&)> done,
                     std::function<void(const pb::Refusal& why)> refuse) {
  if (request->about_case() == pb::ExplainRequest::ABOUT_NOT_SET) {
    return refuse(refusal_of(kInvalidArgument, "expected decision_id or request, got neither"));
  }
  std::shared_ptr<const RecentDecision> about;
  if (request->has_decision_id()) {
    about = recent_.find(request->decision_id());
    if (about == nullptr) {
      return refuse(refusal_of(kNotFound, "no decision '" + shortened(request->decision_id()) +
                                              "' among the last " +
                                              std::to_string(options_.max_recent)));
    }
  } else {
    auto asked = std::make_shared<RecentDecision>();
    asked->history = std::make_shared<StateHistory>(
        std::shared_ptr<const pb::DecideRequest>(request, &request->request()));
    asked->num_jobs = request->request().jobs_size();
    asked->model = models_
                       .choose(request->request().model(), request->request().cluster(),
                               request->request().time_s())
                       .decider.model;
    asked->heuristic = fallback_;
    about = std::move(asked);
  }
  // Shared, since the work and its drop each have one use for it.
  const auto refuse_once = std::make_shared<std::function<void(const pb::Refusal&)>>(refuse);
  const auto ticket = aside_.submit(
      {"explain", static_cast<size_t>(about->num_jobs),
       [about, request, done = std::move(done), refuse_once] {
         try {
           const Policy& policy = about->model ? *about->model->policy : *about->heuristic;
           const bool recorded = request->has_decision_id();
           done(yard::explain(policy, *about->history->state(),
                              recorded ? &about->response : nullptr, request->job()));
         } catch (const std::exception& error) {
           (*refuse_once)(refusal_of(kInvalidArgument, error.what()));
         }
       },
       [refuse_once] { (*refuse_once)(refusal_of(kUnavailable, "the server has no time")); }});
  if (ticket == nullptr) (*refuse_once)(refusal_of(kUnavailable, "the server has no time"));
}

}  // namespace yard
