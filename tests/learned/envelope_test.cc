// The envelope of a checkpoint: which workloads are outside, and where the manifest keeps it.
#include "policies/learned/envelope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "env/base/files/file.h"
#include "policies/learned/checkpoint.h"
#include "tests/support/checkpoints.h"

namespace yard::testing {
namespace {

using ::testing::HasSubstr;

WorkloadFigures workload_with(double waiting_per_gpu) {
  WorkloadFigures out;
  out.values = {8, 1, waiting_per_gpu, 1, 4, 3600, 7200};
  out.has_jobs = true;
  return out;
}

Envelope envelope_of(std::initializer_list<double> waiting_per_gpu) {
  Envelope out;
  for (const double each : waiting_per_gpu) out.add(workload_with(each));
  return out;
}

TEST(Envelope, CoversWhatWasAddedAndTheToleranceAroundIt) {
  const Envelope envelope = envelope_of({0.5, 2});
  EXPECT_EQ(envelope.decisions(), 2);
  EXPECT_EQ(envelope.why_outside(workload_with(1), 1), "");
  EXPECT_EQ(envelope.why_outside(workload_with(8), 4), "");
  EXPECT_EQ(envelope.why_outside(workload_with(0), 1), "") << "a light load is no reason";
  EXPECT_EQ(envelope.why_outside(workload_with(8.01), 4),
            "waiting_per_gpu is 8.01, beyond 0 to 2 in training by more than a factor of 4");
  for (const double gpus : {1.0, 64.0}) {
    WorkloadFigures nodes = workload_with(1);
    nodes.values[kNodeGpus] = gpus;
    EXPECT_THAT(envelope.why_outside(nodes, 4), HasSubstr("gpus_per_node is"));
    EXPECT_EQ(envelope.why_outside(nodes, 8), "");
  }
}

TEST(Envelope, WithoutJobsOrTrainingNothingIsOutside) {
  WorkloadFigures idle = workload_with(1e9);
  idle.has_jobs = false;
  EXPECT_EQ(envelope_of({1}).why_outside(idle, 1), "");
  EXPECT_EQ(Envelope().why_outside(workload_with(1e9), 1), "");
  Envelope none;
  none.add(idle);
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none.to_json().is_null());
}

TEST(Envelope, AManifestKeepsItBesideTheDigest) {
  const Scratch temp;
  save_checkpoint(small_checkpoint(), temp.path() / "a");
  const Checkpoint before = load_checkpoint(temp.path() / "a");
  EXPECT_TRUE(before.envelope.empty());
  const Envelope envelope = envelope_of({0.1, 1.0 / 3});
  save_envelope(envelope, temp.path() / "a");
  const Checkpoint after = load_checkpoint(temp.path() / "a");
  EXPECT_EQ(after.envelope, envelope);
  EXPECT_EQ(after.digest, before.digest) << "the weights are the same";
  save_checkpoint(after, temp.path() / "b");
  EXPECT_EQ(load_checkpoint(temp.path() / "b").envelope, envelope);
}

TEST(Envelope, ImpossibleRangesAreRefused) {
  const auto refused = [](const char* key, const nlohmann::ordered_json& range) {
    nlohmann::ordered_json json = envelope_of({1}).to_json();
    json[key] = range;
    return refusal([&] { Envelope::from_json(json, "manifest.json"); });
  };
  EXPECT_EQ(refused("longest_run_s", {0, 1}), "");
  EXPECT_THAT(refused("longest_run_s", {2, 1}), HasSubstr("low <= high for longest_run_s"));
  EXPECT_THAT(refused("gpus_per_job", {-1, 1}), HasSubstr("manifest.json"));
  EXPECT_THAT(refused("decisions", 0), HasSubstr("at least one decision"));
}

}  // namespace
}  // namespace yard::testing
