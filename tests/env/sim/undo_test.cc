// An undone draft leaves every column of the state as it was, in worlds with all features. A later
// decision must not depend on it.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "env/sim/rules/digest.h"
#include "env/sim/rules/rules.h"
#include "tests/support/futures.h"

namespace yard::testing {
namespace {

// Returns the meaning of a state beyond its digest, as words. Parts, free lists and the order of
// holders depend on history and are left out.
std::vector<int64_t> words_of(const SimModel& f, const SimState& s) {
  std::vector<int64_t> words;
  const auto add = [&](auto value) { words.push_back(static_cast<int64_t>(value)); };
  const auto add_bits = [&](double value) {
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    words.push_back(bits);
  };
  const StateHeader& h = *s.head;
  for (const int64_t w : {h.ready_horizon_us, h.timer_us, h.waiting_gpus, *s.next_rank}) add(w);
  for (const int32_t w : {h.waiting, h.held, h.free_gpus, h.starts, h.preemptions, h.queue_head,
                          h.queue_tail, h.down_gpus}) {
    add(w);
  }
  for (int32_t k = 0; k < f.jobs.num_classes; ++k) {
    add(s.class_head[k]);
    add(s.class_tail[k]);
    add(s.class_count[k]);
  }
  for (int32_t slot = 0; slot < h.high_water; ++slot) {
    add(s.phase[slot]);
    if (s.phase[slot] == Phase::kFree || s.phase[slot] == Phase::kDone) continue;
    for (const int64_t w : {s.first_start_us[slot], s.since_us[slot], s.until_us[slot],
                            s.saved_us[slot], s.attained_us[slot]}) {
      add(w);
    }
    add(s.started[slot]);
    add(s.preempted[slot]);
    add(s.ended[slot]);
    add_bits(s.work_done_us[slot]);
    add_bits(s.rate[slot]);
    if (s.phase[slot] == Phase::kWaiting) {
      for (const int32_t w :
           {s.queue_prev[slot], s.queue_next[slot], s.class_prev[slot], s.class_next[slot]}) {
        add(w);
      }
      add(s.queue_rank[slot]);
    }
    if (f.faults) add(s.run_start_us[slot]), add_bits(s.checkpointed_us[slot]);
    for (int32_t p = s.first_part[slot]; p != kNone; p = s.part_next[p]) {
      add(s.part_node[p]), add(s.part_mask[p]), add(s.part_role_group[p]), add(s.part_tasks[p]);
    }
  }
  return words;
}

TEST(Undo, RestoresEveryColumn) {
  const auto policy = make_policy("las");
  int64_t edits = 0, stops = 0, ends = 0;
  for (uint64_t trial = 0; trial < 24; ++trial) {
    const ForkableWorld forkable = forkable_world(Rng(91).split(trial), {.tenants = trial % 2 == 1,
                                                                         .overload = trial % 3 == 1,
                                                                         .models = trial % 4 > 1,
                                                                         .world = {}});
    const ForkableScene scene(forkable);
    const SimModel& f = scene.scene().fixed();
    SceneRunner runner(scene.scene(), *policy);
    Rng rng = Rng(92).split(trial);
    while (runner.advance()) {
      SimState& s = runner.world().state();
      if (f.rated) refresh_rates(f, s);
      const std::vector<int64_t> before = words_of(f, s);
      const uint64_t meant = digest(f, s);
      Draft draft(f, s);
      const View& view = runner.view();
      for (int i = 0; i < 6; ++i) {
        const auto slot =
            static_cast<int32_t>(rng.below(static_cast<uint32_t>(view.slot_high_water())));
        const Phase phase = view.phase(slot);
        if (view.may_end_early(slot) && rng.below(2) == 0) {
          const bool ended = draft.end(slot);
          edits += ended, ends += ended;
        } else if (phase == Phase::kRunning || phase == Phase::kStarting) {
          const bool stopped = draft.preempt(slot);
          edits += stopped, stops += stopped;
        } else if (phase == Phase::kWaiting || phase == Phase::kStopping) {
          Piece* pieces = draft.scratch();
          const int32_t n = place(view, static_cast<PlacementRule>(rng.below(3)), slot, pieces);
          edits += n > 0 && draft.start(slot, pieces, n);
        }
      }
      draft.undo_to(0);
      ASSERT_EQ(words_of(f, s), before) << "trial " << trial << ", event " << runner.events();
      ASSERT_EQ(digest(f, s), meant);
      ASSERT_EQ(broken_invariant(f, s), "");
      ASSERT_TRUE(runner.decide());
    }
    ASSERT_FALSE(runner.failed());
  }
  EXPECT_GT(edits, 3000);
  EXPECT_GT(stops, 500);
  EXPECT_GT(ends, 100);
}

}  // namespace
}  // namespace yard::testing
