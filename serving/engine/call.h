// One request in progress.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "serving/engine/engine.h"
#include "serving/snapshot/snapshot.h"

namespace yard {

// The threads that read it, run the policy or the heuristic, and the alarm
// share it, since any of them may be the last to use it. The first with a valid answer sends it.
struct Engine::Call : std::enable_shared_from_this<Engine::Call> {
  Call(Engine& owner, IncomingRequest&& incoming) : engine(&owner), in(std::move(incoming)) {}

  // What only depends on the request; shared with work that hangs.
  struct ReadRequest {
    ReadRequest(StoredState stored, PreemptionBounds bounds)
        : request(std::move(stored.state)),
          history(std::move(stored.history)),
          snapshot(*request, std::move(bounds)) {}
    const std::shared_ptr<const pb::DecideRequest> request;
    const std::shared_ptr<const StateHistory> history;
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
  std::shared_ptr<const ReadRequest> read;  // null: not read yet
  ModelStore::Current current;              // the version that decides
  ModelStore::Current shadow;               // a version whose decision is compared with the answer
  double queue_ms = 0, read_ms = 0, policy_ms = 0;
  bool policy_pending = false;
  // Of the policy, once it waits no longer; without the lock.
  std::atomic<pb::LoggedDecision::Recall> recall = pb::LoggedDecision::NOT_BEGUN;
  bool heuristic_begun = false;
  Breaker* breaker = nullptr;  // of the policy that decides
  bool is_starved = false;     // a job has waited too long
  // The policy's answer, if the policy has left GPUs idle for too long.
  std::optional<PolicyResult> idle;
  pb::Reason reason = pb::NONE;
  std::string detail;
  std::string answer_key;  // under which the answer is kept; empty: it is not kept
  std::optional<PolicyResult> heuristic;
  std::shared_ptr<WorkPool::Ticket> policy_ticket, heuristic_ticket, reading_ticket;
  std::optional<CallbackTimer::Key> deadline_alarm, heuristic_alarm;

  // Sets why another decider than the policy answers.
  void fail(pb::Reason why, std::string words);

  // A pool drops work of one call while another is locked: what follows is left to the alarm.
  std::function<void()> later(std::function<void()> call) const;

  // ---- on a thread of the reading pool, or of the policy pool, which then runs the policy, too
  void read_and_decide(bool on_policy_thread);
  // Whether an earlier request with the same id and content answers this one, now or later. Throws
  // InputError if the id belongs to a request with another content.
  bool is_repeated(const pb::DecideRequest& request);
  void require_fresh(const pb::DecideRequest& request) const;  // throws MissingState
  // The key of the memory that a version of the model has of the cluster.
  std::string memory_key(const ModelStore::Current& version) const;
  // These four require the lock.
  void choose_policy();
  std::function<void()> make_policy_work();  // runs the policy and hands over its plan
  void set_alarms();
  void begin_heuristic(std::unique_lock<std::mutex>& lock);

  // ---- on a thread of the other pools
  bool is_answered();
  void on_policy_result(PolicyResult&& answer);
  void record_policy_outcome(bool failed) const;  // for the breaker
  // The policy is right if the heuristic has no use for the idle GPUs either. Requires: both
  // answers.
  void judge_idle_gpus(std::unique_lock<std::mutex>& lock);
  void on_policy_dropped();
  void on_heuristic_result(PolicyResult&& answer);
  void on_heuristic_dropped();

  // ---- on the alarm's thread, or one that drops waiting work
  void on_deadline();
  void on_unread_dropped();

  // ---- each ends the call. Those with a lock require that there is no answer yet.
  void finish_without_policy(std::unique_lock<std::mutex>& lock);
  void finish(std::unique_lock<std::mutex>& lock, PolicyResult&& answer, pb::Source source,
              const std::string& by);
  // Answers as an equal request was answered.
  void send_repeated_answer(const pb::DecideResponse& answer);
  void refuse(int code, const std::string& why);
  // The sender has gone: the answer goes nowhere, and is not logged.
  void end_unanswered(std::unique_lock<std::mutex>& lock);

  void end();  // requires the lock
  // Keeps the decision for explanations. Returns the decisions that are no longer kept.
  std::vector<std::shared_ptr<const RecentDecision>> keep_for_explanations(
      const pb::DecideResponse& answer, pb::Source source) const;
  // Compares the decision of a shadow with the answer, once there is time.
  void try_shadow(const pb::DecideResponse& answer) const;
};

}  // namespace yard
