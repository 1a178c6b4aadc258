// The latest state of each cluster whose manager sends deltas, bounded in number and bytes. The
// least recently used state is dropped first. Thread-safe.
//
// A delta changes the stored state in place if no reader holds that state, which saves a copy of
// the whole state. Earlier states are rebuilt from their deltas, where they are needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "serving/snapshot/messages.h"
#include "serving/snapshot/snapshot_readings.h"

namespace yard {

// The server lacks the state that a delta changes: the manager has to send a full snapshot.
class MissingState : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Returns the name of a request's cluster. A sender which names no cluster counts as a cluster.
std::string cluster_key(const pb::DecideRequest& request, const std::string& sender);

// How a state came about: a full snapshot, and the deltas that changed it.
class StateHistory {
 public:
  using Message = std::shared_ptr<const pb::DecideRequest>;

  explicit StateHistory(Message full);
  StateHistory(std::shared_ptr<const StateHistory> before, Message delta);

  // Returns the state, which is rebuilt if there are deltas.
  Message state() const;

  // Returns whether a delta of so many bytes may follow. Else the state should become the full
  // snapshot of a new history: that bounds the memory and the time to rebuild a state.
  bool has_room_for(size_t delta_bytes) const;

  uint64_t version() const { return message_->state_version(); }
  int num_deltas() const { return num_deltas_; }
  size_t bytes() const { return bytes_; }  // of the full snapshot and of all deltas

 private:
  std::shared_ptr<const StateHistory> before_;  // null: `message_` is the full snapshot
  Message message_;
  int num_deltas_;
  size_t full_bytes_, bytes_;
};

struct StoredState {
  std::shared_ptr<const pb::DecideRequest> state;
  std::shared_ptr<const StateHistory> history;
  // What was read of the state before, for a single reader; null: nothing. Lives as long as
  // `state`.
  SnapshotReadings* readings = nullptr;
};

class StateStore {
 public:
  using State = std::shared_ptr<const pb::DecideRequest>;

  StateStore(size_t max_count, size_t max_bytes);

  // Returns the state after a request: a full snapshot itself, or the stored state with a delta
  // applied. `sender` names the cluster if the request does not. Throws MissingState if the state
  // which a delta changes is not stored, and InputError for a delta that contradicts itself.
  StoredState state_after(State request, const std::string& sender);
  // Stores a valid state, for later deltas, if it has a version.
  void keep(const StoredState& valid, const std::string& sender);

  // Returns the stored state of a cluster, whose key is that of cluster_key(), rebuilt if there are
  // deltas; null: none.
  State find(const std::string& key);
  // Drops the stored state of a cluster, if there is one.
  void forget(const std::string& key);

  // Returns the number of deltas for which a state was copied.
  uint64_t copies() const { return copies_.load(); }

 private:
  class Entries;
  std::shared_ptr<Entries> entries_;  // shared: a state returns when its last reader drops it
  std::atomic<uint64_t> copies_ = 0;
};

}  // namespace yard
