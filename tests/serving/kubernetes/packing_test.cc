// What kube-scheduler binds with the extender's scores, against its own scores alone: 200 pods of
// 1, 1, 2, 1, 4, 8, 1 and 2 GPUs in turn, 500 of the 512 GPUs of 64 nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "serving/kubernetes/extender.h"
#include "tests/serving/kubernetes/kube_scheduler.h"

namespace yard::testing::kube {
namespace {

using kubernetes::Extender;
using nlohmann::json;

constexpr int kPods = 200, kLeastBound = 198;
constexpr uint64_t kSeeds = 3;
constexpr double kCores = 8, kMemGib = 64;  // that pods request with each GPU

json answer_of(Extender& extender, std::string_view verb, const std::string& body) {
  const kubernetes::ExtenderAnswer answer = extender.answer(verb, body);
  EXPECT_EQ(answer.status, 200) << answer.body;
  return json::parse(answer.body);
}

// Feeds the extender before the first pod, and after each.
using Feed = std::function<void(Extender&, const KubeScheduler&)>;

struct Trial {
  KubeOptions kube = {};
  Feed first = nullptr, each = nullptr;
  int restart_at = kPods;  // a new extender takes over before this pod
};

int bound_of_200(const Trial& trial) {
  auto extender = std::make_unique<Extender>(kubernetes::ExtenderOptions{});
  KubeScheduler scheduler(trial.kube, [&](std::string_view verb, const std::string& body) {
    return answer_of(*extender, verb, body);
  });
  if (trial.first != nullptr) trial.first(*extender, scheduler);
  int bound = 0, count = 0;
  for (KubePod pod : pods_in_turn(kPods)) {
    if (count++ == trial.restart_at) {
      extender = std::make_unique<Extender>(kubernetes::ExtenderOptions{});
    }
    pod.cores = kCores * pod.gpus;
    pod.mem_gib = kMemGib * pod.gpus;
    bound += scheduler.schedule(pod) >= 0;
    if (trial.each != nullptr) trial.each(*extender, scheduler);
  }
  return bound;
}

void expect_packed(Trial trial) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    trial.kube.seed = seed;
    trial.kube.asks_filter = seed % 2 == 0;
    EXPECT_GE(bound_of_200(trial), kLeastBound) << "seed " << seed;
  }
}

void report_list(Extender& extender, const KubeScheduler& scheduler) {
  answer_of(extender, "state", scheduler.list().dump());
}

// A snapshot whose jobs have ids of their own, not those of the pods.
void observe_snapshot(Extender& extender, const KubeScheduler& scheduler) {
  auto snapshot = std::make_shared<pb::DecideRequest>();
  for (size_t i = 0; i < 64; ++i) {
    pb::Node& node = *snapshot->add_nodes();
    node.set_name(scheduler.name(i));
    node.set_gpus(8);
    if (scheduler.used(i) == 0) continue;
    pb::Job& job = *snapshot->add_jobs();
    job.set_id("jobs of " + node.name());
    job.set_state(pb::RUNNING);
    pb::Piece& piece = *job.add_placement();
    piece.set_node(node.name());
    piece.set_gpus(static_cast<uint32_t>(scheduler.used(i)));
  }
  extender.observe("", [snapshot] { return snapshot; });
}

TEST(KubePacking, DefaultScoresStrandGpus) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    EXPECT_NEAR(bound_of_200({.kube = {.weight = 0, .seed = seed}}), 183, 1) << "seed " << seed;
  }
}

TEST(KubePacking, FullNodesWithoutReports) { expect_packed({}); }

TEST(KubePacking, NamesWithoutReports) { expect_packed({.kube = {.names_only = true}}); }

TEST(KubePacking, NamesWithOneReport) {
  expect_packed({.kube = {.names_only = true}, .first = report_list});
}

TEST(KubePacking, NamesWithAReportAfterEachPod) {
  expect_packed({.kube = {.names_only = true}, .first = report_list, .each = report_list});
}

TEST(KubePacking, NamesWithASnapshotAfterEachPod) {
  expect_packed(
      {.kube = {.names_only = true}, .first = observe_snapshot, .each = observe_snapshot});
}

TEST(KubePacking, ReportsThatLagBehind) {
  // The report of ten pods ago.
  std::vector<std::string> lists;
  expect_packed({.kube = {.names_only = true},
                 .first =
                     [&](Extender& extender, const KubeScheduler& scheduler) {
                       lists.clear();
                       report_list(extender, scheduler);
                     },
                 .each =
                     [&](Extender& extender, const KubeScheduler& scheduler) {
                       lists.push_back(scheduler.list().dump());
                       if (lists.size() < 10) return;
                       answer_of(extender, "state", lists[lists.size() - 10]);
                     }});
}

TEST(KubePacking, ARestartHalfway) {
  expect_packed({.restart_at = 100});
  expect_packed({.kube = {.names_only = true}, .restart_at = 101});
}

TEST(KubePacking, AWeightOfOneIsEnough) { expect_packed({.kube = {.weight = 1}}); }

TEST(KubePacking, AllocatableThatIsWhatIsFree) {
  expect_packed({.kube = {.free_as_allocatable = true}});
}

TEST(KubePacking, AThirdBoundElsewhere) {
  // Another scheduler, or a plugin that outweighs us, binds pods where they would not go.
  int ours = 0, default_only = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ours += bound_of_200({.kube = {.elsewhere = 0.33, .seed = seed}});
    default_only += bound_of_200({.kube = {.weight = 0, .elsewhere = 0.33, .seed = seed}});
  }
  EXPECT_GT(ours, default_only);
}

// Pods come and end for a long time: what is assumed must not drift from what is.
TEST(KubePacking, EstimatesFollowPodsThatEnd) {
  for (const bool names : {false, true}) {
    Extender extender({});
    KubeScheduler scheduler({.names_only = names, .seed = 5},
                            [&](std::string_view verb, const std::string& body) {
                              return answer_of(extender, verb, body);
                            });
    KubeScheduler alone({.weight = 0, .seed = 5}, nullptr);
    Rng rng(11);
    int ours = 0, default_only = 0, in_ours = 0, in_alone = 0;
    const std::vector<KubePod> pods = pods_in_turn(2000);
    for (size_t i = 0; i < pods.size(); ++i) {
      KubePod pod = pods[i];
      pod.cores = kCores * pod.gpus;
      pod.mem_gib = kMemGib * pod.gpus;
      const auto step = [&](KubeScheduler& on, int& bound, int& there) {
        const bool fits = on.schedule(pod) >= 0;
        bound += fits;
        there += fits;
        if (i >= 190 && there > 0) {
          on.end(rng.below(static_cast<uint32_t>(there)));
          --there;
        }
      };
      step(scheduler, ours, in_ours);
      step(alone, default_only, in_alone);
    }
    EXPECT_GT(ours, default_only) << "names " << names;
    std::printf("names %d: %d of 2000 bound, %d by default scores\n", names, ours, default_only);
  }
}

// Nodes with 2, 1 and 1 GPUs free, pods of 1, 1, then 2: all run.
TEST(KubePacking, SmallPodsGoWhereTheyLeaveRoom) {
  for (const bool names : {false, true}) {
    Extender extender({});
    KubeScheduler scheduler({.nodes = 3, .names_only = names},
                            [&](std::string_view verb, const std::string& body) {
                              return answer_of(extender, verb, body);
                            });
    json list = scheduler.list();
    for (int node = 0; node < 3; ++node) {
      json pod = pod_object({"old-" + std::to_string(node), node == 0 ? 6 : 7});
      pod["kind"] = "Pod";
      pod["spec"]["nodeName"] = scheduler.name(static_cast<size_t>(node));
      list["items"].push_back(pod);
      scheduler.take(static_cast<size_t>(node), node == 0 ? 6 : 7);
    }
    answer_of(extender, "state", list.dump());
    EXPECT_GT(scheduler.schedule({"a", 1}), 0);
    EXPECT_GT(scheduler.schedule({"b", 1}), 0);
    EXPECT_EQ(scheduler.schedule({"c", 2}), 0);
  }
}

}  // namespace
}  // namespace yard::testing::kube
