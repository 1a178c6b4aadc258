// The scheduler extender's answers, to requests as Go sends them and to others.
#include "serving/kubernetes/extender.h"

#include <gtest/gtest.h>

#include <set>

#include "env/base/files/file.h"
#include "tests/serving/kubernetes/kube_scheduler.h"

namespace yard::testing::kube {
namespace {

using kubernetes::Extender;
using kubernetes::ExtenderAnswer;
using nlohmann::json;
using Strings = std::vector<std::string>;

std::string golden(const std::string& name) {
  return read_file("tests/data/kubernetes/" + name + ".json");
}

json must_answer(Extender& extender, std::string_view verb, const std::string& body) {
  const ExtenderAnswer answer = extender.answer(verb, body);
  EXPECT_EQ(answer.status, 200) << answer.body;
  return answer.status == 200 ? json::parse(answer.body) : json();
}

std::string names_args(const json& pod, const Strings& names) {
  return json{{"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", names}}.dump();
}

json pod_of_size(const std::string& name, int gpus) { return pod_object({name, gpus}); }

// A report: nodes of 8 GPUs, of which so many are in use, each node's by one pod.
std::string report_of(const std::map<std::string, int>& used) {
  json items = json::array();
  for (const auto& [name, gpus] : used) {
    items.push_back({{"kind", "Node"},
                     {"metadata", {{"name", name}}},
                     {"status", {{"allocatable", {{"nvidia.com/gpu", "8"}}}}}});
    if (gpus == 0) continue;
    items.push_back(pod_of_size("on-" + name, gpus));
    items.back()["kind"] = "Pod";
    items.back()["spec"]["nodeName"] = name;
    items.back()["status"]["phase"] = "Running";
  }
  return json{{"items", items}}.dump();
}

std::map<std::string, int> scores_of(const json& answer) {
  std::map<std::string, int> out;
  for (const json& one : answer) out[one.at("Host")] = one.at("Score");
  return out;
}

class KubeExtender : public ::testing::Test {
 protected:
  json ask(std::string_view verb, const std::string& body) {
    return must_answer(extender_, verb, body);
  }
  void wait(double s) {
    now_ += std::chrono::duration_cast<kubernetes::FreeGpuEstimator::Clock::duration>(
        std::chrono::duration<double>(s));
  }

  kubernetes::FreeGpuEstimator::Time now_{std::chrono::hours(1)};
  Extender extender_{{}, [this] { return now_; }};
};

// ---- traps of the protocol

TEST_F(KubeExtender, AnswersInTheCaseThatGoExpects) {
  const json names = ask("filter", golden("args_names"));
  std::set<std::string> keys;
  for (const auto& [key, value] : names.items()) keys.insert(key);
  EXPECT_EQ(keys, (std::set<std::string>{"Nodes", "NodeNames", "FailedNodes",
                                         "FailedAndUnresolvableNodes", "Error"}));
  EXPECT_EQ(names["NodeNames"], (Strings{"gpu-a", "gpu-b", "gpu-c"}));
  EXPECT_TRUE(names["Nodes"].is_null());
  EXPECT_EQ(names["Error"], "");
}

TEST_F(KubeExtender, TakesTheCaseOfOldReleases) {
  EXPECT_EQ(ask("filter", golden("args_names_lower_case")), ask("filter", golden("args_names")));
}

TEST_F(KubeExtender, GivesFullNodesBackAsTheyCame) {
  const json sent = json::parse(golden("args_nodes"));
  const json answer = ask("filter", sent.dump());
  EXPECT_EQ(answer["Nodes"]["items"], sent["Nodes"]["items"]);
  EXPECT_TRUE(answer["NodeNames"].is_null());
}

TEST_F(KubeExtender, PrioritizesWithABareList) {
  for (const char* name : {"args_nodes", "args_names"}) {
    const json answer = ask("prioritize", golden(name));
    ASSERT_TRUE(answer.is_array());
    ASSERT_EQ(answer.size(), 3u);
    int best = 0;
    for (const json& one : answer) {
      EXPECT_EQ(one.size(), 2u);
      ASSERT_TRUE(one["Score"].is_number_integer());
      EXPECT_GE(one["Score"], 0);
      EXPECT_LE(one["Score"], 10);
      best += one["Score"] == 10;
    }
    EXPECT_EQ(best, 1) << "the best score is unique";
  }
}

TEST_F(KubeExtender, EmptyListsAreFine) {
  EXPECT_EQ(ask("filter", golden("args_empty_nodes"))["Nodes"]["items"], json::array());
  EXPECT_EQ(ask("prioritize", golden("args_empty_nodes")), json::array());
  EXPECT_EQ(ask("filter", names_args(pod_of_size("a", 1), {}))["NodeNames"], json::array());
  EXPECT_EQ(ask("prioritize", names_args(pod_of_size("a", 1), {})), json::array());
}

TEST_F(KubeExtender, NamesOnlyWhatWasOffered) {
  ask("state", report_of({{"a", 0}, {"b", 0}, {"c", 8}}));
  const json answer = ask("filter", names_args(pod_of_size("p", 1), {"b", "ghost", "b"}));
  EXPECT_EQ(answer["NodeNames"], (Strings{"b", "ghost"}));
  EXPECT_TRUE(answer["FailedNodes"].empty());
  const auto scores =
      scores_of(ask("prioritize", names_args(pod_of_size("p", 1), {"b", "ghost", "b"})));
  EXPECT_EQ(scores, (std::map<std::string, int>{{"b", 10}, {"ghost", 1}}));
}

TEST_F(KubeExtender, CountsUnknownNodes) {
  ask("state", report_of({{"a", 0}}));
  ask("filter", names_args(pod_of_size("p", 1), {"a", "ghost", "other"}));
  EXPECT_EQ(extender_.counts().unknown_nodes, 2u);
}

TEST_F(KubeExtender, ExplainsFailedNodes) {
  ask("state", report_of({{"a", 7}, {"b", 4}}));
  json answer = ask("filter", names_args(pod_of_size("p", 4), {"a", "b"}));
  EXPECT_EQ(answer["NodeNames"], (Strings{"b"}));
  EXPECT_EQ(answer["FailedNodes"]["a"], "1 of 8 GPUs are free, the pod needs 4");
  // Preemption cannot help where the node is too small.
  answer = ask("filter", names_args(pod_of_size("big", 9), {"a", "b"}));
  EXPECT_EQ(answer["NodeNames"], json::array());
  EXPECT_EQ(answer["FailedAndUnresolvableNodes"]["b"], "the node has 8 GPUs, the pod needs 9");
  EXPECT_TRUE(answer["FailedNodes"].empty());
  // A report does not rule out nodes for ever.
  wait(61);
  answer = ask("filter", names_args(pod_of_size("p", 4), {"a", "b"}));
  EXPECT_EQ(answer["NodeNames"], (Strings{"a", "b"}));
}

TEST_F(KubeExtender, PodsWithoutGpusGoAnywhere) {
  ask("state", report_of({{"a", 8}, {"b", 0}}));
  const std::string body = names_args(pod_of_size("web", 0), {"a", "b"});
  EXPECT_EQ(ask("filter", body)["NodeNames"], (Strings{"a", "b"}));
  EXPECT_EQ(scores_of(ask("prioritize", body)), (std::map<std::string, int>{{"a", 0}, {"b", 0}}));
}

TEST_F(KubeExtender, RefusesWhatMakesNoSense) {
  const json pod = pod_of_size("p", 1);
  json odd = pod;
  odd["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "some";
  json half = pod;
  half["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "500m";
  json negative = pod;
  negative["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = -1;
  json huge = pod;
  huge["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "4E";
  const std::string args = R"({"Pod":{"metadata":{"name":"p"}},)";
  const struct {
    const char* verb;
    std::string body, says;
  } table[] = {
      {"filter", "", "body: expected JSON"},
      {"filter", "{", "body: expected JSON"},
      {"filter", "\xff", "body: expected JSON"},
      {"filter", std::string(100'000, '['), "levels of brackets"},
      {"filter", "[]", "body: expected an object"},
      {"filter", "7", "body: expected an object"},
      {"filter", "{}", "Pod: expected a pod"},
      {"filter", R"({"Pod":null,"NodeNames":[]})", "Pod: expected a pod"},
      {"filter", R"({"Pod":[],"NodeNames":[]})", "Pod: expected an object"},
      {"filter", args + R"("Nodes":null,"NodeNames":null})", "Nodes or NodeNames"},
      {"filter", args + R"("NodeNames":{}})", "NodeNames: expected a list"},
      {"filter", args + R"("NodeNames":[1]})", "NodeNames[0]: expected the name of a node"},
      {"filter", args + R"("NodeNames":[""]})", "NodeNames[0]: expected the name of a node"},
      {"filter", args + R"("Nodes":[]})", "Nodes: expected a NodeList"},
      {"filter", args + R"("Nodes":{"items":{}}})", "Nodes.items: expected a list"},
      {"filter", args + R"("Nodes":{"items":[{}]}})", "Nodes.items[0].metadata.name"},
      {"filter", args + R"("Nodes":{"items":[null]}})", "Nodes.items[0]: expected an object"},
      {"filter", R"({"Pod":{"spec":[]},"NodeNames":[]})", "Pod.spec: expected an object"},
      {"filter", R"({"Pod":{"spec":{"containers":{}}},"NodeNames":[]})", "Pod.spec.containers"},
      {"prioritize", names_args(odd, {"a"}), "got \"some\""},
      {"prioritize", names_args(half, {"a"}), "a whole quantity"},
      {"prioritize", names_args(negative, {"a"}), "a whole quantity"},
      {"prioritize", names_args(huge, {"a"}), "a whole quantity"},
      {"prioritize", "null", "body: expected an object"},
      {"preempt", args + R"("NodeNames":[]})", "NodeNameToVictims or NodeNameToMetaVictims"},
      {"preempt", args + R"("NodeNameToMetaVictims":[]})", "expected an object"},
      {"preempt", args + R"("NodeNameToMetaVictims":{"a":null}})", "expected an object"},
      {"preempt", args + R"("NodeNameToMetaVictims":{"a":{"Pods":[{}]}}})", "a pod with its UID"},
      {"preempt", args + R"("NodeNameToVictims":{"a":{"Pods":[{}]}}})", "a pod with its UID"},
      {"preempt", args + R"("NodeNameToMetaVictims":{"a":{"NumPDBViolations":"x"}}})",
       "a whole number"},
      {"state", "{}", "items: expected a list"},
      {"state", R"({"items":[{"kind":"Service"}]})", "items[0].kind: expected Node or Pod"},
  };
  for (const auto& [verb, body, says] : table) {
    const ExtenderAnswer answer = extender_.answer(verb, body);
    EXPECT_EQ(answer.status, 400) << body.substr(0, 200);
    const std::string error = json::parse(answer.body).at("error");
    EXPECT_NE(error.find(says), std::string::npos) << body.substr(0, 200) << " -> " << error;
  }
}

TEST_F(KubeExtender, CutOrMutatedRequestsDoNoHarm) {
  Rng rng(3);
  const std::pair<const char*, const char*> requests[] = {{"filter", "args_nodes"},
                                                          {"prioritize", "args_names"},
                                                          {"preempt", "preempt_victims"},
                                                          {"preempt", "preempt_meta_victims"}};
  int accepted = 0, refused = 0;
  for (const auto& [verb, name] : requests) {
    const std::string whole = golden(name);
    for (int i = 0; i < 500; ++i) {
      std::string body = whole;
      for (int k = 0; k < 3; ++k) {
        const uint32_t at = rng.below(static_cast<uint32_t>(body.size()));
        body[at] = static_cast<char>(
            i % 2 == 0 ? whole[rng.below(static_cast<uint32_t>(whole.size()))] : rng.below(256));
      }
      if (i % 5 == 0) body.resize(rng.below(static_cast<uint32_t>(body.size())));
      const int status = extender_.answer(verb, body).status;
      EXPECT_TRUE(status == 200 || status == 400) << status;
      ++(status == 200 ? accepted : refused);
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

// ---- quantities

int gpus_of_spec(const std::string& spec) {
  return kubernetes::read_pod(json{{"spec", json::parse(spec)}}, "Pod").gpus;
}

TEST(KubePod, CountsGpusAsKubernetesDoes) {
  const auto container = [](const std::string& amounts) {
    return R"({"containers":[{"resources":)" + amounts + "}]}";
  };
  EXPECT_EQ(gpus_of_spec(container(R"({"limits":{"nvidia.com/gpu":"2"}})")), 2);
  EXPECT_EQ(gpus_of_spec(container(R"({"limits":{"nvidia.com/gpu":2}})")), 2);
  EXPECT_EQ(gpus_of_spec(container(R"({"requests":{"nvidia.com/gpu":"2"}})")), 2);
  EXPECT_EQ(gpus_of_spec(container(R"({"limits":{"amd.com/gpu":"4"},"requests":null})")), 4);
  EXPECT_EQ(gpus_of_spec(
                container(R"({"limits":{"nvidia.com/gpu":3},"requests":{"nvidia.com/gpu":"3"}})")),
            3);
  EXPECT_EQ(gpus_of_spec(container(R"({"limits":{"nvidia.com/gpu":"2000m"}})")), 2);
  EXPECT_EQ(gpus_of_spec(container(R"({"limits":{"nvidia.com/gpu":"1k"}})")), 1000);
  EXPECT_EQ(gpus_of_spec(container(R"({"limits":{"cpu":"1500m","memory":"0.5Gi"}})")), 0);
  EXPECT_EQ(gpus_of_spec("{}"), 0);
  EXPECT_EQ(gpus_of_spec(R"({"containers":null,"initContainers":null})"), 0);
}

std::string of_gpus(int gpus, bool sidecar = false) {
  return std::string(R"({"resources":{"limits":{"nvidia.com/gpu":")") + std::to_string(gpus) +
         "\"}}" + (sidecar ? R"(,"restartPolicy":"Always"})" : "}");
}

TEST(KubePod, SumsContainersAndTakesTheLargestInitContainer) {
  EXPECT_EQ(gpus_of_spec(R"({"containers":[)" + of_gpus(1) + "," + of_gpus(2) + "]}"), 3);
  EXPECT_EQ(gpus_of_spec(R"({"initContainers":[)" + of_gpus(4) + "," + of_gpus(2) +
                         R"(],"containers":[)" + of_gpus(1) + "]}"),
            4);
  EXPECT_EQ(gpus_of_spec(R"({"initContainers":[)" + of_gpus(1, true) + "," + of_gpus(4) +
                         R"(],"containers":[)" + of_gpus(2) + "]}"),
            5);
}

// ---- preemption

TEST_F(KubeExtender, PreemptsTheCheapestVictims) {
  const json answer = ask("preempt", golden("preempt_victims"));
  EXPECT_EQ(answer, json::parse(R"({"NodeNameToMetaVictims":{"gpu-b":{
      "Pods":[{"UID":"victim-0002"},{"UID":"victim-0003"}],"NumPDBViolations":0}}})"));
}

TEST_F(KubeExtender, PreemptsByBudgetsAloneWhereVictimsAreUnknown) {
  const json answer = ask("preempt", golden("preempt_meta_victims"));
  EXPECT_EQ(answer, json::parse(R"({"NodeNameToMetaVictims":{
      "gpu-a":{"Pods":[{"UID":"victim-0001"}],"NumPDBViolations":0},
      "gpu-b":{"Pods":[{"UID":"victim-0002"},{"UID":"victim-0003"}],"NumPDBViolations":0}}})"));
}

TEST_F(KubeExtender, PreemptsByWhatTheReportSaysOfTheVictims) {
  json list = {{"items", json::array()}};
  for (const auto& [uid, node, gpus] :
       {std::tuple("victim-0001", "gpu-a", 8), std::tuple("victim-0002", "gpu-b", 2),
        std::tuple("victim-0003", "gpu-b", 2)}) {
    list["items"].push_back({{"kind", "Node"}, {"metadata", {{"name", node}}}});
    list["items"].push_back(pod_of_size(uid, gpus));
    list["items"].back()["kind"] = "Pod";
    list["items"].back()["metadata"]["uid"] = uid;
    list["items"].back()["spec"]["nodeName"] = node;
  }
  ask("state", list.dump());
  const json answer = ask("preempt", golden("preempt_meta_victims"))["NodeNameToMetaVictims"];
  EXPECT_EQ(answer.size(), 1u);
  EXPECT_TRUE(answer.contains("gpu-b"));
}

TEST_F(KubeExtender, PreemptTakesOldCaseAndEmptyOffers) {
  EXPECT_EQ(ask("preempt",
                R"({"pod":{"metadata":{"name":"p"}},"nodeNameToMetaVictims":{"a":{
                "pods":[{"uid":"x"}],"numPDBViolations":2}}})"),
            json::parse(R"({"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"x"}],
                "NumPDBViolations":2}}})"));
  EXPECT_EQ(ask("preempt", R"({"Pod":{},"NodeNameToVictims":{}})"),
            json::parse(R"({"NodeNameToMetaVictims":{}})"));
}

// ---- what is learned without reports

TEST_F(KubeExtender, AssumesThatAPodWentToTheBestNode) {
  const Strings both = {"a", "b"};
  ask("state", report_of({{"a", 0}, {"b", 0}}));
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("p", 1), both)))["a"], 10);
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("q", 4), both)))["a"], 10);
  // The pod that is asked about again was not bound: it counts once.
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("q", 4), both)))["a"], 10);
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("r", 3), both)))["a"], 10);
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("s", 1), {"b", "c"})))["b"], 10);
}

TEST_F(KubeExtender, AnAssumptionEnds) {
  const Strings both = {"a", "b"};
  ask("state", report_of({{"a", 4}, {"b", 3}}));
  // a has 4 GPUs free, b has 5: both pods go to a.
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("p", 2), both)))["a"], 10);
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("q", 1), both)))["a"], 10);
  wait(601);
  EXPECT_EQ(scores_of(ask("prioritize", names_args(pod_of_size("r", 4), both)))["a"], 10);
}

TEST_F(KubeExtender, SnapshotsOfOtherClustersDoNotCount) {
  Extender mine({.cluster = "mine"});
  for (const char* cluster : {"mine", "other"}) {
    auto snapshot = std::make_shared<pb::DecideRequest>();
    snapshot->set_cluster(cluster);
    pb::Node& node = *snapshot->add_nodes();
    node.set_name("a");
    node.set_gpus(std::string(cluster) == "mine" ? 8 : 1);
    mine.observe(cluster, [snapshot] { return snapshot; });
  }
  const json answer = must_answer(mine, "filter", names_args(pod_of_size("p", 4), {"a"}));
  EXPECT_EQ(answer["NodeNames"], (Strings{"a"}));
}

// ---- groups

json member(int index, int gpus, int size) {
  json out = pod_of_size("worker-" + std::to_string(index), gpus);
  out["metadata"]["labels"] = {{"yardmaster.io/group", "run7"},
                               {"yardmaster.io/group-size", std::to_string(size)}};
  return out;
}

TEST_F(KubeExtender, AGroupWaitsUntilAllOfItHasRoom) {
  ask("state", report_of({{"a", 0}, {"b", 4}, {"c", 8}}));
  const Strings all = {"a", "b", "c"};
  json answer = ask("filter", names_args(member(0, 8, 2), {"a"}));
  EXPECT_EQ(answer["NodeNames"], json::array());
  EXPECT_EQ(answer["FailedAndUnresolvableNodes"]["a"],
            "group default/run7 waits: there is room for 1 of the 2 pods that it lacks");
  EXPECT_EQ(extender_.counts().waiting_groups, 1);
  // Nothing is reserved meanwhile, and nothing is evicted for a part of the group.
  EXPECT_EQ(ask("filter", names_args(pod_of_size("other", 8), {"a"}))["NodeNames"], (Strings{"a"}));
  EXPECT_TRUE(ask("preempt", json{{"Pod", member(0, 8, 2)},
                                  {"NodeNameToMetaVictims",
                                   {{"c", {{"Pods", {{{"UID", "x"}}}}, {"NumPDBViolations", 0}}}}}}
                                 .dump())["NodeNameToMetaVictims"]
                  .empty());
  ask("state", report_of({{"a", 0}, {"b", 4}, {"c", 0}}));
  answer = ask("filter", names_args(member(0, 8, 2), {"a", "c"}));
  EXPECT_EQ(answer["NodeNames"], (Strings{"a"}));
  EXPECT_EQ(extender_.counts().waiting_groups, 0);
  // The other half is reserved: others see neither it nor a way to evict it free.
  EXPECT_EQ(ask("filter", names_args(pod_of_size("other", 4), {"b", "c"}))["NodeNames"],
            (Strings{"b"}));
  EXPECT_EQ(ask("filter", names_args(member(1, 8, 2), {"b", "c"}))["NodeNames"], (Strings{"c"}));
  EXPECT_EQ(extender_.counts().expired_reservations, 0u);
}

TEST_F(KubeExtender, ManyPodsOfAGroupShareANode) {
  ask("state", report_of({{"a", 2}, {"b", 0}}));
  std::map<std::string, int> on;
  for (int i = 0; i < 4; ++i) {
    const json names = ask("filter", names_args(member(i, 2, 4), {"a", "b"}))["NodeNames"];
    ASSERT_EQ(names.size(), 1u);
    ++on[names[0]];
    EXPECT_EQ(scores_of(ask("prioritize", names_args(member(i, 2, 4), {names[0]}))).size(), 1u);
  }
  EXPECT_EQ(on, (std::map<std::string, int>{{"a", 3}, {"b", 1}}));
}

TEST_F(KubeExtender, AReservationExpiresAndTheGroupGetsAnotherTry) {
  ask("state", report_of({{"a", 0}, {"b", 0}}));
  const Strings both = {"a", "b"};
  EXPECT_EQ(ask("filter", names_args(member(0, 8, 2), both))["NodeNames"], (Strings{"a"}));
  EXPECT_EQ(ask("filter", names_args(pod_of_size("other", 1), {"b"}))["NodeNames"], json::array());
  wait(61);
  EXPECT_EQ(ask("filter", names_args(pod_of_size("other", 1), {"b"}))["NodeNames"], (Strings{"b"}));
  EXPECT_EQ(extender_.counts().expired_reservations, 1u);
  EXPECT_EQ(ask("filter", names_args(member(1, 8, 2), {"b"}))["NodeNames"], (Strings{"b"}));
}

TEST_F(KubeExtender, APodThatComesAgainKeepsItsNode) {
  ask("state", report_of({{"a", 0}, {"b", 0}}));
  const Strings both = {"a", "b"};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask("filter", names_args(member(0, 8, 2), both))["NodeNames"], (Strings{"a"}));
  }
  EXPECT_EQ(ask("filter", names_args(member(1, 8, 2), both))["NodeNames"], (Strings{"b"}));
  // Its node has gone: it gets another one, if there is one.
  EXPECT_EQ(ask("filter", names_args(member(1, 8, 2), {"c"}))["NodeNames"], (Strings{"c"}));
}

TEST_F(KubeExtender, PodsOfAGroupThatRunNeedNoRoom) {
  // As after a restart of the server: two of three run, one comes again.
  json list = json::parse(report_of({{"a", 0}, {"b", 0}}));
  for (const int i : {0, 1}) {
    list["items"].push_back(member(i, 6, 3));
    list["items"].back()["kind"] = "Pod";
    list["items"].back()["spec"]["nodeName"] = i == 0 ? "a" : "b";
  }
  list["items"].push_back(json{{"kind", "Node"},
                               {"metadata", {{"name", "c"}}},
                               {"status", {{"allocatable", {{"nvidia.com/gpu", 8}}}}}});
  ask("state", list.dump());
  EXPECT_EQ(ask("filter", names_args(member(2, 6, 3), {"c"}))["NodeNames"], (Strings{"c"}));
}

TEST_F(KubeExtender, WithoutReportsAGroupGetsWhatOffersProve) {
  // An offer proves room for one pod on each node.
  EXPECT_EQ(ask("filter", names_args(member(0, 2, 3), {"a", "b"}))["NodeNames"], json::array());
  EXPECT_EQ(ask("filter", names_args(member(0, 2, 3), {"a", "b", "c"}))["NodeNames"].size(), 1u);
}

TEST_F(KubeExtender, GroupsAreNamedInSeveralWays) {
  const auto group = [](const json& metadata) {
    return kubernetes::read_pod(json{{"metadata", metadata}}, "Pod").group;
  };
  for (const char* name :
       {"yardmaster.io/group", "scheduling.x-k8s.io/pod-group",
        "pod-group.scheduling.sigs.k8s.io/name", "jobset.sigs.k8s.io/jobset-name"}) {
    const auto read = group({{"namespace", "ns"}, {"labels", {{name, "g"}}}});
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(read->name, "ns/g");
    EXPECT_EQ(read->size, 0);
  }
  const auto sized = group({{"labels",
                             {{"pod-group.scheduling.sigs.k8s.io/name", "g"},
                              {"pod-group.scheduling.sigs.k8s.io/min-available", "3"}}}});
  EXPECT_EQ(sized->size, 3);
  EXPECT_EQ(group({{"labels", {{"yardmaster.io/group", "g"}}},
                   {"annotations", {{"yardmaster.io/group-size", "5"}}}})
                ->size,
            5);
  EXPECT_FALSE(group({{"labels", {{"app", "web"}}}}));
}

TEST_F(KubeExtender, AGroupOfUnknownSizeIsNotHeldBack) {
  json pod = pod_of_size("p", 8);
  pod["metadata"]["labels"] = {{"jobset.sigs.k8s.io/jobset-name", "run"}};
  EXPECT_EQ(ask("filter", names_args(pod, {"a", "b"}))["NodeNames"], (Strings{"a", "b"}));
  EXPECT_EQ(extender_.counts().unsized_groups, 1u);
}

}  // namespace
}  // namespace yard::testing::kube
