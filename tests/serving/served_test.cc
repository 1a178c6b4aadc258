// Checks that serving decides as in process. At every event of random workloads, each servable
// policy gets the state as a message. With a memory of the messages before, it must answer exactly
// as if it had seen all events itself.
#include <gtest/gtest.h>

#include "env/base/files/file.h"
#include "policies/learned/open_policy.h"
#include "serving/snapshot/cluster_memory.h"
#include "serving/snapshot/delta.h"
#include "serving/snapshot/export.h"
#include "serving/snapshot/run_policy.h"
#include "tests/serving/requests.h"

namespace yard::testing {
namespace {

struct Answers {
  int64_t acted = 0, same = 0, other = 0;
  std::string first;  // the first that differs
};

enum class Sends { kSnapshots, kDeltas };

// Plays a random workload in process and serves each state.
class ServedPlay {
 public:
  ServedPlay(const Policy& policy, const std::string& cluster, const std::vector<Job>& jobs)
      : spec_(load_cluster(cluster)), scene_(cluster, jobs), runner_(scene_, policy) {}

  bool advance() {
    if (!runner_.advance()) return false;
    const SimState& s = runner_.state();
    for (int32_t i = 0; i < s.head->num_changed; ++i) {
      const int32_t slot = s.changed[i];
      if (s.phase[slot] != Phase::kDone) continue;
      ended_.push_back(
          {s.job[slot], s.head->now_us, runner_.view().attained_us(slot), s.work_done_us[slot]});
    }
    return true;
  }

  // The state with all jobs that have ended so far, or the sum of all deltas.
  std::shared_ptr<const pb::DecideRequest> request(Sends sends) {
    const bool all = sends == Sends::kSnapshots;
    auto next = std::make_shared<pb::DecideRequest>(
        to_request(spec_, scene_.jobs(), scene_.fixed(), runner_.state(), ended_));
    if (!all && last_ != nullptr) next = apply_delta(*last_, *delta_between(*last_, *next));
    last_ = next;
    return next;
  }

  // Decides in process and compares.
  void compare(const PolicyResult& answer, Answers& answers) {
    ASSERT_TRUE(runner_.decide());
    ASSERT_EQ(answer.reason, pb::NONE) << answer.detail;
    const std::string answered = lines_of(answer.response);
    const std::string decided = lines_of(response_of(runner_, scene_, spec_));
    (answered == decided ? answers.same : answers.other) += 1;
    answers.acted += answer.response.actions_size();
    if (answered != decided && answers.first.empty()) {
      answers.first = "event " + std::to_string(runner_.events()) + ": served\n" + answered +
                      "in process\n" + decided;
    }
  }

 private:
  const ClusterSpec spec_;
  const Scene scene_;
  SceneRunner runner_;
  std::vector<EndedJob> ended_;
  std::shared_ptr<const pb::DecideRequest> last_;
};

std::vector<Job> plain_jobs(uint64_t seed) {
  std::vector<Job> out = random_jobs(Rng{seed}, {.count = 80, .mean_gap_s = 60});
  Rng rng = Rng{seed}.split(1);
  for (Job& job : out) job.limit_us = job.run_us + kSecond * (1 + rng.below(1000));
  return out;
}

// Some are bound to GPU types, wait for others, have deadlines, or are workers and servers.
std::vector<Job> varied_jobs(uint64_t seed) {
  std::vector<Job> out = plain_jobs(seed);
  Rng rng = Rng{seed}.split(2);
  for (size_t j = 0; j < out.size(); ++j) {
    Job& job = out[j];
    job.priority = static_cast<int64_t>(rng.below(3));
    job.weight = 1 + static_cast<double>(rng.below(4));
    if (rng.below(4) == 0) job.gpu_types = {rng.below(2) == 0 ? "k80" : "v100"};
    if (rng.below(4) == 0) job.dues = {{job.run_us * 2, 1}};
    if (j > 0 && rng.below(6) == 0) job.after = {out[rng.below(static_cast<uint32_t>(j))].id};
    if (rng.below(3) > 0) continue;
    RoleGroup workers, servers;
    workers.count = job.gpus;
    workers.task = {.gpus = 1, .cpu_milli = 2000, .mem_mib = 1024};
    servers.role = "ps";
    servers.count = 1 + static_cast<int32_t>(rng.below(2));
    servers.task = {.cpu_milli = 3000, .mem_mib = 2048};
    job.groups = {workers, servers};
  }
  return out;
}

constexpr ClusterMemoryCapacity kRoom{.slots = 256, .users = 64, .names = 64};

void expect_same(const Policy& policy, const std::string& name, const std::string& cluster,
                 const std::vector<Job>& jobs, Sends sends, Answers& total) {
  ServedPlay play(policy, cluster, jobs);
  ClusterMemory memory(kRoom);
  Answers answers;
  for (int events = 0; play.advance(); ++events) {
    const auto request = play.request(sends);
    const PolicyResult answer =
        run_policy(policy, Snapshot(*request), *request, Tracing::kNone, &memory);
    ASSERT_TRUE(events == 0 || !answer.rebuilt) << name;
    ASSERT_NO_FATAL_FAILURE(play.compare(answer, answers)) << name;
  }
  EXPECT_EQ(answers.other, 0) << name << " on " << cluster << ", " << answers.same << " the same; "
                              << answers.first;
  total.acted += answers.acted;
}

TEST(Served, EqualsInProcessForEveryServablePolicy) {
  for (const std::string& name : PolicyRegistry::names()) {
    if (name.starts_with("test-") || !PolicyRegistry::info(name).servable) continue;
    const auto policy = PolicyRegistry::make(name, {});
    Answers answers;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      expect_same(*policy, name, "2x8", plain_jobs(seed), Sends::kSnapshots, answers);
      expect_same(*policy, name, "3x4:k80+2x8:v100", plain_jobs(seed), Sends::kDeltas, answers);
    }
    EXPECT_GT(answers.acted, 400) << name;
  }
}

// Jobs with all that a snapshot can say of them.
TEST(Served, EqualsInProcessForVariedJobs) {
  for (const char* name : {"greedy", "joint", "las", "survival"}) {
    const auto policy = PolicyRegistry::make(name, {});
    Answers answers;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      expect_same(*policy, name, "3x4:k80+2x8:v100", varied_jobs(seed), Sends::kDeltas, answers);
    }
    EXPECT_GE(answers.acted, 240) << name;
  }
}

TEST(Served, EqualsInProcessForSpeedsOfModels) {
  const TempFolder temp;
  const std::string cluster = temp.path() / "cluster.yaml";
  write_file_atomic(cluster,
                    "gpu_types: {k80: {speed: 0.25, speed_of_model: {LM: 0.5}},\n"
                    "            v100: {speed: 1, speed_of_model: {LM: 1.1, VAE: 0.9}}}\n"
                    "nodes: [{count: 3, gpus: 4, type: k80}, {count: 2, gpus: 8, type: v100}]\n");
  for (const char* name : {"gandiva", "joint", "las", "srsf-rate"}) {
    const auto policy = PolicyRegistry::make(name, {});
    Answers answers;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      std::vector<Job> jobs = varied_jobs(seed);
      for (size_t j = 0; j < jobs.size(); ++j) {
        if (j % 3 > 0) jobs[j].model = j % 3 == 1 ? "LM" : "VAE";
      }
      expect_same(*policy, name, cluster, jobs, Sends::kDeltas, answers);
    }
    EXPECT_GE(answers.acted, 240) << name;
  }
}

TEST(Served, EqualsInProcessForATrainedPolicy) {
  const TempFolder temp;
  write_checkpoint(temp.path() / "dispatcher", 1);
  const OpenedPolicy opened =
      open_policy("checkpoint:" + (temp.path() / "dispatcher").string(), {});
  Answers answers;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    expect_same(*opened.policy, "dispatcher", "2x8", plain_jobs(seed), Sends::kDeltas, answers);
  }
  EXPECT_GT(answers.acted, 200);
}

TEST(Served, EveryShippedCheckpointEqualsInProcess) {
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator("checkpoints")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const OpenedPolicy shipped = open_policy("checkpoint:" + entry.path().string(), {});
    Answers answers;
    expect_same(*shipped.policy, name, "2x8", plain_jobs(1), Sends::kSnapshots, answers);
    expect_same(*shipped.policy, name, "2x4:k80+1x8:v100", plain_jobs(2), Sends::kDeltas, answers);
    EXPECT_GE(answers.acted, 150) << name;
    ++checked;
  }
  EXPECT_GE(checked, 32);
}

// After a restart of the server, or without a memory, a policy knows only what a snapshot says. It
// still gives legal answers.
TEST(Served, AnswersEachSnapshotByItself) {
  for (const char* text : {"checkpoint:checkpoints/pilot", "survival", "tiresias-gittins"}) {
    const OpenedPolicy opened = open_policy(text, {});
    ServedPlay play(*opened.policy, "2x8", plain_jobs(1));
    Answers answers;
    while (play.advance()) {
      const auto request = play.request(Sends::kSnapshots);
      const PolicyResult answer = run_policy(*opened.policy, Snapshot(*request), *request);
      EXPECT_TRUE(answer.rebuilt);
      ASSERT_NO_FATAL_FAILURE(play.compare(answer, answers)) << text;
    }
    EXPECT_GE(answers.acted, 76) << text;
  }
}

}  // namespace
}  // namespace yard::testing
