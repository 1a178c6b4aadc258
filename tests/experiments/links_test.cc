// The workloads of MLFS and SCHED2 with sizes of gradients: their jobs move bytes, which those of
// the frozen ones never do; and the frozen ones are what their agents were trained on.
#include <gtest/gtest.h>

#include "env/base/file.h"
#include "experiments/arena.h"
#include "experiments/cells.h"
#include "experiments/replay.h"
#include "tests/support/require.h"

namespace yard {
namespace {

TEST(Links, FrozenWorkloadsStayAsTheyAre) {
  EXPECT_EQ(sha256_hex(read_file("experiments/mlfs.yaml")),
            "0680b41cdce47a78d8983860e9df2fd4c24d4ce22c121b38f624bab63aeba1cf");
  EXPECT_EQ(sha256_hex(read_file("experiments/sched2.yaml")),
            "b957ed0fb2f5fba2d0ff52bdec938bf75324bc8a81fcf9747e83c6fff57d5378");
}

// Two days of the training part of the file's first trace.
double moved_bytes(const std::string& file, const std::string& policy) {
  const CellFile cells = read_cells(file);
  std::vector<CellSpec> train = select_cells(cells, {"train"});
  train.resize(1);
  check_traces(train);
  ScenarioOptions options = train[0].scenario;
  options.congestion.reset();
  options.window.from = "+604800";
  options.window.to = "+777600";
  options.window.warmup = "0";
  return run_policy(load_scenario(options), policy, {}).outcome.moved_bytes;
}

TEST(Links, JobsMoveBytesThere) {
  YARD_NEEDS_TRACES();
  EXPECT_EQ(moved_bytes("experiments/mlfs.yaml", "greedy"), 0);
  EXPECT_EQ(moved_bytes("experiments/sched2.yaml", "greedy"), 0);
  EXPECT_GT(moved_bytes("experiments/mlfs-links.yaml", "greedy"), 1e12);
  EXPECT_GT(moved_bytes("experiments/sched2-links.yaml", "greedy"), 1e12);
}

}  // namespace
}  // namespace yard
