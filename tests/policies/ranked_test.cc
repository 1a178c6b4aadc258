// The pairing heaps of a ranking against ordered sets, moved about in memory between any two uses.
#include "policies/ranked.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "tests/support/scene.h"

namespace yard::testing {
namespace {

TEST(Ranked, DoesAsOrderedSetsDo) {
  std::vector<JobLine> lines;
  for (int j = 0; j < 64; ++j) lines.push_back({0, 1 << j % 4, 1});
  const Scene scene("1x8", jobs_of(lines));
  World world(scene.fixed(), scene.size());
  const View view(scene.fixed(), world.state(), Level::kBlind);
  Memory memory;
  memory.reset(Ranked::bytes(view));
  using Order = std::set<std::pair<double, int32_t>>;  // key, slot
  std::vector<Order> model(4);
  std::vector<char> in(64, 0), skip(4, 0);
  Rng rng(11);
  for (int i = 0; i < 30000; ++i) {
    memory = Memory(memory);
    Carver carver(memory.data());
    Ranked ranked(view, carver);
    const auto slot = static_cast<int32_t>(rng.below(64));
    const auto k = static_cast<size_t>(slot % 4);
    if (!in[static_cast<size_t>(slot)]) {
      const double key = rng.below(8);  // often equal: then by serial, which is the slot here
      ranked.push(slot % 4, slot, {key, slot});
      model[k].insert({key, slot});
      in[static_cast<size_t>(slot)] = 1;
    } else if (!model[k].empty()) {
      in[static_cast<size_t>(model[k].begin()->second)] = 0;
      model[k].erase(model[k].begin());
      ranked.pop(slot % 4);
    }
    for (size_t c = 0; c < 4; ++c) {
      ASSERT_EQ(ranked.top(static_cast<int32_t>(c)),
                model[c].empty() ? kNone : model[c].begin()->second);
    }
    const auto gpus = static_cast<int32_t>(1 + rng.below(8));
    for (int32_t c = 0; c < 4; ++c) {
      skip[static_cast<size_t>(c)] = rng.below(3) == 0;
      if (skip[static_cast<size_t>(c)]) ranked.hide(c);
    }
    int32_t best = kNone;
    for (int32_t c = 0; c < 4; ++c) {
      const Order& order = model[static_cast<size_t>(c)];
      if (scene.fixed().jobs.class_gpus[c] > gpus || order.empty() || skip[static_cast<size_t>(c)])
        continue;
      if (best == kNone || *order.begin() < *model[static_cast<size_t>(best)].begin()) best = c;
    }
    ASSERT_EQ(ranked.first_class(view, gpus), best);
    for (int32_t c = 0; c < 4; ++c) ranked.show(c);
  }
}

}  // namespace
}  // namespace yard::testing
