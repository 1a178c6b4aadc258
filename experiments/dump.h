// The whole state at chosen moments, for a person who asks what was where, and why a job waited.
// Between two events nothing but the clock changes; which event is the last before a moment is
// known only when the next has come. So a replay counts them first, and a second one, which is the
// same, is looked at where it matters.
//
//   Moments moments({3600 * kSecond});
//   ... every look: moments.note(state) ...
//   ... again:      moments.dump(scenario, policy, placement, fixed, state) ...
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "env/sim/why_waiting.h"
#include "experiments/scenario.h"

namespace yard {

// The state as it is at `at_us`. Requires: nothing happens between state.head->now_us and then.
nlohmann::ordered_json dump_state(const Scenario& scenario, const Fixed& fixed,
                                  const ClusterState& state, Placement placement, int64_t at_us);

class Moments {
 public:
  // Requires: rising times.
  explicit Moments(std::vector<int64_t> at_us) : at_us_(std::move(at_us)) {}

  // Forgets what was counted, for another policy.
  void begin();
  // Every look of the first replay.
  void note(const ClusterState& state);
  // The replay is over. Moments after it show what is left then: jobs that have ended.
  void end(int64_t end_us);
  // Throws InputError, naming `option`, for a moment that no replay so far has had.
  void check(const char* option) const;

  // Every look of the second; appends to `out` where it is time.
  void dump(const Scenario& scenario, const Fixed& fixed, const ClusterState& state,
            Placement placement, nlohmann::ordered_json& out);

 private:
  std::vector<int64_t> at_us_;
  std::vector<int64_t> look_;               // of each moment: the last one before it
  int64_t first_us_ = kNever, end_us_ = 0;  // of all replays: the first look, the last end
  int64_t looks_ = 0, again_ = 0;
};

}  // namespace yard
