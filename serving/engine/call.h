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

// The alarm and the threads that read the request or run the policy or the heuristic share the
// call, since any of them may be the last to use it. The first with a valid answer sends it.
struct Engine::Call : std::enable_shared_from_this<Engine::Call> {
  Call(Engine& owner, IncomingRequest&& incoming) : engine(&owner), in(std::move(incoming)) {}

  // The request and what depends on it alone; shared with work that hangs.
  struct PreparedRequest {
    PreparedRequest(StoredState stored, PreemptionBounds bounds)
        : request(std::move(stored.state)),
          history(std::move(stored.history)),
          snapshot(*request, std::move(bounds), stored.readings) {}
    const std::shared_ptr<const pb::DecideRequest> request;
    const std::shared_ptr<const StateHistory> history;
    const Snapshot snapshot;
    size_t size() const {
      return static_cast<size_t>(request->jobs_size() + request->nodes_size());
    }
  };

  // May be destroyed once an answer was sent: after that, threads only release the call.
  Engine* const engine;
  IncomingRequest in;
  const Clock::time_point begin = Clock::now();
  Clock::time_point answer_by;

  std::mutex mutex;  // guards all members below, except `recall`
  bool answered = false;
  std::shared_ptr<const PreparedRequest> read;  // null: not read yet
  ModelStore::ModelVersion current;             // the version that decides
  ModelStore::ModelVersion shadow;  // a version whose decision is compared with the answer
  double queue_ms = 0, read_ms = 0, policy_ms = 0;
  bool policy_pending = false;
  // Whether the policy has begun, and with what memory; needs no lock.
  std::atomic<pb::LoggedDecision::Recall> recall = pb::LoggedDecision::NOT_BEGUN;
  bool heuristic_begun = false;
  Breaker* breaker = nullptr;  // of the policy that decides
  bool is_starved = false;     // a job has waited too long
  // The policy's answer, if the policy has left GPUs idle for too long.
  std::optional<PolicyResult> idle;
  pb::Reason reason = pb::NONE;
  std::string detail;
  std::string answer_key;  // key of the answer in AnswerStore; empty: the answer is not kept
  std::optional<PolicyResult> heuristic;
  std::shared_ptr<WorkPool::Ticket> policy_ticket, heuristic_ticket, reading_ticket;
  std::optional<CallbackTimer::Key> deadline_alarm, heuristic_alarm;

  // Sets why another decider than the policy answers.
  void fail(pb::Reason why, std::string words);

  // Returns a function that lets the alarm's thread run `call`, since a pool may drop the work of
  // one call while another call is locked.
  std::function<void()> later(std::function<void()> call) const;

  // ---- on a thread of the reading pool, or of the policy pool, which then runs the policy, too
  void read_and_decide(bool on_policy_thread);
  // Returns whether the answer to an earlier request with the same id and content answers this one,
  // now or later. Throws InputError if the id belongs to a request with another content.
  bool is_repeated(const pb::DecideRequest& request);
  void require_fresh(const pb::DecideRequest& request) const;  // throws MissingState
  // Returns the key of the memory that a version of the model has of the cluster.
  std::string memory_key(const ModelStore::ModelVersion& version) const;
  // The four functions below require the lock.
  void choose_policy();
  std::function<void()> make_policy_work();  // returns work that runs the policy
  void set_alarms();
  void begin_heuristic(std::unique_lock<std::mutex>& lock);

  // ---- on a thread of the other pools
  bool is_answered();
  void on_policy_result(PolicyResult&& answer);
  void record_policy_outcome(bool failed) const;  // for the breaker
  // Sends the policy's answer if the heuristic has no use for the idle GPUs either, else the
  // heuristic's answer. Requires: both answers.
  void choose_answer_by_idle_gpus(std::unique_lock<std::mutex>& lock);
  void on_policy_dropped();
  void on_heuristic_result(PolicyResult&& answer);
  void on_heuristic_dropped();

  // ---- on the alarm's thread, or one that drops waiting work
  void on_deadline();
  void on_unread_dropped();

  // ---- functions that end the call; those that take a lock require that no answer was sent yet
  void finish_without_policy(std::unique_lock<std::mutex>& lock);
  void finish(std::unique_lock<std::mutex>& lock, PolicyResult&& answer, pb::Source source,
              const std::string& by);
  // Sends the answer that an equal request got.
  void send_repeated_answer(const pb::DecideResponse& answer);
  void refuse(int code, const std::string& why);
  // Ends the call without an answer or a log record, because the sender has gone.
  void end_unanswered(std::unique_lock<std::mutex>& lock);

  void end();  // requires the lock
  // Keeps the decision for explanations. Returns the decisions that are no longer kept.
  std::vector<std::shared_ptr<const RecentDecision>> keep_for_explanations(
      const pb::DecideResponse& answer, pb::Source source) const;
  // Queues a comparison of the shadow's decision with the answer.
  void queue_shadow_comparison(const pb::DecideResponse& answer) const;
};

}  // namespace yard
