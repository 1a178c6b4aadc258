// The workloads of MLFS and SCHED2 with gradient sizes move bytes; the frozen ones do not. The
// frozen ones stay as their agents were trained on them.
#include <gtest/gtest.h>

#include "env/base/files/file.h"
#include "experiments/evaluate/cell_runner.h"
#include "experiments/evaluate/cells.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"
#include "tests/support/require.h"

namespace yard {
namespace {

// Hashes what affects scores on a file's cells; comments and lists of rivals may change.
std::string hash_of_cells(const std::string& file) {
  std::string all;
  for (const CellSpec& cell : read_cells(file).cells) {
    all += cell.name + " " + inputs_of(cell).dump() + "\n";
  }
  return sha256_hex(all);
}

TEST(Links, FrozenWorkloadsAreUnchanged) {
  EXPECT_EQ(hash_of_cells("experiments/mlfs.yaml"),
            "317db3d96ed51029eb79cd9f37d15986358695868af3223591ec7d41171b98c7");
  EXPECT_EQ(hash_of_cells("experiments/sched2.yaml"),
            "eb32584ef1c1fce8a6c2cc1a003e7e9f27a2f7b8ec25b982592a01bb6f8e49d9");
}

// Replays two days of the training part of the file's first trace; returns the bytes moved.
double moved_bytes(const std::string& file, const std::string& policy) {
  const CellFile cells = read_cells(file);
  std::vector<CellSpec> train = select_cells(cells, {"train"});
  train.resize(1);
  check_input_sha256(train);
  ScenarioOptions options = train[0].scenario;
  options.congestion.reset();
  options.window.from = "+604800";
  options.window.to = "+777600";
  options.window.warmup = "0";
  return run_policy(load_scenario(options), policy, {}).outcome.moved_bytes;
}

TEST(Links, JobsSendBytesOnlyWithLinks) {
  YARD_NEEDS_TRACES();
  EXPECT_EQ(moved_bytes("experiments/mlfs.yaml", "greedy"), 0);
  EXPECT_EQ(moved_bytes("experiments/sched2.yaml", "greedy"), 0);
  EXPECT_GT(moved_bytes("experiments/mlfs-links.yaml", "greedy"), 1e12);
  EXPECT_GT(moved_bytes("experiments/sched2-links.yaml", "greedy"), 1e12);
}

}  // namespace
}  // namespace yard
