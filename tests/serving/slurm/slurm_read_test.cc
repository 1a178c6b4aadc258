// Slurm's texts and JSON are read, in the form of each version, and odd ones do no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "serving/slurm/ended_jobs.h"
#include "serving/slurm/read_cluster.h"
#include "serving/slurm/site.h"
#include "serving/slurm/texts.h"

namespace yard::slurm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SlurmTexts, NodeListsExpand) {
  EXPECT_THAT(*expand_nodes("n1"), ElementsAre("n1"));
  EXPECT_THAT(*expand_nodes("n[1-3,07],m1"), ElementsAre("n1", "n2", "n3", "n07", "m1"));
  EXPECT_THAT(*expand_nodes("n[09-11]"), ElementsAre("n09", "n10", "n11"));
  EXPECT_THAT(*expand_nodes("r[1-2]n[3,5]x"), ElementsAre("r1n3x", "r1n5x", "r2n3x", "r2n5x"));
  EXPECT_THAT(*expand_nodes(""), IsEmpty());
  for (const char* odd : {"n[1", "n]1", "n[a]", "n[3-1]", "n[-1]", "n1,", "n[1-999999999]"}) {
    EXPECT_FALSE(expand_nodes(odd)) << odd;
  }
}

TEST(SlurmTexts, TaskNumbersExpand) {
  EXPECT_THAT(*expand_numbers("1-3,7", 10), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(*expand_numbers("0-20:5%2", 10), ElementsAre(0, 5, 10, 15, 20));
  EXPECT_THAT(*expand_numbers("1-1000000", 3), ElementsAre(1, 2, 3));
  EXPECT_FALSE(expand_numbers("1,3,...", 10)) << "Slurm cuts long lists";
  EXPECT_FALSE(expand_numbers("", 10));
}

TEST(SlurmTexts, GpuRequestsOfAllVersions) {
  for (const char* text : {"gres:gpu:4", "gres/gpu:4", "gpu:4", "gres/gpu=4"}) {
    const auto request = parse_gpu_request(text);
    ASSERT_TRUE(request) << text;
    EXPECT_EQ(request->gpus, 4) << text;
    EXPECT_EQ(request->type, "") << text;
  }
  EXPECT_EQ(parse_gpu_request("gres:gpu:a100:2")->gpus, 2);
  EXPECT_EQ(parse_gpu_request("gres:gpu:a100:2")->type, "a100");
  EXPECT_EQ(parse_gpu_request("gres:gpu")->gpus, 1);
  EXPECT_EQ(parse_gpu_request("gres:gpu:a100")->type, "a100");
  for (const char* odd : {"gres:shard:4", "gres:gpu:2,gres:nic:1", "gres:gpu:1g.10gb:2",
                          "gpu:a:b:1", "gpu:0", "gpu:x:y", ""}) {
    EXPECT_FALSE(parse_gpu_request(odd)) << odd;
  }
}

TEST(SlurmTexts, GpusOfNodes) {
  const NodeGpus used = parse_node_gpus("gpu:a100:3(IDX:0,2-3)");
  EXPECT_TRUE(used.understood);
  EXPECT_EQ(used.gpus, 3);
  EXPECT_EQ(used.type, "a100");
  EXPECT_THAT(used.indices, ElementsAre(0, 2, 3));
  EXPECT_EQ(parse_node_gpus("gpu:8(S:0-1)").gpus, 8);
  EXPECT_EQ(parse_node_gpus("nic:2,gpu:a100:4").gpus, 4);
  EXPECT_EQ(parse_node_gpus("gpu:a100:0(IDX:N/A)").gpus, 0);
  EXPECT_TRUE(parse_node_gpus("").understood);
  EXPECT_TRUE(parse_node_gpus("gpu:8,shard:32").shared);
  EXPECT_FALSE(parse_node_gpus("gpu:8,shard:0").shared);
  for (const char* odd : {"gpu:a100:4,gpu:v100:4", "gpu:1g.10gb:7", "gpu:a100:2(IDX:N/A)",
                          "gpu:a100:2(IDX:0)", "gpu:a100:x", "gpu:65", "gpu", "gpu:1(IDX:0"}) {
    EXPECT_FALSE(parse_node_gpus(odd).understood) << odd;
  }
}

Listing read(const std::string& jobs, const std::string& nodes) {
  Listing listing;
  read_jobs(read_file("tests/data/slurm/" + jobs), listing);
  EXPECT_TRUE(read_nodes(read_file("tests/data/slurm/" + nodes), listing));
  return listing;
}

const SlurmJob& job_of(const Listing& listing, const std::string& id) {
  for (const SlurmJob& job : listing.jobs) {
    if (job.id == id) return job;
  }
  throw RunError("no job " + id);
}

// The same cluster, as Slurm 22.05 printed it and in the form of 23.11.
class SlurmJson : public ::testing::TestWithParam<std::pair<const char*, const char*>> {
 protected:
  const Listing listing_ = read(GetParam().first, GetParam().second);
  const SlurmJob& job(const std::string& id) const { return job_of(listing_, id); }
};

INSTANTIATE_TEST_SUITE_P(Versions, SlurmJson,
                         ::testing::Values(std::pair("squeue-22.05.json", "sinfo-22.05.json"),
                                           std::pair("squeue-23.11.json", "nodes-23.11.json")),
                         [](const auto& version) {
                           return version.index == 0 ? "Slurm22_05" : "Slurm23_11";
                         });

TEST_P(SlurmJson, JobsAreRead) {
  EXPECT_THAT(listing_.odd, IsEmpty());
  const SlurmJob& waiting = job("25");
  EXPECT_TRUE(waiting.waits());
  EXPECT_EQ(waiting.admin_comment, "yardmaster lease");
  EXPECT_EQ(waiting.per_node->gpus, 4);
  EXPECT_EQ(waiting.eligible_s, 1795826803);
  EXPECT_EQ(waiting.reason, "BeginTime");
  EXPECT_EQ(waiting.not_understood, "");
  EXPECT_EQ(waiting.partition, "gpu");
  EXPECT_EQ(waiting.user, "root");
  EXPECT_EQ(waiting.limit_s, 0) << "no limit";
  const SlurmJob& running = job("26");
  EXPECT_TRUE(running.runs());
  EXPECT_EQ(running.limit_s, 600);
  EXPECT_EQ(running.required_nodes, "n3");
  ASSERT_TRUE(running.held && running.held->size() == 1);
  EXPECT_EQ(running.held->front().node, "n3");
  EXPECT_THAT(running.held->front().gpus, ElementsAre(3, 4, 5));
  EXPECT_EQ(job("27").nodes, 2);
  EXPECT_EQ(job("39").per_job->gpus, 12);
}

TEST_P(SlurmJson, EndedJobsAreListedApart) {
  for (const SlurmJob& one : listing_.jobs) EXPECT_NE(one.id, "4");
  ASSERT_EQ(listing_.ended.size(), 1u);
  const SlurmJob& ended = listing_.ended[0];
  EXPECT_EQ(ended.id, "4");
  EXPECT_EQ(ended.end_s - ended.start_s, 30);
  EndedJobs seen;
  ASSERT_THAT(seen.update(listing_), ElementsAre(&ended));
  EXPECT_THAT(seen.update(listing_), IsEmpty()) << "each is new once";
  const auto outcome = outcome_of(ended, 12);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->job(), "4");
  EXPECT_EQ(outcome->end(), pb::Outcome::CANCELLED);
  EXPECT_EQ(outcome->start_s(), 1795826742);
  EXPECT_EQ(outcome->end_s(), 1795826772);
  EXPECT_EQ(outcome->run_s(), 42);
  EXPECT_EQ(outcome->decision_id(), "1795826737816076-1");
  EXPECT_FALSE(outcome_of(ended, {})->has_run_s()) << "its earlier runs are unknown";
  SlurmJob waited = ended;
  waited.node_list.clear();
  EXPECT_EQ(outcome_of(waited, 0)->run_s(), 0) << "it was cancelled before it ran";
  waited.state = "SOMETHING_NEW";
  EXPECT_FALSE(outcome_of(waited, 0).has_value());
}

// After a requeue a job is COMPLETING first. A command to start it would be lost.
TEST_P(SlurmJson, CompletingJobsDoNotWait) {
  EXPECT_TRUE(job("28").completing);
  EXPECT_FALSE(job("28").waits());
  EXPECT_FALSE(job("28").runs());
  EXPECT_EQ(job("28").restarts, 1);
}

TEST_P(SlurmJson, WaitingArraysBecomeTasks) {
  for (const char* task : {"29_1", "29_2", "29_3", "29_4"}) {
    EXPECT_TRUE(job(task).waits()) << task;
    EXPECT_EQ(job(task).record, "29_[1-4]") << task;
    EXPECT_EQ(job(task).array, "29") << task;
  }
  EXPECT_TRUE(job("30_1").runs());
  EXPECT_EQ(job("30_1").record, "30_1");
}

TEST_P(SlurmJson, WishesThatAreLeftToSlurm) {
  EXPECT_EQ(job("30_3").not_understood, "array_throttle");
  EXPECT_EQ(job("34").not_understood, "exclusive");
  EXPECT_EQ(job("35").not_understood, "dependency");
  EXPECT_EQ(job("36").not_understood, "no_gpu");
  EXPECT_EQ(job("37").not_understood, "node_list");
  EXPECT_EQ(job("38").not_understood, "gpus_per_task");
}

TEST_P(SlurmJson, NodesAreRead) {
  ASSERT_EQ(listing_.nodes.size(), 4u);
  const SlurmNode &n0 = listing_.nodes[0], &n1 = listing_.nodes[1], &n3 = listing_.nodes[3];
  EXPECT_EQ(n0.gpus, 8);
  EXPECT_EQ(n0.gpu_type, "a100");
  EXPECT_THAT(n0.used, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(n0.partitions, ElementsAre("gpu", "other"));
  EXPECT_EQ(n0.cpus, 64);
  EXPECT_EQ(n0.used_cpus, 3);
  EXPECT_TRUE(n0.usable && n0.understood);
  EXPECT_EQ(n1.state, "idle+drain");
  EXPECT_FALSE(n1.usable);
  EXPECT_EQ(n3.state, "mixed+completing");
  EXPECT_TRUE(n3.usable);
}

nlohmann::json document(const char* file) {
  return nlohmann::json::parse(read_file(std::string("tests/data/slurm/") + file));
}

TEST(SlurmJsonFlaws, OddRecordsAreNamedAndTheRestIsRead) {
  nlohmann::json jobs = document("squeue-22.05.json");
  const size_t before = read("squeue-22.05.json", "sinfo-22.05.json").jobs.size();
  for (const char* odd : {R"({})", "7", "null", R"({"job_id": -4})", R"({"job_id": "x"})"}) {
    jobs["jobs"].push_back(nlohmann::json::parse(odd));
  }
  Listing listing;
  read_jobs(jobs.dump(), listing);
  EXPECT_EQ(listing.odd.size(), 5u);
  EXPECT_EQ(listing.jobs.size(), before);
}

// A name in Latin-1 must not hide the cluster.
TEST(SlurmJsonFlaws, OtherEncodingsAreReplaced) {
  std::string json = read_file("tests/data/slurm/squeue-22.05.json");
  json.replace(json.find("caf"), 3, "caf\xe9");
  Listing listing;
  read_jobs(json, listing);
  EXPECT_THAT(job_of(listing, "25").name, HasSubstr("caf\xEF\xBF\xBD"));
}

TEST(SlurmJsonFlaws, FieldsOfOtherTypesAreMissing) {
  nlohmann::json jobs = document("squeue-22.05.json");
  for (nlohmann::json& job : jobs["jobs"]) {
    for (auto& [key, value] : job.items()) {
      if (key != "job_id") value = nlohmann::json::array({nlohmann::json::object()});
    }
  }
  Listing listing;
  read_jobs(jobs.dump(), listing);
  EXPECT_THAT(listing.odd, IsEmpty());
  for (const SlurmJob& job : listing.jobs) {
    EXPECT_FALSE(job.waits());
    EXPECT_FALSE(job.runs());
  }
}

TEST(SlurmJsonFlaws, OtherTextsAreRefused) {
  for (const char* odd :
       {"", "slurm_load_jobs error", "[]", "{}", "{\"jobs\": 3}", "{\"jobs\": ["}) {
    Listing listing;
    EXPECT_THROW(read_jobs(odd, listing), InputError) << odd;
    EXPECT_THROW(read_nodes(odd, listing), InputError) << odd;
  }
}

TEST(SlurmJsonFlaws, LaterSinfoHasNoSingleNodes) {
  Listing listing;
  EXPECT_FALSE(read_nodes(R"({"sinfo": [{"nodes": {"total": 4}}]})", listing));
}

TEST(SlurmJsonFlaws, NodesThatAreNotUnderstoodSaySo) {
  nlohmann::json nodes = document("sinfo-22.05.json");
  nodes["nodes"][0]["gres_used"] = "gpu:a100:2(IDX:0,9)";
  nodes["nodes"][1]["state"] = "fancy";
  nodes["nodes"][1]["state_flags"] = nlohmann::json::array();
  nodes["nodes"][2]["gres_used"] = "gpu:a100:1(IDX:0),shard:3";
  nodes["nodes"][3]["gres"] = "gpu:a100:4,gpu:v100:4";
  nodes["nodes"].push_back(nodes["nodes"][0]);
  nodes["nodes"][4].erase("gres_used");
  Listing listing;
  EXPECT_TRUE(read_nodes(nodes.dump(), listing));
  EXPECT_FALSE(listing.nodes[0].understood);
  EXPECT_FALSE(listing.nodes[1].usable);
  EXPECT_FALSE(listing.nodes[2].understood);
  EXPECT_FALSE(listing.nodes[3].understood);
  EXPECT_FALSE(listing.nodes[4].understood);
}

TEST(SlurmSite, ConfigurationIsRead) {
  SiteConfig site;
  read_site_config(
      "Configuration data as of 2026\nClusterName             = yard\nJobSubmitPlugins  "
      "      = lua\nSelectTypeParameters    = CR_CORE\nodd line\n",
      site);
  EXPECT_EQ(site.cluster, "yard");
  EXPECT_TRUE(site.has_gate);
  EXPECT_FALSE(site.memory_counts);
  read_site_config("SelectTypeParameters    = CR_CORE_MEMORY\n", site);
  EXPECT_TRUE(site.memory_counts);
  read_site_partitions(
      "PartitionName=a Default=YES PreemptMode=REQUEUE State=UP\n"
      "PartitionName=b PreemptMode=OFF\n",
      site);
  EXPECT_THAT(site.requeues, ElementsAre("a"));
  read_site_qos("normal|cluster\nlow|requeue\n\n", site);
  EXPECT_THAT(site.qos_requeues, ElementsAre("low"));
}

}  // namespace
}  // namespace yard::slurm
