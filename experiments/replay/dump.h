// Writes the whole state at chosen moments: each job's placement and why waiting jobs wait. State
// changes only at events. The last event before a moment is known only after the next event. A
// first replay therefore counts events, and an identical second replay writes the states.
//
//   StateDumper moments({3600 * kSecond});
//   ... first replay, each decision:  moments.note(state) ...
//   ... second replay, each decision: moments.dump(scenario, fixed, state, placement, out) ...
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/metrics/why_waiting.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// Returns the state at `at_us`. Requires: no event between state.head->now_us and `at_us`.
nlohmann::ordered_json dump_state(const Scenario& scenario, const SimModel& fixed,
                                  const SimState& state, PlacementRule placement, int64_t at_us);

class StateDumper {
 public:
  // Requires: increasing times.
  explicit StateDumper(std::vector<int64_t> at_us) : at_us_(std::move(at_us)) {}

  // Clears the counts, for another policy.
  void begin();
  // Call on every decision of the first replay.
  void note(const SimState& state);
  // Ends the first replay. Later moments show the final state, in which all jobs have ended.
  void end(int64_t end_us);
  // Throws InputError, naming `option`, for a moment outside the replays so far.
  void check(const char* option) const;

  // Call on every decision of the second replay. Appends the state to `out` after the last decision
  // before a moment.
  void dump(const Scenario& scenario, const SimModel& fixed, const SimState& state,
            PlacementRule placement, nlohmann::ordered_json& out);

 private:
  std::vector<int64_t> at_us_;
  std::vector<int64_t>
      last_decision_;  // (moments)  time of the last decision at or before each moment
  int64_t first_us_ = kNever, end_us_ = 0;  // first decision and last end, over all replays
  int64_t decisions_ = 0, second_decisions_ = 0;
};

}  // namespace yard
