// Writes the whole state at chosen moments: each job's placement and why waiting jobs wait. The
// state changes only at events. The last event before a moment is known only after the next event.
// A first replay therefore counts events, and an identical second replay writes the states.
//
//   StateDumper moments({3600 * kSecond});
//   ... first replay, each decision:  moments.count_decision(state) ...
//   ... second replay, each decision: moments.dump_if_due(scenario, fixed, state, placement, out)
//   ...
#pragma once

#include <nlohmann/json.hpp>

#include "env/sim/metrics/why_waiting.h"
#include "experiments/scenario/scenario.h"

namespace yard {

// Returns the state at `at_us` as JSON. Requires: no event from state.head->now_us to `at_us`.
nlohmann::ordered_json dump_state(const Scenario& scenario, const SimModel& fixed,
                                  const SimState& state, PlacementRule placement, int64_t at_us);

class StateDumper {
 public:
  // `at_us`: the moments to dump. Requires: `at_us` is increasing.
  explicit StateDumper(std::vector<int64_t> at_us) : at_us_(std::move(at_us)) {}

  // Starts the two replays of another policy, with event counts at 0.
  void begin();
  // Counts a decision. Call count_decision() on every decision of the first replay.
  void count_decision(const SimState& state);
  // Ends the first replay at `end_us`. Moments after `end_us` show the final state.
  void end(int64_t end_us);
  // Throws InputError, naming `option`, if a moment is outside the replays so far.
  void check(const char* option) const;

  // Appends the state to `out` if no other decision comes before the next moment. Call
  // dump_if_due() on every decision of the second replay.
  void dump_if_due(const Scenario& scenario, const SimModel& fixed, const SimState& state,
                   PlacementRule placement, nlohmann::ordered_json& out);

 private:
  std::vector<int64_t> at_us_;
  std::vector<int64_t> last_decision_;      // (moments)  last decision at or before each moment
  int64_t first_us_ = kNever, end_us_ = 0;  // over all replays: first decision, last end
  int64_t decisions_ = 0, second_decisions_ = 0;
};

}  // namespace yard
