// The last states of clusters whose managers send deltas, bounded in number and bytes. The state
// that was not used for longest goes first. Thread-safe.
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

// The name of a request's cluster. Two senders which name none have two clusters.
std::string cluster_key(const pb::DecideRequest& request, const std::string& sender);

class StateStore {
 public:
  using State = std::shared_ptr<const pb::DecideRequest>;

  StateStore(size_t max_count, size_t max_bytes) : max_count_(max_count), max_bytes_(max_bytes) {}

  // Returns the state after a request: the request itself, or what its delta makes of an earlier
  // one. `sender`: names the cluster, if the request does not. Throws MissingState, and InputError
  // for a delta that contradicts itself.
  State state_after(State request, const std::string& sender);
  // Keeps a state that makes sense, if it has a version.
  void keep(State state, const std::string& sender);

 private:
  struct Entry {
    std::string key;
    State state;
    size_t bytes;
  };

  const size_t max_count_, max_bytes_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last is first
  size_t bytes_ = 0;
};

}  // namespace yard
