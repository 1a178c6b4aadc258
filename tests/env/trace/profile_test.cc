// Readers of measurements: each registered one by its example, errors for invalid files, and the
// published files by known rows and special cases.
#include "env/trace/profiles/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "tests/support/require.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using testing::traces_dir;
using Readers = Registry<ProfileReader>;

Profiles parsed(const std::string& text, const std::string& path) {
  Profiles out;
  parse_profile(text, path, out);
  return out;
}

std::string profile_error(const std::string& text, const std::string& path) {
  try {
    parsed(text, path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

size_t amount(const Profiles& p) {
  size_t runs =
      p.pairs.size() + p.all_reduces.size() + p.sizes.size() + p.restarts.size() + p.curves.size();
  for (const ModelProfile& profile : p.models) {
    runs += profile.runs.size() + profile.parameter_server_runs.size();
  }
  return runs;
}

const ModelProfile& model(const Profiles& profiles, const std::string& name) {
  for (const ModelProfile& profile : profiles.models) {
    if (profile.model == name) return profile;
  }
  throw InputError("no profile of " + name);
}

const MeasuredRun& run_at(const ModelProfile& profile, const std::string& type, double batch,
                          const std::vector<int32_t>& placement) {
  for (const MeasuredRun& run : profile.runs) {
    if (run.gpu_type == type && std::abs(run.local_batch - batch) < 1e-9 &&
        run.node_gpus == placement) {
      return run;
    }
  }
  throw InputError("no such run of " + profile.model);
}

TEST(EveryProfileReader, AloneRecognisesItsExample) {
  ASSERT_FALSE(Readers::names().empty());
  for (const std::string& name : Readers::names()) {
    SCOPED_TRACE(name);
    const std::string example = Readers::info(name).example;
    EXPECT_GT(amount(parsed(example, Readers::info(name).example_path)), 0u);
    FileHead head{"example", example, {}};
    const std::string line(head.line(1));
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(',', at), line.size());
      head.columns.push_back(std::string_view(line).substr(at, end - at));
      at = end + 1;
    }
    for (const std::string& other : Readers::names()) {
      EXPECT_EQ(is_recognised(other, head), other == name) << other;
    }
  }
}

// Any content gives measurements or an InputError which names the file.
TEST(EveryProfileReader, SurvivesMutatedExamples) {
  for (const std::string& name : Readers::names()) {
    const std::string example = Readers::info(name).example;
    const std::string path = Readers::info(name).example_path;
    int refused = 0;
    const auto load = [&](const std::string& text) {
      try {
        for (const ModelProfile& profile : parsed(text, path).models) {
          for (const MeasuredRun& run : profile.runs) {
            EXPECT_GE(run.gpus(), 1);
            EXPECT_GT(run.local_batch, 0);
            EXPECT_GE(run.iteration_s, 0);
          }
        }
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), StartsWith(path));
        ++refused;
      }
    };
    for (size_t i = 0; i < example.size(); ++i) {
      load(example.substr(0, i));
      for (const char c : {'x', '-', ',', '0', '\n'}) {
        std::string bent = example;
        bent[i] = c;
        load(bent);
      }
    }
    EXPECT_GT(refused, 0) << name;
  }
}

TEST(Profile, ErrorsNameFileLineAndColumn) {
  const std::string pollux = "placement,local_bsz,step_time,sync_time\n";
  EXPECT_THAT(
      profile_error(pollux + "1,4,0.5,0\n11,4,fast,0\n", "bert/placements.csv"),
      AllOf(StartsWith("bert/placements.csv:3:6: expected step_time"), HasSubstr("'fast'")));
  EXPECT_THAT(profile_error(pollux + "1a,4,0.5,0\n", "p.csv"),
              StartsWith("p.csv:2:1: expected a pl"));
  EXPECT_THAT(profile_error(pollux + "1,0,0.5,0\n", "p.csv"), StartsWith("p.csv:2:3:"));
  EXPECT_THAT(profile_error(pollux + "1,4,0.5\n", "p.csv"),
              StartsWith("p.csv:2: expected 4 fields"));
  EXPECT_THAT(
      profile_error("num_nodes,num_replicas,local_bsz,step_time,sync_time\n8,4,1,1,1\n", "p.csv"),
      StartsWith("p.csv:2:1:"));
  EXPECT_THAT(profile_error("global_batch_size,1\n8,1\n", "elsewhere/bert.csv"),
              HasSubstr("throughputs_TYPE"));
  EXPECT_THAT(profile_error("global_batch_size,one\n8,1\n", "throughputs_T4/bert.csv"),
              StartsWith("throughputs_T4/bert.csv:1:"));
  EXPECT_THAT(profile_error("global_batch_size,1, 1\n8,1,2\n", "throughputs_T4/bert.csv"),
              StartsWith("throughputs_T4/bert.csv:1: expected each column once, got '1' twice"));
  EXPECT_THAT(profile_error("exec_plan,placement,iter_time\nga,11,-1\n", "bert/p.csv"),
              StartsWith("bert/p.csv:2:7:"));
  EXPECT_THAT(
      profile_error("node1 -- ReLU() -- parameter_size=1\nnode2 -- ReLU()\n", "m.graph.txt"),
      StartsWith("m.graph.txt:2:1:"));
  EXPECT_THAT(profile_error("job_id,num_gpu\n1,1\n", "jobs.csv"),
              StartsWith("jobs.csv:1: expected"));
}

TEST(Profile, ErrorsInJsonNameLineAndColumn) {
  const std::string path = "t.json";
  EXPECT_THAT(profile_error("{\"v100\": {\n\"('A3C', 1)\": {\"null\": true}}}", path),
              StartsWith("t.json:2:28: expected a number"));
  EXPECT_THAT(profile_error("{\"v100\": {\n  \"A3C\": {\"null\": 1}}}", path),
              AllOf(StartsWith("t.json:2:"), HasSubstr("a job type"), HasSubstr("'A3C'")));
  EXPECT_THAT(profile_error("{\"v100\": {\"('A3C', 1)\": {\"null\": -1}}}", path),
              StartsWith("t.json:1:"));
  EXPECT_THAT(
      profile_error("{\"v100\": {\"('A3C', 1)\": {\"null\": 1,\n\"('A3C', 1)\": [1]}}}", path),
      AllOf(StartsWith("t.json:2:"), HasSubstr("two rates")));
  EXPECT_THAT(profile_error("{\"v100\": {\"('A3C', 1)\": {\"null\": 1}}", path), HasSubstr("JSON"));
}

TEST(Profile, FoldersAreSearchedAndEmptyOnesRejected) {
  const fs::path dir = fs::temp_directory_path() / ("yard-profile-" + std::to_string(getpid()));
  fs::create_directories(dir / "cifar10");
  EXPECT_THROW(load_profiles(dir), InputError);
  EXPECT_THROW(load_profiles(dir / "missing.csv"), InputError);
  for (const char* name : {"pollux-placements", "pollux-scalability"}) {
    std::ofstream(dir / Readers::info(name).example_path) << Readers::info(name).example;
  }
  std::ofstream(dir / "jobs.csv") << "name,time\n";
  const Profiles profiles = load_profiles(dir);
  ASSERT_EQ(profiles.models.size(), 1u) << "both files are of one model";
  EXPECT_EQ(profiles.models[0].runs.size(), 4u);
  // Seven replicas on six nodes, as evenly as possible.
  EXPECT_THAT(profiles.models[0].runs[2].node_gpus, ElementsAre(2, 1, 1, 1, 1, 1));
  EXPECT_THROW(load_profiles(dir / "jobs.csv"), InputError);
  fs::remove_all(dir);
}

TEST(Profile, ModelNamesAreNormalised) {
  EXPECT_EQ(normalised_model_name("ResNet-50"), normalised_model_name("resnet50"));
  EXPECT_EQ(normalised_model_name("gpt2/zero-dp"), "gpt2/zerodp");
  EXPECT_NE(normalised_model_name("ResNet-50"), normalised_model_name("ResNet-18"));
}

// --- the published files ------------------------------------------------------------------------

TEST(PublishedProfiles, Gavel) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "gavel/simulation_throughputs.json.gz");
  EXPECT_EQ(p.models.size(), 7u);
  const ModelProfile& resnet = model(p, "ResNet-50");
  EXPECT_EQ(resnet.scaling, BatchScaling::kWeak);
  // Steps a second of all workers: at 7.92 on two GPUs an iteration takes 2 / 7.92 s.
  EXPECT_DOUBLE_EQ(run_at(resnet, "v100", 64, {1}).iteration_s, 1 / 4.394774823323071);
  EXPECT_DOUBLE_EQ(run_at(resnet, "v100", 64, {2}).iteration_s, 2 / 7.922054367597505);
  EXPECT_DOUBLE_EQ(run_at(resnet, "v100", 64, {1, 1}).iteration_s, 2 / 6.865936825179568);
  EXPECT_EQ(run_at(resnet, "k80", 128, {2}).iteration_s, 0) << "out of memory";
  EXPECT_EQ(p.pairs.size(), 3u * 26 * 26);
  for (const MeasuredColocatedPair& pair : p.pairs) {
    EXPECT_GE(pair.one.rate, 0);
    EXPECT_LE(pair.one.rate, 1 + 1e-12) << "no job gains from co-location";
  }
}

TEST(PublishedProfiles, ShockwaveHasTheGavelLayout) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "shockwave/tacc_throughputs.json.gz");
  EXPECT_DOUBLE_EQ(run_at(model(p, "ResNet-18"), "v100", 16, {1}).iteration_s, 1 / 57.68343332);
}

TEST(PublishedProfiles, Pollux) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "pollux-adaptdl");
  EXPECT_EQ(p.models.size(), 6u);
  EXPECT_EQ(model(p, "bert").runs.size(), 540u + 180);
  EXPECT_EQ(model(p, "ncf").runs.size(), 1661u + 458);
  const MeasuredRun& run = run_at(model(p, "bert"), "t4", 4, {1, 1});
  EXPECT_DOUBLE_EQ(run.iteration_s, 1.2252386063337326);
  EXPECT_DOUBLE_EQ(run.sync_s, 0.827435749053955);
}

TEST(PublishedProfiles, ElasticFlow) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "elasticflow");
  EXPECT_EQ(p.models.size(), 13u) << "7 on A100, 6 on T4";
  const ModelProfile& vgg = model(p, "vgg16");
  EXPECT_DOUBLE_EQ(run_at(vgg, "a100", 16, {8, 8}).iteration_s, 1 / 12.621757731334574);
  EXPECT_DOUBLE_EQ(vgg.identifying_batch_size(run_at(vgg, "a100", 16, {8, 8})), 256);
  EXPECT_EQ(run_at(model(p, "deepspeech2"), "a100", 0.5, std::vector<int32_t>(8, 8)).iteration_s,
            0);
  EXPECT_EQ(run_at(model(p, "yolov3"), "t4", 2, std::vector<int32_t>(8, 4)).iteration_s, 0);
}

TEST(PublishedProfiles, Morphling) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "morphling-a800");
  EXPECT_DOUBLE_EQ(run_at(model(p, "bert/ga"), "a800", 0.125, {4, 4}).iteration_s,
                   0.2100157894736842);
  const std::vector<int32_t> whole(8, 8);
  EXPECT_DOUBLE_EQ(run_at(model(p, "llama7/3d"), "a800", 1.0 / 64, whole).iteration_s, 0.672942105)
      << "the fastest degrees";
  EXPECT_EQ(run_at(model(p, "llama7b_bsz16/3d"), "a800", 1, {1}).iteration_s, 0) << "did not run";
  EXPECT_EQ(run_at(model(p, "llama7b_bsz16"), "a800", 1, {1}).iteration_s, 46) << "offloaded";
  for (const MeasuredRun& run : model(p, "gpt2").runs) {
    for (const char* plan : {"gpt2/ga", "gpt2/gc", "gpt2/zero-dp", "gpt2/zero-offload"}) {
      for (const MeasuredRun& other : model(p, plan).runs) {
        if (other.node_gpus != run.node_gpus || other.iteration_s == 0) continue;
        EXPECT_LE(run.iteration_s, other.iteration_s);
      }
    }
  }
}

TEST(PublishedProfiles, PipeDreamParameterCountsMatch) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "pipedream-layers");
  EXPECT_EQ(p.sizes.size(), 14u);
  const auto bytes = [&](const std::string& name) {
    for (const MeasuredModelSize& size : p.sizes) {
      if (size.model == name) return size.bytes;
    }
    return 0.0;
  };
  EXPECT_EQ(bytes("resnet50"), 4 * 25557032.0);  // torchvision's counts
  EXPECT_EQ(bytes("vgg16"), 4 * 138357544.0);
  EXPECT_EQ(bytes("inception_v3"), 4 * 27161264.0);
}

TEST(PublishedProfiles, Vidur) {
  YARD_NEEDS_TRACES();
  const Profiles p = load_profiles(traces_dir() / "vidur");
  EXPECT_EQ(p.all_reduces.size(), 6958u + 4496 + 2982 + 1988);
}

}  // namespace
}  // namespace yard
