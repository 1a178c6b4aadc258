#include "serving/engine/engine.h"

#include <algorithm>
#include <mutex>
#include <optional>

#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

// Reserved for the answer's way back to the caller.
constexpr std::chrono::milliseconds kMargin{2};
constexpr double kMaxBudgetMs = 3.6e6;

double ms_since(Engine::Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Engine::Clock::now() - begin).count();
}

}  // namespace

// One request in progress. The calling thread, the worker and the alarm share it, since any of them
// may be the last to use it. The first of them with a valid answer sends it.
struct Engine::Call : std::enable_shared_from_this<Engine::Call> {
  Call(Engine& owner, std::shared_ptr<const pb::DecideRequest>&& incoming, Done&& then)
      : engine(&owner), done(std::move(then)), request(std::move(incoming)), snapshot(*request) {}

  // May be destroyed once an answer was sent: later threads only drop their reference.
  Engine* const engine;
  Done done;
  const Clock::time_point begin = Clock::now();
  const std::shared_ptr<const pb::DecideRequest> request;
  const Snapshot snapshot;
  ModelStore::Current current;
  double read_ms = 0;

  std::mutex mutex;
  bool answered = false;
  bool policy_pending = false;
  pb::Reason reason = pb::NONE;
  std::string detail;
  double policy_ms = 0;
  std::optional<PolicyResult> heuristic;
  std::shared_ptr<Workers::Ticket> ticket;
  std::optional<CallbackTimer::Key> alarm;

  void fail(pb::Reason why, std::string words) {
    reason = why;
    detail = std::move(words);
  }

  void on_policy(PolicyResult&& answer) {
    std::unique_lock lock(mutex);
    if (answered) return;
    policy_pending = false;
    policy_ms = answer.elapsed_ms;
    if (answer.reason == pb::NONE) {
      finish(lock, std::move(answer), pb::POLICY, current.name);
    } else {
      fail(answer.reason, std::move(answer.detail));
      if (heuristic) finish_without_policy(lock);
    }
  }

  void on_heuristic(PolicyResult&& answer) {
    std::unique_lock lock(mutex);
    if (answered) return;
    heuristic = std::move(answer);
    if (!policy_pending) finish_without_policy(lock);
  }

  void on_deadline() {
    std::unique_lock lock(mutex);
    if (answered) return;
    if (policy_pending) fail(pb::DEADLINE, "the policy exceeded the deadline");
    if (ticket) ticket->abandon();
    finish_without_policy(lock);
  }

  bool is_answered() {
    const std::lock_guard lock(mutex);
    return answered;
  }

 private:
  void finish_without_policy(std::unique_lock<std::mutex>& lock) {
    if (heuristic && heuristic->reason == pb::NONE) {
      finish(lock, std::move(*heuristic), pb::HEURISTIC, engine->options_.fallback);
      return;
    }
    detail += detail.empty() ? "" : "; ";
    detail += heuristic ? "the heuristic failed: " + heuristic->detail
                        : "the heuristic exceeded the deadline";
    if (reason == pb::NONE) reason = heuristic ? heuristic->reason : pb::DEADLINE;
    PolicyResult none;
    none.trace.set_probability(1);
    list_quarantined(snapshot, none.response);
    finish(lock, std::move(none), pb::SAFE_DEFAULT, "");
  }

  void finish(std::unique_lock<std::mutex>& lock, PolicyResult&& answer, pb::Source source,
              const std::string& by) {
    answered = true;
    if (alarm) engine->alarm_.cancel(*alarm);
    pb::DecideResponse& response = answer.response;
    response.set_decision_id(std::to_string(engine->first_id_) + "-" +
                             std::to_string(++engine->ids_));
    response.set_request_id(request->request_id());
    response.set_source(source);
    response.set_reason(reason);
    response.set_detail(detail);
    response.set_model(current.name);
    response.set_model_digest(current.digest);
    response.set_decided_by(by);
    pb::Timings& timings = *response.mutable_timings();
    timings.set_read_ms(read_ms);
    timings.set_policy_ms(policy_ms);
    timings.set_heuristic_ms(heuristic ? heuristic->elapsed_ms : 0);
    timings.set_total_ms(ms_since(begin));
    const Done then = std::move(done);
    engine->on_served_({request, response, answer.trace});
    --engine->pending_;
    lock.unlock();
    then(std::move(response));
  }
};

Engine::Engine(const EngineOptions& options, const ModelStore& models, OnServed on_served)
    : options_(options),
      models_(models),
      on_served_(std::move(on_served)),
      fallback_(open_servable(options.fallback).policy),
      first_id_(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                      std::chrono::microseconds(1))),
      workers_(options.threads, options.max_waiting) {}

Engine::~Engine() = default;

Engine::Clock::time_point Engine::answer_deadline(const Call& call,
                                                  Clock::time_point deadline) const {
  const double asked_ms = call.request->budget_ms();
  const std::chrono::duration<double, std::milli> budget(
      std::min(asked_ms > 0 ? asked_ms : options_.budget_ms, kMaxBudgetMs));
  const Clock::duration left = deadline - call.begin;
  // If a deadline is nearly over, half of the rest is for the way back.
  const Clock::duration most = std::max<Clock::duration>(left - kMargin, left / 2);
  return call.begin + std::min(std::chrono::duration_cast<Clock::duration>(budget), most);
}

void Engine::decide(std::shared_ptr<const pb::DecideRequest> request, Clock::time_point deadline,
                    Done done) {
  auto call = std::make_shared<Call>(*this, std::move(request), std::move(done));
  ++pending_;
  call->read_ms = ms_since(call->begin);
  call->current = models_.current(call->request->model());
  if (call->current.model == nullptr) {
    call->fail(call->current.reason, call->current.detail);
  } else if (call->request->jobs_size() > options_.max_jobs ||
             call->snapshot.fixed().spec.total_gpus > options_.max_gpus) {
    call->fail(pb::TOO_LARGE, std::to_string(call->request->jobs_size()) + " jobs, " +
                                  std::to_string(call->snapshot.fixed().spec.total_gpus) + " GPUs");
  } else {
    call->policy_pending = true;
    call->ticket = workers_.submit([call, tracing = options_.tracing] {
      if (call->is_answered()) return;
      call->on_policy(
          run_policy(*call->current.model->policy, call->snapshot, *call->request, tracing));
    });
    if (call->ticket == nullptr) {
      call->policy_pending = false;
      call->fail(pb::QUEUE_FULL, "too many decisions are queued or stuck");
    }
  }
  {
    const std::lock_guard lock(call->mutex);
    if (!call->answered) {
      call->alarm = alarm_.at(answer_deadline(*call, deadline), [weak = std::weak_ptr<Call>(call)] {
        if (const auto late = weak.lock()) late->on_deadline();
      });
    }
  }
  // Always computed: it must be ready in case the policy is late.
  if (!call->is_answered()) {
    call->on_heuristic(run_policy(*fallback_, call->snapshot, *call->request, options_.tracing));
  }
}

}  // namespace yard
