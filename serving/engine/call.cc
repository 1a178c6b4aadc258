#include "serving/engine/call.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "policies/decision_trace.h"
#include "serving/engine/grpc_codes.h"
#include "serving/snapshot/required_fields.h"
#include "serving/snapshot/starvation.h"
#include "serving/snapshot/workload.h"

namespace yard {
namespace {

using Ms = std::chrono::duration<double, std::milli>;

// The heuristic begins so many times its usual duration before the deadline, and at least so early.
constexpr double kHeuristicReserve = 4;
constexpr double kMinReserveMs = 3;
constexpr const char* kNotRead =
    "an equal request with this id was not read in time: send it again";

double ms_since(Engine::Clock::time_point begin) {
  return Ms(Engine::Clock::now() - begin).count();
}

Engine::Clock::duration clock_ms(double ms) {
  return std::chrono::duration_cast<Engine::Clock::duration>(Ms(ms));
}

}  // namespace

void Engine::Call::fail(pb::Reason why, std::string words) {
  reason = why;
  detail = std::move(words);
}

std::function<void()> Engine::Call::later(std::function<void()> call) const {
  return [on = engine, call = std::move(call)] { on->alarm_.at(Clock::now(), call); };
}

void Engine::Call::read_and_decide(bool on_policy_thread) {
  std::shared_ptr<WorkPool::Ticket> own_ticket;
  {
    std::unique_lock lock(mutex);
    if (answered) return;
    own_ticket = std::exchange(reading_ticket, nullptr);
    queue_ms = ms_since(begin);
    if (in.cancelled && in.cancelled()) return end_unanswered(lock);
    const double needed_ms = engine->reading_time_.of(in.bytes);
    if (Clock::now() + clock_ms(needed_ms) >= answer_by) {
      fail(pb::DEADLINE, "no time is left to read the request");
      return finish_without_policy(lock);
    }
  }
  const Clock::time_point started = Clock::now();
  std::shared_ptr<const PreparedRequest> done;
  try {
    const std::shared_ptr<pb::DecideRequest> request = in.read();
    if (is_repeated(*request)) return;
    engine->registrations_.restrict_to_capabilities(*request);
    require_fresh(*request);
    StoredState after = engine->states_.state_after(request, in.client);
    PreemptionBounds bounds = engine->preemptions_.bounds_of(*after.state, in.client);
    SnapshotReadings* const readings = after.readings;
    done = std::make_shared<const PreparedRequest>(std::move(after), std::move(bounds));
    engine->states_.keep({done->request, done->history, readings}, in.client);
  } catch (const MissingState& missing) {
    std::unique_lock lock(mutex);
    if (answered) return;
    fail(pb::STALE_STATE, missing.what());
    return finish_without_policy(lock);
  } catch (const StaleRegistration& error) {
    return refuse(kFailedPrecondition, error.what());
  } catch (const std::exception& error) {
    return refuse(kInvalidArgument, error.what());
  }
  engine->reading_time_.add(in.bytes, ms_since(started));
  std::unique_lock lock(mutex);
  if (answered) return;
  read_ms = ms_since(started);
  read = std::move(done);
  in.read = nullptr;  // the bytes are no longer needed
  choose_policy();
  set_alarms();
  if (on_policy_thread) own_ticket->charge_client(read->size());
  if (policy_pending && on_policy_thread) {
    policy_ticket = std::move(own_ticket);
    const std::function<void()> work = make_policy_work();
    lock.unlock();
    return work();
  }
  if (policy_pending) {
    policy_ticket = engine->policies_.submit(
        {in.client, read->size(), make_policy_work(),
         later([call = shared_from_this()] { call->on_policy_dropped(); })});
    if (policy_ticket != nullptr) return;
    policy_pending = false;
    fail(pb::QUEUE_FULL, "too many decisions are queued or stuck");
  }
  begin_heuristic(lock);
}

bool Engine::Call::is_repeated(const pb::DecideRequest& request) {
  if (request.request_id().empty()) return false;
  const std::string key = cluster_key(request, in.client) + '\n' + request.request_id();
  const auto found = engine->answers_.find_or_begin(
      key, sha256_hex(request.SerializeAsString()), Clock::now(),
      [call = shared_from_this()](const AnswerStore::Answer& answer, const pb::Refusal& refusal) {
        if (answer == nullptr) return call->refuse(refusal.code(), refusal.message());
        call->send_repeated_answer(*answer);
      });
  switch (found.match) {
    case AnswerStore::Match::kNone: {
      std::unique_lock lock(mutex);
      const bool late = answered;
      if (!late) answer_key = key;
      lock.unlock();
      if (late) engine->answers_.refuse(key, refusal_of(kUnavailable, kNotRead));
      return late;
    }
    case AnswerStore::Match::kAnswered:
      send_repeated_answer(*found.answer);
      return true;
    case AnswerStore::Match::kInProgress:
      return true;
    case AnswerStore::Match::kDifferent:
      break;
  }
  // Senders that cannot be distinguished may use the same ids.
  if (request.cluster().empty() && !in.is_client_known) return false;
  throw InputError("request_id", "an id of its own for each request",
                   "'" + shortened(request.request_id()) + "', the id of another request");
}

void Engine::Call::send_repeated_answer(const pb::DecideResponse& answer) {
  std::unique_lock lock(mutex);
  if (answered) return;
  ++engine->repeated_;
  const auto done = std::move(in.done);
  end();
  lock.unlock();
  done(pb::DecideResponse(answer));
}

void Engine::Call::require_fresh(const pb::DecideRequest& request) const {
  const double most_s = engine->options_.max_age_s;
  const double age_s = request.age_s() + ms_since(begin) * 1e-3;
  if (!request.has_age_s() || most_s <= 0 || age_s <= most_s) return;
  throw MissingState(
      fmt::format("send a new snapshot: this one is {:.1f} s old, of at most {:g}", age_s, most_s));
}

std::string Engine::Call::memory_key(const ModelStore::ModelVersion& version) const {
  return read->request->cluster() + '\n' + version.name + '\n' + version.digest;
}

void Engine::Call::choose_policy() {
  const EngineOptions& options = engine->options_;
  const pb::DecideRequest& request = *read->request;
  ModelCatalog::Choice choice =
      engine->models_.choose(request.model(), request.cluster(), request.time_s());
  current = std::move(choice.decider);
  shadow = std::move(choice.shadow);
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
  const std::string missing = missing_field(current.model->snapshot_fields, request);
  if (!missing.empty()) {
    return fail(pb::FEATURE_MISSING, "the policy needs " + missing + ", which no job has");
  }
  const Envelope& envelope = current.model->envelope;
  if (options.envelope_tolerance > 0 && !envelope.empty()) {
    std::string outside =
        envelope.why_outside(workload_of(read->snapshot), options.envelope_tolerance);
    if (!outside.empty()) return fail(pb::OUT_OF_DISTRIBUTION, std::move(outside));
  }
  breaker = &engine->breaker_of(current.name, current.digest);
  const Clock::time_point now = Clock::now();
  if (!breaker->admits(now)) return fail(pb::BREAKER_OPEN, breaker->detail(now));
  policy_pending = true;
}

std::function<void()> Engine::Call::make_policy_work() {
  return [call = shared_from_this(), read = read, model = current.model,
          memories = engine->memories_, tracing = engine->options_.tracing,
          key = memory_key(current)] {
    if (call->is_answered()) return;
    auto memory = memories->take_or_create(key, read->snapshot.now_us());
    call->recall = memory->now_us() < 0 ? pb::LoggedDecision::ANEW : pb::LoggedDecision::REMEMBERED;
    PolicyResult result =
        run_policy(*model->policy, read->snapshot, *read->request, tracing, memory.get());
    const bool failed = result.reason == pb::NON_FINITE || result.reason == pb::POLICY_ERROR;
    if (!failed) memories->give_back(key, std::move(memory));
    call->on_policy_result(std::move(result));
  };
}

void Engine::Call::set_alarms() {
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

void Engine::Call::begin_heuristic(std::unique_lock<std::mutex>& lock) {
  if (answered || heuristic_begun) return;
  heuristic_begun = true;
  heuristic_ticket = engine->heuristics_.submit(
      {in.client, read->size(),
       [call = shared_from_this(), read = read, starved = is_starved,
        policy = is_starved ? engine->for_starved_ : engine->fallback_,
        tracing = engine->options_.tracing] {
         if (call->is_answered()) return;
         if (!starved) {
           return call->on_heuristic_result(
               run_policy(*policy, read->snapshot, *read->request, tracing));
         }
         call->on_heuristic_result(
             run_without_blocked_jobs(*policy, read->snapshot, *read->request));
       },
       later([call = shared_from_this()] { call->on_heuristic_dropped(); })});
  if (heuristic_ticket == nullptr && !policy_pending) finish_without_policy(lock);
}

bool Engine::Call::is_answered() {
  const std::lock_guard lock(mutex);
  return answered;
}

void Engine::Call::on_policy_result(PolicyResult&& answer) {
  std::unique_lock lock(mutex);
  if (answered) return;
  policy_ticket = nullptr;
  policy_pending = false;
  policy_ms = answer.elapsed_ms;
  if (answer.reason == pb::NONE) {
    // Rules may reserve GPUs as their operator wants; what is learned may have gone wrong.
    const bool learned = dynamic_cast<const TracedPolicy*>(current.model->policy.get()) != nullptr;
    const double idle_s =
        learned ? engine->idle_.update_idle_s(memory_key(current), *read->request, answer.response)
                : 0;
    if (idle_s > 0) {
      fail(pb::IDLE, fmt::format("the policy has left GPUs idle for {:.0f} s", idle_s));
      idle = std::move(answer);
      return heuristic ? choose_answer_by_idle_gpus(lock) : begin_heuristic(lock);
    }
    record_policy_outcome(false);
    if (answer.limited) fail(pb::PREEMPTION_LIMIT, std::move(answer.detail));
    return finish(lock, std::move(answer), pb::POLICY, current.name);
  }
  record_policy_outcome(true);
  fail(answer.reason, std::move(answer.detail));
  if (heuristic) return finish_without_policy(lock);
  begin_heuristic(lock);
}

void Engine::Call::record_policy_outcome(bool failed) const { breaker->add(failed, Clock::now()); }

void Engine::Call::choose_answer_by_idle_gpus(std::unique_lock<std::mutex>& lock) {
  if (heuristic->reason == pb::NONE && uses_idle_gpus(*read->request, heuristic->response)) {
    record_policy_outcome(true);
    return finish_without_policy(lock);
  }
  engine->idle_.restart(memory_key(current), read->request->time_s());
  record_policy_outcome(false);
  fail(pb::NONE, "");
  finish(lock, std::move(*idle), pb::POLICY, current.name);
}

void Engine::Call::on_policy_dropped() {
  std::unique_lock lock(mutex);
  if (answered) return;
  policy_pending = false;
  fail(pb::QUEUE_FULL, "it gave way to other clients");
  if (heuristic) return finish_without_policy(lock);
  begin_heuristic(lock);
}

void Engine::Call::on_heuristic_result(PolicyResult&& answer) {
  std::unique_lock lock(mutex);
  if (answered) return;
  heuristic_ticket = nullptr;
  engine->heuristic_time_.add(read->size(), answer.elapsed_ms);
  heuristic = std::move(answer);
  if (idle) return choose_answer_by_idle_gpus(lock);
  if (!policy_pending) finish_without_policy(lock);
}

void Engine::Call::on_heuristic_dropped() {
  std::unique_lock lock(mutex);
  if (answered || policy_pending) return;
  if (!idle) return finish_without_policy(lock);
  fail(pb::NONE, "");
  finish(lock, std::move(*idle), pb::POLICY, current.name);
}

void Engine::Call::on_deadline() {
  std::unique_lock lock(mutex);
  if (answered) return;
  if (read == nullptr) {
    fail(pb::DEADLINE, "the request waited too long to be read");
  } else if (policy_pending) {
    if (recall != pb::LoggedDecision::NOT_BEGUN) record_policy_outcome(true);
    fail(pb::DEADLINE, "the policy exceeded the deadline");
  } else if (idle) {
    fail(pb::NONE, "");
    return finish(lock, std::move(*idle), pb::POLICY, current.name);
  }
  finish_without_policy(lock);
}

void Engine::Call::on_unread_dropped() {
  std::unique_lock lock(mutex);
  if (answered) return;
  fail(pb::QUEUE_FULL, "too many requests wait to be read");
  finish_without_policy(lock);
}

void Engine::Call::finish_without_policy(std::unique_lock<std::mutex>& lock) {
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

void Engine::Call::finish(std::unique_lock<std::mutex>& lock, PolicyResult&& answer,
                          pb::Source source, const std::string& by) {
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
  std::vector<std::shared_ptr<const RecentDecision>> dropped;  // destroyed after the answer is sent
  if (read == nullptr) {
    engine->on_served_({nullptr, nullptr, response, answer.trace, nullptr, in.traceparent, recall});
  } else {
    engine->preemptions_.count(*read->request, in.client, response);
    engine->on_served_({read->request, read->history, response, answer.trace,
                        &read->snapshot.bounds(), in.traceparent, recall});
    dropped = keep_for_explanations(response, source);
  }
  const auto done = std::move(in.done);
  const std::string key = std::exchange(answer_key, "");
  // Its manager must send another request, perhaps with the same id.
  const bool is_stale = reason == pb::STALE_STATE;
  end();
  lock.unlock();
  if (!key.empty() && is_stale) {
    engine->answers_.refuse(key, refusal_of(kUnavailable, response.detail()));
  } else if (!key.empty()) {
    engine->answers_.keep(key, std::make_shared<const pb::DecideResponse>(response), Clock::now());
  }
  if (source == pb::POLICY && shadow.model != nullptr) queue_shadow_comparison(response);
  done(std::move(response));
}

void Engine::Call::refuse(int code, const std::string& why) {
  std::unique_lock lock(mutex);
  if (answered) return;
  const auto refuse = std::move(in.refuse);
  const std::string key = std::exchange(answer_key, "");
  end();
  lock.unlock();
  const pb::Refusal refusal = refusal_of(code, why);
  if (!key.empty()) engine->answers_.refuse(key, refusal);
  refuse(refusal);
}

void Engine::Call::end_unanswered(std::unique_lock<std::mutex>& lock) {
  const auto done = std::move(in.done);
  end();
  lock.unlock();
  done({});
}

void Engine::Call::end() {
  answered = true;
  // The alarm outlives the calls with a deadline in it: that goes last.
  if (heuristic_alarm) engine->alarm_.cancel(*heuristic_alarm);
  engine->alarm_.cancel(*deadline_alarm);
  for (auto* ticket : {&policy_ticket, &heuristic_ticket, &reading_ticket}) {
    if (*ticket != nullptr) (*ticket)->abandon();
  }
  --engine->pending_;
}

std::vector<std::shared_ptr<const RecentDecision>> Engine::Call::keep_for_explanations(
    const pb::DecideResponse& answer, pb::Source source) const {
  auto decision = std::make_shared<RecentDecision>();
  decision->history = read->history;
  decision->num_jobs = read->request->jobs_size();
  decision->response = answer;
  if (source == pb::POLICY) decision->model = current.model;
  decision->heuristic = is_starved ? engine->for_starved_ : engine->fallback_;
  return engine->recent_.add(std::move(decision));
}

void Engine::Call::queue_shadow_comparison(const pb::DecideResponse& answer) const {
  using Result = ModelCatalog::ShadowResult;
  const auto count = [on = engine, name = current.name](Result result) {
    on->models_.count_shadow(name, result);
  };
  const auto same = [](const pb::DecideResponse& a, const pb::DecideResponse& b) {
    const auto text = [](const pb::DecideResponse& one) {
      pb::DecideResponse actions;
      *actions.mutable_actions() = one.actions();
      return actions.SerializeAsString();
    };
    return text(a) == text(b);
  };
  const auto ticket =
      engine->aside_.submit({in.client, read->size(),
                             [count, same, answer, read = read, model = shadow.model,
                              memories = engine->memories_, key = memory_key(shadow)] {
                               auto memory = memories->take_or_create(key, read->snapshot.now_us());
                               const PolicyResult result =
                                   run_policy(*model->policy, read->snapshot, *read->request,
                                              Tracing::kNone, memory.get());
                               const bool failed = result.reason != pb::NONE;
                               if (!failed) memories->give_back(key, std::move(memory));
                               count(failed                          ? Result::kFailed
                                     : same(answer, result.response) ? Result::kSame
                                                                     : Result::kDifferent);
                             },
                             [count] { count(Result::kDropped); }});
  if (ticket == nullptr) count(Result::kDropped);
}

}  // namespace yard
