// The latest state of each cluster whose manager sends deltas, bounded in number and bytes. The
// least recently used state is dropped first. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "serving/snapshot/messages.h"

namespace yard {

// The server lacks the state that a delta changes: the manager has to send a full snapshot.
class MissingState : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the name of a request's cluster. A sender which names no cluster counts as a cluster.
std::string cluster_key(const pb::DecideRequest& request, const std::string& sender);

class StateStore {
 public:
  using State = std::shared_ptr<const pb::DecideRequest>;

  StateStore(size_t max_count, size_t max_bytes) : max_count_(max_count), max_bytes_(max_bytes) {}

  // Returns the state after a request: a full snapshot itself, or the stored state with a delta
  // applied. `sender` names the cluster if the request does not. Throws MissingState if the state
  // which a delta changes is not stored, and InputError for a delta that contradicts itself.
  State state_after(State request, const std::string& sender);
  // Stores a valid state of `bytes` bytes, for later deltas, if it has a version.
  void keep(State state, size_t bytes, const std::string& sender);

  // Returns the stored state of a cluster, whose key is that of cluster_key(); null: none.
  State find(const std::string& key);
  // Drops the stored state of a cluster, if there is one.
  void forget(const std::string& key);

 private:
  struct Entry {
    std::string key;
    State state;
    size_t bytes;
  };

  void erase(const std::string& key);  // requires the lock

  const size_t max_count_, max_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the entry used last comes first
  size_t bytes_ = 0;
};

}  // namespace yard
