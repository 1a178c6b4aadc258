#include "serving/engine/state_store.h"

#include <algorithm>
#include <utility>

#include "env/base/core/error.h"
#include "serving/snapshot/delta.h"

namespace yard {

std::string cluster_key(const pb::DecideRequest& request, const std::string& sender) {
  return request.cluster().empty() ? "\n" + sender : request.cluster();
}

StateStore::State StateStore::state_after(State request, const std::string& sender) {
  if (!request->has_base_version()) return request;
  const uint64_t base = request->base_version();
  if (!request->has_state_version() || request->state_version() <= base) {
    throw InputError(
        "state_version", "above base_version (" + std::to_string(base) + ")",
        request->has_state_version() ? std::to_string(request->state_version()) : "none");
  }
  const State before = find(cluster_key(*request, sender));
  if (before == nullptr || before->state_version() != base) {
    throw MissingState("send a full snapshot: this server has " +
                       (before == nullptr ? std::string("no state of the cluster")
                                          : "version " + std::to_string(before->state_version())) +
                       ", not version " + std::to_string(base));
  }
  return apply_delta(*before, *request);
}

void StateStore::keep(State state, size_t bytes, const std::string& sender) {
  if (!state->has_state_version()) return;
  const std::string key = cluster_key(*state, sender);
  const std::lock_guard lock(mutex_);
  erase(key);
  entries_.push_front({key, std::move(state), bytes});
  bytes_ += bytes;
  while (entries_.size() > max_count_ || (bytes_ > max_bytes_ && !entries_.empty())) {
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
}

StateStore::State StateStore::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto it = std::ranges::find(entries_, key, &Entry::key);
  return it == entries_.end() ? nullptr : it->state;
}

void StateStore::forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  erase(key);
}

void StateStore::erase(const std::string& key) {
  const auto it = std::ranges::find(entries_, key, &Entry::key);
  if (it == entries_.end()) return;
  bytes_ -= it->bytes;
  entries_.erase(it);
}

}  // namespace yard
