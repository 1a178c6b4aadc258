// Nodes without GPUs do not affect jobs with GPUs: these end as on the cluster without them.
#include <gtest/gtest.h>

#include "tests/support/scene.h"
#include "tests/support/temp_file.h"

namespace yard::testing {
namespace {

std::string with_cpu_nodes(bool with) {
  const std::string between = with ? "  - {count: 70, gpus: 0, cpus: 64}\n" : "";
  return "nodes:\n" + between + "  - {count: 3, gpus: 8, type: v100}\n" + between +
         "  - {count: 2, gpus: 4, type: k80}\n" + between;
}

TEST(CpuNodes, ChangeNothingForJobsWithGpus) {
  const TempFile plain("plain.yaml", with_cpu_nodes(false));
  const TempFile mixed("mixed.yaml", with_cpu_nodes(true));
  const auto jobs = random_jobs(Rng{5}, {.count = 120, .sizes = {1, 1, 2, 4, 8, 16, 24}});
  const Scene without(plain.path(), jobs), with(mixed.path(), jobs);
  ASSERT_EQ(with.fixed().spec.num_nodes, without.fixed().spec.num_nodes + 210);
  for (const std::string order : {"fifo", "greedy", "las", "srtf"}) {
    for (const std::string placement : {"first-fit", "best-fit", "consolidate"}) {
      const auto policy = make_policy(order + " placement=" + placement);
      SCOPED_TRACE(order + " " + placement);
      SceneRunner a(without, *policy), b(with, *policy);
      a.play();
      b.play();
      ASSERT_FALSE(a.failed());
      ASSERT_FALSE(b.failed());
      for (size_t j = 0; j < jobs.size(); ++j) {
        ASSERT_EQ(a.jobs()[j].end_us, b.jobs()[j].end_us) << "job " << j;
      }
    }
  }
}

}  // namespace
}  // namespace yard::testing
