#include "serving/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "env/base/core/error.h"
#include "policies/decision_trace.h"
#include "serving/snapshot/snapshot.h"
#include "serving/snapshot/starvation.h"

namespace yard {
namespace {

using Ms = std::chrono::duration<double, std::milli>;

// Reserved for the answer's way back to the caller.
constexpr std::chrono::milliseconds kMargin{2};
constexpr double kMaxBudgetMs = 3.6e6;
// The heuristic begins so many times its usual duration before the deadline, and at least so early.
constexpr double kHeuristicReserve = 4;
constexpr double kMinReserveMs = 3;
constexpr int kHeuristicThreads = 2;
constexpr size_t kMaxClusters = 1024;  // whose preemptions are counted
// Places a job that has waited too long: in order of arrival, with a reservation for the first.
constexpr const char* kForStarved = "easy";

double ms_since(Engine::Clock::time_point begin) {
  return Ms(Engine::Clock::now() - begin).count();
}

Engine::Clock::duration clock_ms(double ms) {
  return std::chrono::duration_cast<Engine::Clock::duration>(Ms(ms));
}

}  // namespace

// One request in progress. The threads that read it, run the policy or the heuristic, and the alarm
// share it, since any of them may be the last to use it. The first with a valid answer sends it.
struct Engine::Call : std::enable_shared_from_this<Engine::Call> {
  Call(Engine& owner, IncomingRequest&& incoming) : engine(&owner), in(std::move(incoming)) {}

  // What only depends on the request; shared with work that hangs.
  struct Read {
    Read(std::shared_ptr<const pb::DecideRequest> read, PreemptionBounds bounds)
        : request(std::move(read)), snapshot(*request, std::move(bounds)) {}
    const std::shared_ptr<const pb::DecideRequest> request;
    const Snapshot snapshot;
    size_t size() const {
      return static_cast<size_t>(request->jobs_size() + request->nodes_size());
    }
  };

  // May be destroyed once an answer was sent: later threads only drop their reference.
  Engine* const engine;
  IncomingRequest in;
  const Clock::time_point begin = Clock::now();
  Clock::time_point answer_by;

  std::mutex mutex;  // of all that follows
  bool answered = false;
  std::shared_ptr<const Read> read;  // null: not read yet
  ModelStore::Current current;
  double queue_ms = 0, read_ms = 0, policy_ms = 0;
  bool policy_pending = false;
  // Of the policy, once it waits no longer; without the lock.
  std::atomic<pb::LoggedDecision::Recall> recall = pb::LoggedDecision::NOT_BEGUN;
  bool heuristic_begun = false;
  Breaker* breaker = nullptr;        // of the policy that decides
  bool is_starved = false;           // a job has waited too long
  std::optional<PolicyResult> idle;  // the policy's answer, if it has left GPUs idle for too long
  pb::Reason reason = pb::NONE;
  std::string detail;
  std::optional<PolicyResult> heuristic;
  std::shared_ptr<WorkPool::Ticket> policy_ticket, heuristic_ticket, reading_ticket;
  std::optional<CallbackTimer::Key> deadline_alarm, heuristic_alarm;

  void fail(pb::Reason why, std::string words) {
    reason = why;
    detail = std::move(words);
  }

  // A pool drops work of one call while another is locked: what follows is left to the alarm.
  std::function<void()> later(std::function<void()> call) const {
    return [on = engine, call = std::move(call)] { on->alarm_.at(Clock::now(), call); };
  }

  // ---- on a thread of the reading pool

  void read_and_decide() {
    {
      std::unique_lock lock(mutex);
      if (answered) return;
      reading_ticket = nullptr;
      queue_ms = ms_since(begin);
      if (in.cancelled && in.cancelled()) return give_up(lock);
      const double needed_ms = engine->reading_time_.of(in.bytes);
      if (Clock::now() + clock_ms(needed_ms) >= answer_by) {
        fail(pb::DEADLINE, "no time is left to read the request");
        return finish_without_policy(lock);
      }
    }
    const Clock::time_point started = Clock::now();
    std::shared_ptr<const Read> done;
    try {
      auto state = engine->states_.state_after(in.read(), in.client);
      require_fresh(*state);
      PreemptionBounds bounds = engine->preemptions_.bounds_of(*state, in.client);
      done = std::make_shared<const Read>(std::move(state), std::move(bounds));
      engine->states_.keep(done->request, in.client);
    } catch (const MissingState& missing) {
      std::unique_lock lock(mutex);
      if (answered) return;
      fail(pb::STALE_STATE, missing.what());
      return finish_without_policy(lock);
    } catch (const std::exception& error) {
      std::unique_lock lock(mutex);
      return refuse(lock, error.what());
    }
    engine->reading_time_.add(in.bytes, ms_since(started));
    std::unique_lock lock(mutex);
    if (answered) return;
    read_ms = ms_since(started);
    read = std::move(done);
    in.read = nullptr;  // the bytes are no longer needed
    choose_policy();
    set_alarms();
    if (!policy_pending) begin_heuristic(lock);
  }

  void require_fresh(const pb::DecideRequest& request) const {
    const double most_s = engine->options_.max_age_s;
    const double age_s = request.age_s() + ms_since(begin) * 1e-3;
    if (!request.has_age_s() || most_s <= 0 || age_s <= most_s) return;
    throw MissingState(fmt::format("send a new snapshot: this one is {:.1f} s old, of at most {:g}",
                                   age_s, most_s));
  }

  std::string memory_key() const {
    return read->request->cluster() + '\n' + current.name + '\n' + current.digest;
  }

  // Requires: the lock.
  void choose_policy() {
    const EngineOptions& options = engine->options_;
    const pb::DecideRequest& request = *read->request;
    current = engine->models_.current(request.model());
    const int32_t gpus = read->snapshot.spec().total_gpus;
    if (current.model == nullptr) return fail(current.reason, current.detail);
    if (request.jobs_size() > options.max_jobs || gpus > options.max_gpus) {
      return fail(pb::TOO_LARGE,
                  std::to_string(request.jobs_size()) + " jobs, " + std::to_string(gpus) + " GPUs");
    }
    if (const pb::Job* job = starved_job(read->snapshot, request, options.max_wait_s)) {
      is_starved = true;
      return fail(pb::STARVATION,
                  fmt::format("job {} has waited for {:.0f} s, more than {:g}", job->id(),
                              wait_s(*job, request.time_s()), options.max_wait_s));
    }
    breaker = &engine->breaker_of(current.name, current.digest);
    const Clock::time_point now = Clock::now();
    if (!breaker->admits(now)) return fail(pb::BREAKER_OPEN, breaker->detail(now));
    policy_pending = true;
    policy_ticket = engine->policies_.submit(
        {in.client, read->size(),
         [call = shared_from_this(), read = read, model = current.model,
          memories = engine->memories_, tracing = options.tracing, key = memory_key()] {
           if (call->is_answered()) return;
           auto memory = memories->take(key, read->snapshot.now_us());
           call->recall =
               memory->now_us() < 0 ? pb::LoggedDecision::ANEW : pb::LoggedDecision::REMEMBERED;
           PolicyResult result =
               run_policy(*model->policy, read->snapshot, *read->request, tracing, memory.get());
           const bool failed = result.reason == pb::NON_FINITE || result.reason == pb::POLICY_ERROR;
           if (!failed) memories->give_back(key, std::move(memory));
           call->on_policy(std::move(result));
         },
         later([call = shared_from_this()] { call->on_policy_dropped(); })});
    if (policy_ticket != nullptr) return;
    policy_pending = false;
    fail(pb::QUEUE_FULL, "too many decisions are queued or stuck");
  }

  // Requires: the lock.
  void set_alarms() {
    Engine& on = *engine;
    const auto weak = weak_from_this();
    const double budget_ms = read->request->budget_ms();
    answer_by =
        on.answer_deadline(begin, in.deadline, budget_ms > 0 ? budget_ms : on.options_.budget_ms);
    const auto earlier = std::exchange(deadline_alarm, on.alarm_.at(answer_by, [weak] {
      if (const auto late = weak.lock()) late->on_deadline();
    }));
    on.alarm_.cancel(*earlier);
    if (!policy_pending) return;
    // Not before it may be needed: for most requests it never is. But at once until it is known how
    // long it takes, and if that is most of the time.
    const double usual_ms = on.heuristic_time_.of(read->size());
    const Clock::duration reserve = clock_ms(std::max(kMinReserveMs, kHeuristicReserve * usual_ms));
    const Clock::time_point now = Clock::now();
    const Clock::time_point at = usual_ms == 0 ? now : std::max(now, answer_by - reserve);
    heuristic_alarm = on.alarm_.at(at, [weak] {
      const auto slow = weak.lock();
      if (slow == nullptr) return;
      std::unique_lock lock(slow->mutex);
      slow->begin_heuristic(lock);
    });
  }

  void begin_heuristic(std::unique_lock<std::mutex>& lock) {
    if (answered || heuristic_begun) return;
    heuristic_begun = true;
    heuristic_ticket = engine->heuristics_.submit(
        {in.client, read->size(),
         [call = shared_from_this(), read = read, starved = is_starved,
          policy = is_starved ? engine->for_starved_ : engine->fallback_,
          tracing = engine->options_.tracing] {
           if (call->is_answered()) return;
           if (!starved) {
             return call->on_heuristic(
                 run_policy(*policy, read->snapshot, *read->request, tracing));
           }
           call->on_heuristic(run_for_starved(*policy, read->snapshot, *read->request));
         },
         later([call = shared_from_this()] { call->on_heuristic_dropped(); })});
    if (heuristic_ticket == nullptr && !policy_pending) finish_without_policy(lock);
  }

  // ---- on a thread of the other pools

  bool is_answered() {
    const std::lock_guard lock(mutex);
    return answered;
  }

  void on_policy(PolicyResult&& answer) {
    std::unique_lock lock(mutex);
    if (answered) return;
    policy_ticket = nullptr;
    policy_pending = false;
    policy_ms = answer.elapsed_ms;
    if (answer.reason == pb::NONE) {
      // Rules may reserve GPUs as their operator wants; what is learned may have gone wrong.
      const bool learned =
          dynamic_cast<const TracedPolicy*>(current.model->policy.get()) != nullptr;
      const double idle_s =
          learned ? engine->idle_.idle_s(memory_key(), *read->request, answer.response) : 0;
      if (idle_s > 0) {
        fail(pb::IDLE, fmt::format("the policy has left GPUs idle for {:.0f} s", idle_s));
        idle = std::move(answer);
        return heuristic ? judge_idle(lock) : begin_heuristic(lock);
      }
      count_of_policy(false);
      if (answer.limited) fail(pb::PREEMPTION_LIMIT, std::move(answer.detail));
      return finish(lock, std::move(answer), pb::POLICY, current.name);
    }
    count_of_policy(true);
    fail(answer.reason, std::move(answer.detail));
    if (heuristic) return finish_without_policy(lock);
    begin_heuristic(lock);
  }

  void count_of_policy(bool failed) const { breaker->add(failed, Clock::now()); }

  // The policy is right if the heuristic has no use for the idle GPUs either. Requires: both
  // answers.
  void judge_idle(std::unique_lock<std::mutex>& lock) {
    if (heuristic->reason == pb::NONE && uses_idle_gpus(*read->request, heuristic->response)) {
      count_of_policy(true);
      return finish_without_policy(lock);
    }
    engine->idle_.restart(memory_key(), read->request->time_s());
    count_of_policy(false);
    fail(pb::NONE, "");
    finish(lock, std::move(*idle), pb::POLICY, current.name);
  }

  void on_policy_dropped() {
    std::unique_lock lock(mutex);
    if (answered) return;
    policy_pending = false;
    fail(pb::QUEUE_FULL, "it gave way to other clients");
    if (heuristic) return finish_without_policy(lock);
    begin_heuristic(lock);
  }

  void on_heuristic(PolicyResult&& answer) {
    std::unique_lock lock(mutex);
    if (answered) return;
    heuristic_ticket = nullptr;
    engine->heuristic_time_.add(read->size(), answer.elapsed_ms);
    heuristic = std::move(answer);
    if (idle) return judge_idle(lock);
    if (!policy_pending) finish_without_policy(lock);
  }

  void on_heuristic_dropped() {
    std::unique_lock lock(mutex);
    if (answered || policy_pending) return;
    if (!idle) return finish_without_policy(lock);
    fail(pb::NONE, "");
    finish(lock, std::move(*idle), pb::POLICY, current.name);
  }

  // ---- on the alarm's thread, or one that drops waiting work

  void on_deadline() {
    std::unique_lock lock(mutex);
    if (answered) return;
    if (read == nullptr) {
      fail(pb::DEADLINE, "the request waited too long to be read");
    } else if (policy_pending) {
      if (recall != pb::LoggedDecision::NOT_BEGUN) count_of_policy(true);
      fail(pb::DEADLINE, "the policy exceeded the deadline");
    } else if (idle) {
      fail(pb::NONE, "");
      return finish(lock, std::move(*idle), pb::POLICY, current.name);
    }
    finish_without_policy(lock);
  }

  void on_unread_dropped() {
    std::unique_lock lock(mutex);
    if (answered) return;
    fail(pb::QUEUE_FULL, "too many requests wait to be read");
    finish_without_policy(lock);
  }

  // ---- each ends the call. Requires: the lock, and no answer yet.

  void finish_without_policy(std::unique_lock<std::mutex>& lock) {
    if (heuristic && heuristic->reason == pb::NONE) {
      finish(lock, std::move(*heuristic), pb::HEURISTIC,
             is_starved ? kForStarved : engine->options_.fallback);
      return;
    }
    if (read != nullptr) {
      detail += detail.empty() ? "" : "; ";
      detail += heuristic ? "the heuristic failed: " + heuristic->detail
                          : "the heuristic exceeded the deadline";
    }
    if (reason == pb::NONE) reason = heuristic ? heuristic->reason : pb::DEADLINE;
    PolicyResult none;
    none.trace.set_probability(1);
    if (read != nullptr) list_quarantined(read->snapshot, none.response);
    finish(lock, std::move(none), pb::SAFE_DEFAULT, "");
  }

  void finish(std::unique_lock<std::mutex>& lock, PolicyResult&& answer, pb::Source source,
              const std::string& by) {
    pb::DecideResponse& response = answer.response;
    response.set_decision_id(std::to_string(engine->first_id_) + "-" +
                             std::to_string(++engine->ids_));
    response.set_request_id(read == nullptr ? in.request_id : read->request->request_id());
    response.set_source(source);
    response.set_reason(reason);
    response.set_detail(detail);
    response.set_model(current.name);
    response.set_model_digest(current.digest);
    response.set_decided_by(by);
    response.set_rebuilt(answer.rebuilt);
    response.set_valid_for_s(engine->options_.valid_s);
    if (read != nullptr && read->request->has_state_version()) {
      response.set_state_version(read->request->state_version());
    }
    pb::Timings& timings = *response.mutable_timings();
    timings.set_queue_ms(queue_ms);
    timings.set_read_ms(read_ms);
    timings.set_policy_ms(policy_ms);
    timings.set_guard_ms(answer.guard_ms);
    timings.set_heuristic_ms(heuristic ? heuristic->elapsed_ms : 0);
    timings.set_total_ms(ms_since(begin));
    if (read == nullptr) {
      engine->on_served_({nullptr, response, answer.trace, nullptr, in.traceparent, recall});
    } else {
      engine->preemptions_.count(*read->request, in.client, response);
      engine->on_served_({read->request, response, answer.trace, &read->snapshot.bounds(),
                          in.traceparent, recall});
    }
    const auto done = std::move(in.done);
    end();
    lock.unlock();
    done(std::move(response));
  }

  void refuse(std::unique_lock<std::mutex>& lock, const std::string& why) {
    if (answered) return;
    const auto refuse = std::move(in.refuse);
    end();
    lock.unlock();
    refuse(why);
  }

  // The sender has gone: the answer goes nowhere, and is not logged.
  void give_up(std::unique_lock<std::mutex>& lock) {
    const auto done = std::move(in.done);
    end();
    lock.unlock();
    done({});
  }

  void end() {
    answered = true;
    // The alarm outlives the calls with a deadline in it: that goes last.
    if (heuristic_alarm) engine->alarm_.cancel(*heuristic_alarm);
    engine->alarm_.cancel(*deadline_alarm);
    for (auto* ticket : {&policy_ticket, &heuristic_ticket, &reading_ticket}) {
      if (*ticket != nullptr) (*ticket)->abandon();
    }
    --engine->pending_;
  }
};

Engine::Engine(const EngineOptions& options, const ModelStore& models, OnServed on_served)
    : options_(options),
      models_(models),
      on_served_(std::move(on_served)),
      fallback_(open_servable(options.fallback).policy),
      for_starved_(open_servable(kForStarved).policy),
      memories_(std::make_shared<MemoryStore>(options.max_memories, options.max_memory_bytes)),
      states_(options.max_states, options.max_state_bytes),
      preemptions_(options.preemptions, kMaxClusters),
      idle_(options.max_idle_s, kMaxClusters),
      first_id_(static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                      std::chrono::microseconds(1))),
      policies_({.threads = options.threads, .max_waiting = options.max_waiting}),
      heuristics_({.threads = kHeuristicThreads, .max_waiting = options.max_unread}),
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
  return begin + std::min(clock_ms(std::min(budget_ms, kMaxBudgetMs)), most);
}

std::array<Engine::Queue, 3> Engine::queues() const {
  return {{{"reading", reading_.waiting(), options_.max_unread},
           {"policy", policies_.waiting(), options_.max_waiting},
           {"heuristic", heuristics_.waiting(), options_.max_unread}}};
}

Breaker& Engine::breaker_of(const std::string& model, const std::string& digest) {
  const std::lock_guard lock(breakers_mutex_);
  return breakers_.try_emplace(model + '\n' + digest, options_.breaker).first->second;
}

uint64_t Engine::breakers_opened() const {
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
  call->reading_ticket =
      reading_.submit({call->in.client, call->in.bytes, [call] { call->read_and_decide(); },
                       call->later([call] { call->on_unread_dropped(); })});
  if (call->reading_ticket != nullptr) return;
  call->fail(pb::QUEUE_FULL, "too many requests wait to be read");
  call->finish_without_policy(lock);
}

}  // namespace yard
