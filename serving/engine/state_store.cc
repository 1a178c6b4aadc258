#include "serving/engine/state_store.h"

#include <algorithm>
#include <iterator>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "env/base/core/error.h"
#include "serving/snapshot/delta.h"

namespace yard {
namespace {

constexpr int kMaxDeltas = 64;

}  // namespace

std::string cluster_key(const pb::DecideRequest& request, const std::string& sender) {
  return request.cluster().empty() ? "\n" + sender : request.cluster();
}

StateHistory::StateHistory(Message full)
    : message_(std::move(full)),
      num_deltas_(0),
      full_bytes_(message_->ByteSizeLong()),
      bytes_(full_bytes_) {}

StateHistory::StateHistory(std::shared_ptr<const StateHistory> before, Message delta)
    : before_(std::move(before)),
      message_(std::move(delta)),
      num_deltas_(before_->num_deltas_ + 1),
      full_bytes_(before_->full_bytes_),
      bytes_(before_->bytes_ + message_->ByteSizeLong()) {}

bool StateHistory::has_room_for(size_t delta_bytes) const {
  return num_deltas_ < kMaxDeltas && bytes_ + delta_bytes <= 2 * full_bytes_;
}

StateHistory::Message StateHistory::state() const {
  if (before_ == nullptr) return message_;
  std::vector<const pb::DecideRequest*> deltas;
  const StateHistory* at = this;
  for (; at->before_ != nullptr; at = at->before_.get()) deltas.push_back(at->message_.get());
  const std::shared_ptr<pb::DecideRequest> out = copy_state(*at->message_);
  for (auto delta = deltas.rbegin(); delta != deltas.rend(); ++delta)
    apply_delta_in_place(*out, **delta);
  return out;
}

// The stored states. A state is shared with its readers, or exclusive and may then be changed.
class StateStore::Entries : public std::enable_shared_from_this<Entries> {
 public:
  struct MutableState {
    std::shared_ptr<pb::DecideRequest> message;  // null: none
    std::unique_ptr<SnapshotReadings> readings;  // of the message
  };

  Entries(size_t max_count, size_t max_bytes) : max_count_(max_count), max_bytes_(max_bytes) {}

  // A stored state which a delta changes.
  struct Base {
    std::shared_ptr<const StateHistory> history;
    MutableState exclusive;  // the state, taken out of the store; none: it has to be copied
    State shared;            // the state, which others read; null, too: it has to be rebuilt
  };
  // Throws MissingState if no state of the version is stored.
  Base take(const std::string& key, uint64_t version) {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find(list_, key, &Entry::key);
    if (it == list_.end() || it->history->version() != version) {
      throw MissingState("send a full snapshot: this server has " +
                         (it == list_.end() ? std::string("no state of the cluster")
                                            : "version " + std::to_string(it->history->version())) +
                         ", not version " + std::to_string(version));
    }
    return {it->history, std::move(it->exclusive), it->shared.lock()};
  }

  // Makes a state exclusive, if it is still stored with this history.
  void put_back(const std::string& key, const StateHistory* history, MutableState&& state) {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find(list_, key, &Entry::key);
    if (it != list_.end() && it->history.get() == history) it->exclusive = std::move(state);
  }

  // Replaces the history of a state that is still stored with the history `before`.
  void replace_history(const std::string& key, const StateHistory* before,
                       std::shared_ptr<const StateHistory> by) {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find(list_, key, &Entry::key);
    if (it != list_.end() && it->history.get() == before) it->history.swap(by);
  }

  // Returns the state for readers. When the last of them drops it, it becomes exclusive.
  StoredState share(std::string key, std::shared_ptr<const StateHistory> history,
                    MutableState state) {
    const pb::DecideRequest* const message = state.message.get();
    SnapshotReadings* const readings = state.readings.get();
    // A deleter is copied.
    auto shared = std::make_shared<MutableState>(std::move(state));
    auto return_state = [entries = weak_from_this(), key = std::move(key), history,
                         state = std::move(shared)](const pb::DecideRequest*) {
      if (const auto still = entries.lock()) still->put_back(key, history.get(), std::move(*state));
    };
    return {State(message, std::move(return_state)), std::move(history), readings};
  }

  void add(const std::string& key, const StoredState& valid) {
    // A state with deltas lies beside the full snapshot of its history, as do its readings.
    const size_t bytes = valid.history->bytes() * (valid.history->num_deltas() > 0 ? 2 : 1) +
                         (valid.readings == nullptr ? 0 : valid.readings->bytes());
    std::list<Entry> dropped;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    erase(key, dropped);
    list_.push_front({key, valid.history, valid.state, {}, bytes});
    bytes_ += bytes;
    while (list_.size() > max_count_ || (bytes_ > max_bytes_ && !list_.empty())) {
      bytes_ -= list_.back().bytes;
      dropped.splice(dropped.end(), list_, std::prev(list_.end()));
    }
  }

  std::shared_ptr<const StateHistory> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto it = std::ranges::find(list_, key, &Entry::key);
    return it == list_.end() ? nullptr : it->history;
  }

  void forget(const std::string& key) {
    std::list<Entry> dropped;
    const std::lock_guard lock(mutex_);
    erase(key, dropped);
  }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<const StateHistory> history;
    std::weak_ptr<const pb::DecideRequest> shared;  // the state, while it is read
    MutableState exclusive;                         // the state, once it has no readers
    size_t bytes;
  };

  // Requires the lock.
  void erase(const std::string& key, std::list<Entry>& dropped) {
    const auto it = std::ranges::find(list_, key, &Entry::key);
    if (it == list_.end()) return;
    bytes_ -= it->bytes;
    dropped.splice(dropped.end(), list_, it);
  }

  const size_t max_count_, max_bytes_;
  std::mutex mutex_;
  std::list<Entry> list_;  // the entry used last comes first
  size_t bytes_ = 0;
};

StateStore::StateStore(size_t max_count, size_t max_bytes)
    : entries_(std::make_shared<Entries>(max_count, max_bytes)) {}

StoredState StateStore::state_after(State request, const std::string& sender) {
  if (!request->has_base_version()) {
    auto history = std::make_shared<const StateHistory>(request);
    return {std::move(request), std::move(history)};
  }
  const uint64_t version = request->base_version();
  if (!request->has_state_version() || request->state_version() <= version) {
    throw InputError(
        "state_version", "above base_version (" + std::to_string(version) + ")",
        request->has_state_version() ? std::to_string(request->state_version()) : "none");
  }
  const std::string key = cluster_key(*request, sender);
  Entries::Base base = entries_->take(key, version);
  Entries::MutableState next = std::move(base.exclusive);
  if (next.message == nullptr) {
    ++copies_;
    if (base.shared == nullptr) {
      base.shared = base.history->state();
      // So that no other delta of this state rebuilds it.
      auto rebuilt = std::make_shared<const StateHistory>(base.shared);
      entries_->replace_history(key, base.history.get(), rebuilt);
      base.history = std::move(rebuilt);
    }
    next = {copy_state(*base.shared), std::make_unique<SnapshotReadings>()};
  }
  try {
    next.readings->follow(apply_delta_in_place(*next.message, *request));
  } catch (const InputError&) {
    entries_->put_back(key, base.history.get(), std::move(next));
    throw;
  }
  if (!base.history->has_room_for(request->ByteSizeLong())) {
    // A copy, without what replaced records left behind in the arena.
    const State full = copy_state(*next.message);
    return {full, std::make_shared<const StateHistory>(full)};
  }
  auto history = std::make_shared<const StateHistory>(std::move(base.history), std::move(request));
  return entries_->share(key, std::move(history), std::move(next));
}

void StateStore::keep(const StoredState& valid, const std::string& sender) {
  if (valid.state->has_state_version()) entries_->add(cluster_key(*valid.state, sender), valid);
}

StateStore::State StateStore::find(const std::string& key) {
  const auto history = entries_->find(key);
  return history == nullptr ? nullptr : history->state();
}

void StateStore::forget(const std::string& key) { entries_->forget(key); }

}  // namespace yard
