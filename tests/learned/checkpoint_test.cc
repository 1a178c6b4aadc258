// Checkpoints: what is saved is loaded again. Damaged files are rejected with one message.
#include "policies/learned/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/files/file.h"
#include "tests/support/checkpoints.h"
#include "tests/support/dispatcher.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

TEST(Tensors, RoundTrip) {
  const Tensors out = {{"a", {{2, 3}, {1, -2, 3.5F, 0, 1e-38F, 3e38F}}},
                       {"empty", {{0, 4}, {}}},
                       {"scalar", {{1}, {-0.0F}}}};
  const std::string bytes = to_safetensors(out);
  const Tensors in = from_safetensors(bytes, "test");
  ASSERT_EQ(in.size(), 3u);
  for (const auto& [name, tensor] : out) {
    EXPECT_EQ(in.at(name).shape, tensor.shape);
    EXPECT_EQ(in.at(name).data, tensor.data);
  }
  EXPECT_EQ(to_safetensors(in), bytes);
  EXPECT_TRUE(from_safetensors(to_safetensors({}), "test").empty());
}

TEST(Tensors, EveryTruncationIsRefused) {
  const std::string bytes = to_safetensors({{"a", {{2}, {1, 2}}}, {"b", {{1}, {3}}}});
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(from_safetensors(bytes.substr(0, n), "test"), InputError) << n;
  }
}

TEST(Tensors, WrongHeadersAreRefused) {
  const auto file = [](const std::string& header, size_t numbers) {
    std::string out(8, '\0');
    out[0] = static_cast<char>(header.size());
    return out + header + std::string(numbers, '\0');
  };
  const auto what = [&](const std::string& header, size_t numbers = 8) {
    return refusal([&] { from_safetensors(file(header, numbers), "here"); });
  };
  EXPECT_EQ(what(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})"), "");
  EXPECT_EQ(what(R"({"__metadata__":{"x":"y"}})", 0), "");
  EXPECT_THAT(what(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,8]}})"), HasSubstr("F32"));
  EXPECT_THAT(what(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})"), HasSubstr("here"));
  EXPECT_THAT(what(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})"), HasSubstr("8..0"));
  EXPECT_THAT(what(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})"), HasSubstr("12"));
  EXPECT_NE(what(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})"), "");
  EXPECT_NE(what(R"({"a":{"dtype":"F32","shape":[268435456,268435456],"data_offsets":[0,8]}})"),
            "");
  EXPECT_NE(what(R"({"a":{"dtype":"F32","shape":[2]}})"), "");
  EXPECT_NE(what(R"({"a":{"dtype":"F32","shape":"two","data_offsets":[0,8]}})"), "");
  EXPECT_NE(what(R"({"a":7})"), "");
  EXPECT_NE(what(R"([1,2])"), "");
  EXPECT_NE(what(R"(not json)"), "");
  std::string long_header(16, '\xff');
  EXPECT_THROW(from_safetensors(long_header, "here"), InputError);
}

class CheckpointFiles : public ::testing::Test {
 protected:
  void SetUp() override { save_checkpoint(saved_, folder_); }

  // Rewrites a file through `change`. For files other than the manifest, updates the hash in the
  // manifest, so that the content is what gets rejected.
  template <class F>
  void rewrite_tensors(const char* file, F&& change) {
    Tensors tensors = from_safetensors(read_file(folder_ / file), file);
    change(tensors);
    const std::string bytes = to_safetensors(tensors);
    write_file_atomic(folder_ / file, bytes);
    rewrite_manifest([&](Json& m) { m["sha256"][file] = sha256_hex(bytes); });
  }
  template <class F>
  void rewrite_manifest(F&& change) {
    Json manifest = Json::parse(read_file(folder_ / "manifest.json"));
    change(manifest);
    write_file_atomic(folder_ / "manifest.json", manifest.dump());
  }
  void flip(const char* file, size_t at) {
    std::string bytes = read_file(folder_ / file);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file_atomic(folder_ / file, bytes);
  }
  std::string load() {
    return refusal([&] { policy_of(load_checkpoint(folder_), folder_.string()); });
  }

  Scratch scratch_;
  fs::path folder_ = scratch_.path() / "ckpt";
  Checkpoint saved_ = small_checkpoint();
};

TEST_F(CheckpointFiles, RoundTrip) {
  const Checkpoint c = load_checkpoint(folder_);
  EXPECT_EQ(c.agent, "dispatcher");
  EXPECT_EQ(c.network, "job-scorer");
  EXPECT_EQ(agent_of(c)->settings(), small_agent()->settings());
  EXPECT_EQ(c.provenance, saved_.provenance);
  EXPECT_EQ(c.onnx, read_file(folder_ / "model.onnx"));
  ASSERT_EQ(c.weights.size(), saved_.weights.size());
  for (const auto& [name, t] : saved_.weights) EXPECT_EQ(c.weights.at(name).data, t.data) << name;
  for (const auto& [name, t] : saved_.golden) EXPECT_EQ(c.golden.at(name).data, t.data) << name;
  EXPECT_EQ(load(), "");
}

// A checkpoint's digest depends neither on whether model.onnx was written nor on the release.
TEST_F(CheckpointFiles, OnnxModelAndReleaseDoNotChangeTheDigest) {
  const std::string digest = load_checkpoint(folder_).digest;
  Json manifest = Json::parse(read_file(folder_ / "manifest.json"));
  ASSERT_EQ(manifest["sha256"].erase("model.onnx"), 1u);
  ASSERT_EQ(manifest.erase("written_by"), 1u);
  const std::string text = manifest.dump(2) + "\n";
  write_file_atomic(folder_ / "manifest.json", text);
  fs::remove(folder_ / "model.onnx");
  const Checkpoint old = load_checkpoint(folder_);
  EXPECT_EQ(old.onnx, "");
  EXPECT_EQ(old.written_by, "");
  EXPECT_EQ(old.digest, digest);
  EXPECT_EQ(old.digest, sha256_hex(text));
  save_checkpoint(old, folder_);
  const Checkpoint drawn = load_checkpoint(folder_);
  EXPECT_NE(drawn.onnx, "");
  EXPECT_EQ(drawn.written_by, "yardmaster " + std::string(release_version()));
  EXPECT_EQ(drawn.digest, digest);
  rewrite_manifest([](Json& m) { m["provenance"]["seed"] = 4; });
  EXPECT_NE(load_checkpoint(folder_).digest, digest);
}

// A network that is only defined by its outputs.
class Silent final : public NativeNetwork {
 public:
  explicit Silent(const TrainedWeights&) {}
  void forward(const Observation&, std::span<float>) const override {}
  Settings settings() const override { return {}; }
};
const NativeNetworkRegistry::Add<Silent> kSilent{"silent", {}};

TEST_F(CheckpointFiles, NetworkWithoutAGraphHasNoOnnxModel) {
  saved_.network = "silent";
  save_checkpoint(saved_, folder_);
  EXPECT_FALSE(fs::exists(folder_ / "model.onnx"));
  EXPECT_EQ(load(), "");
}

TEST_F(CheckpointFiles, TrainingCostIsStoredNextToTheManifest) {
  EXPECT_FALSE(fs::exists(folder_ / "cost.json"));
  EXPECT_EQ(load_checkpoint(folder_).core_s, 0);
  Checkpoint costly = small_checkpoint();
  costly.core_s = 1234;
  save_checkpoint(costly, scratch_.path() / "costly");
  const Checkpoint c = load_checkpoint(scratch_.path() / "costly");
  EXPECT_EQ(c.core_s, 1234);
  EXPECT_EQ(c.digest, load_checkpoint(folder_).digest);  // equal trainings, equal hashes
  write_file_atomic(folder_ / "cost.json", R"({"training_core_s": "long"})");
  EXPECT_NE(load(), "");
}

TEST_F(CheckpointFiles, GoldenStatesReproduceTheRecordedOutputs) {
  const Checkpoint c = load_checkpoint(folder_);
  const JobScorer net({c.weights, dispatcher::kShape, "test"});
  auto states = unpack_golden(c.golden, dispatcher::kShape, "test");
  ASSERT_EQ(states.size(), 5u);
  std::vector<float> logits(dispatcher::kActions);
  for (GoldenState& g : states) {
    net.forward(g.observation(), logits);
    EXPECT_EQ(logits, g.logits) << g.rows << " rows";
  }
}

TEST_F(CheckpointFiles, ReplacingLeavesNoOtherFiles) {
  saved_.provenance["seed"] = 4;
  save_checkpoint(saved_, folder_);
  EXPECT_EQ(load_checkpoint(folder_).provenance["seed"], 4);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(scratch_.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(names, ::testing::ElementsAre("ckpt"));
}

TEST_F(CheckpointFiles, FlippedBitIsDetected) {
  flip("model.safetensors", read_file(folder_ / "model.safetensors").size() - 3);
  EXPECT_THAT(load(), HasSubstr("model.safetensors"));
  save_checkpoint(saved_, folder_);
  flip("golden.safetensors", 200);
  EXPECT_THAT(load(), HasSubstr("golden.safetensors"));
  save_checkpoint(saved_, folder_);
  flip("model.onnx", 200);
  EXPECT_THAT(load(), HasSubstr("model.onnx"));
}

TEST_F(CheckpointFiles, TruncatedOrMissingFilesAreRefused) {
  for (const char* file :
       {"model.safetensors", "golden.safetensors", "model.onnx", "manifest.json"}) {
    save_checkpoint(saved_, folder_);
    const std::string bytes = read_file(folder_ / file);
    write_file_atomic(folder_ / file, bytes.substr(0, bytes.size() / 2));
    EXPECT_THAT(load(), HasSubstr(file));
    fs::remove(folder_ / file);
    EXPECT_THAT(load(), HasSubstr(file));
  }
  EXPECT_THAT(refusal([] { load_checkpoint("no/such/folder"); }), HasSubstr("no/such/folder"));
}

// Writes the hash of what decides how the weights are used, as if the manifest were saved so.
void renew_use_hash(Json& m) {
  std::string use;
  for (const char* key : {"agent", "network", "task", "feature_schema"}) use += m[key].dump();
  m["use_sha256"] = sha256_hex(use);
}

TEST_F(CheckpointFiles, AnotherVersionOrSchemaIsRefused) {
  rewrite_manifest([](Json& m) { m["format_version"] = 99; });
  EXPECT_THAT(load(), HasSubstr("99"));
  save_checkpoint(saved_, folder_);
  rewrite_manifest([](Json& m) { m["feature_schema"] = std::string(64, '0'); });
  EXPECT_THAT(load(), HasSubstr("schema")) << "somebody wrote into it";
  // Consistent, but made for another agent's features.
  rewrite_manifest(renew_use_hash);
  EXPECT_THAT(load(), HasSubstr("retrain it"));
}

TEST_F(CheckpointFiles, TaskOutOfRangeIsRejected) {
  for (const auto& [key, value] : {std::pair<const char*, Json>{"held_rows", "65"},
                                   {"waiting_rows", "0"},
                                   {"spread", "-1"},
                                   {"shrink", "0"},
                                   {"sibling_prior", "0"},
                                   {"tick_s", "0"},
                                   {"quantum_s", "-1"},
                                   {"margin_log2", "-0.5"},
                                   {"prior_other", "0"},
                                   {"gpu_exponent", "1e9"},
                                   {"spread_batch", "11"},
                                   {"spread_user", 0.5},
                                   {"spread", "wide"},
                                   {"placement", "sideways"},
                                   {"colour", "red"}}) {
    save_checkpoint(saved_, folder_);
    rewrite_manifest([&, key = key, value = value](Json& m) {
      m["task"][key] = value;
      renew_use_hash(m);
    });
    EXPECT_THAT(load(), HasSubstr(key));
  }
  save_checkpoint(saved_, folder_);
  rewrite_manifest([](Json& m) {
    m["task"] = nullptr;
    renew_use_hash(m);
  });
  EXPECT_THAT(load(), HasSubstr("task: expected an object"));
}

TEST_F(CheckpointFiles, ManifestWithWrongTypesIsRejected) {
  const std::vector<std::function<void(Json&)>> changes = {
      [](Json& m) { m.erase("task"); },
      [](Json& m) { m["format_version"] = "one"; },
      [](Json& m) { m["feature_schema"] = 7; },
      [](Json& m) { m.erase("sha256"); },
      [](Json& m) { m["sha256"].erase("golden.safetensors"); },
      [](Json& m) { m = Json::array(); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    save_checkpoint(saved_, folder_);
    rewrite_manifest(changes[i]);
    EXPECT_NE(load(), "") << "change " << i;
  }
}

TEST_F(CheckpointFiles, ManuallyChangedConstantIsDetected) {
  rewrite_manifest([](Json& m) { m["task"]["shrink"] = 9; });
  EXPECT_THAT(load(), HasSubstr("sha256"));
  save_checkpoint(saved_, folder_);
  rewrite_manifest([](Json& m) { m["agent"] = "somebody"; });
  EXPECT_THAT(load(), HasSubstr("sha256"));
  save_checkpoint(saved_, folder_);
  rewrite_manifest([](Json& m) { m["scores"].push_back("a note"); });
  EXPECT_EQ(load(), "") << "scores may be added later";
}

TEST_F(CheckpointFiles, InvalidWeightsAreRejected) {
  rewrite_tensors("model.safetensors",
                  [](Tensors& t) { t["w2"].data[3] = std::numeric_limits<float>::quiet_NaN(); });
  EXPECT_THAT(load(), ::testing::AllOf(HasSubstr("w2"), HasSubstr("finite")));
  save_checkpoint(saved_, folder_);
  rewrite_tensors("model.safetensors", [](Tensors& t) { t.erase("w5"); });
  EXPECT_THAT(load(), HasSubstr("w5"));
  save_checkpoint(saved_, folder_);
  rewrite_tensors("model.safetensors", [](Tensors& t) { t.erase("b1"); });
  EXPECT_THAT(load(), HasSubstr("b1"));
  save_checkpoint(saved_, folder_);
  rewrite_tensors("model.safetensors", [](Tensors& t) { t["w1_job"].shape = {4, 16}; });
  EXPECT_THAT(load(), ::testing::AllOf(HasSubstr("w1_job"), HasSubstr("(8, 8)")));
}

TEST_F(CheckpointFiles, GoldenStatesOfAnotherShapeAreRefused) {
  const Tensors good = saved_.golden;
  const auto what = [&](std::function<void(Tensors&)> change) {
    Tensors golden = good;
    change(golden);
    return refusal([&] { unpack_golden(golden, dispatcher::kShape, "golden"); });
  };
  EXPECT_EQ(what([](Tensors&) {}), "");
  EXPECT_THAT(what([](Tensors& t) { t.erase("rows"); }), HasSubstr("rows"));
  EXPECT_THAT(what([](Tensors& t) { t.erase("prior"); }), HasSubstr("prior"));
  EXPECT_THAT(what([](Tensors& t) { t["jobs"].data.pop_back(); }), HasSubstr("jobs"));
  EXPECT_THAT(what([](Tensors& t) { t["rows"].data[0] = 129; }), HasSubstr("128"));
  EXPECT_THAT(what([](Tensors& t) { t["rows"].data[0] = NAN; }), HasSubstr("128"));
}

TEST(JobScorer, ScoresDoNotDependOnRowOrder) {
  const JobScorer net({random_weights(8, Rng{11}), dispatcher::kShape, "test"});
  GoldenState a = random_state(40, Rng{12}), b = a;
  for (size_t r = 0; r < 40; ++r) {
    const size_t from = (r * 7 + 3) % 40;
    std::copy_n(a.jobs.begin() + static_cast<int64_t>(from * 8), 8,
                b.jobs.begin() + static_cast<int64_t>(r * 8));
    b.mask[r] = a.mask[from];
    b.prior[r] = a.prior[from];
  }
  net.forward(a.observation(), a.logits);
  net.forward(b.observation(), b.logits);
  for (size_t r = 0; r < 40; ++r) EXPECT_NEAR(b.logits[r], a.logits[(r * 7 + 3) % 40], 1e-5);
  EXPECT_NEAR(b.logits[dispatcher::kNothing], a.logits[dispatcher::kNothing], 1e-5);
}

}  // namespace
}  // namespace yard::testing
