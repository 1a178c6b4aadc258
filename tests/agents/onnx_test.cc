// Checks model.onnx of every network: a complete graph over the checkpoint's own tensors, read back
// field by field, with the network's logits under ONNX Runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>

#include "agents/verify/onnx_difference.h"
#include "policies/learned/learned_policy.h"
#include "policies/learned/onnx_model.h"
#include "tests/agents/perturbed_network.h"
#include "tests/support/dispatcher.h"
#include "tests/support/protobuf_fields.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Onnx : public ::testing::TestWithParam<std::string> {
 protected:
  // A checkpoint with a normaliser that matters and the outputs of native inference.
  static Checkpoint checkpoint() {
    Checkpoint c = small_checkpoint();
    c.network = GetParam();
    c.weights = perturbed_network(GetParam())->export_policy();
    for (const char* name : {"job_mean", "job_scale", "cluster_mean", "cluster_scale"}) {
      float value = 0.5F;
      for (float& x : c.weights.at(name).data) x = value *= 1.1F;
    }
    std::vector<GoldenState> states = random_states();
    for (GoldenState& g : states) network_of(c, "test")->forward(g.observation(), g.logits);
    c.golden = pack_golden(states, dispatcher::kShape);
    c.onnx = onnx_of(c);
    return c;
  }
};

// The dimensions of a ValueInfoProto, as text.
std::vector<std::string> shape_of(const ProtobufFields& value) {
  const ProtobufFields tensor(ProtobufFields(value.one(2)).one(1));
  EXPECT_THAT(tensor.numbers(1), ElementsAre(1)) << "of floats";
  std::vector<std::string> out;
  for (const std::string_view dim : ProtobufFields(tensor.one(2)).bytes(1)) {
    const ProtobufFields d(dim);
    out.push_back(d.bytes(2).empty() ? std::to_string(d.numbers(1).at(0)) : std::string(d.one(2)));
  }
  return out;
}

// Field numbers are those of onnx.proto.
TEST_P(Onnx, GraphContainsAllCheckpointTensors) {
  const Checkpoint c = checkpoint();
  const ProtobufFields model(c.onnx);
  EXPECT_THAT(model.numbers(1), ElementsAre(8)) << "format version";
  EXPECT_THAT(ProtobufFields(model.one(8)).numbers(2), ElementsAre(17)) << "operator set version";
  const ProtobufFields graph(model.one(7));
  EXPECT_EQ(graph.one(2), GetParam());

  std::set<std::string> known;
  const auto declare = [&](std::string_view name) {
    EXPECT_TRUE(known.emplace(name).second) << name << " twice";
  };
  const std::vector<std::vector<std::string>> shapes = {{"R", "8"}, {"8"}, {"R + 1"}};
  ASSERT_EQ(graph.bytes(11).size(), shapes.size());
  for (size_t i = 0; i < shapes.size(); ++i) {
    const ProtobufFields input(graph.bytes(11)[i]);
    EXPECT_EQ(input.one(1), (std::vector<std::string>{"rows", "cluster", "prior"})[i]);
    EXPECT_EQ(shape_of(input), shapes[i]);
    declare(input.one(1));
  }
  size_t weights = 0;
  for (const std::string_view each : graph.bytes(5)) {
    const ProtobufFields initialiser(each);
    const std::string name(initialiser.one(8));
    const std::string_view raw = initialiser.one(9);
    declare(name);
    const auto it = c.weights.find(name);
    if (it == c.weights.end()) continue;
    const Tensor& tensor = it->second;
    EXPECT_EQ(initialiser.numbers(1), tensor.shape) << name;
    ASSERT_EQ(raw.size(), tensor.data.size() * sizeof(float)) << name;
    EXPECT_EQ(std::memcmp(raw.data(), tensor.data.data(), raw.size()), 0) << name;
    ++weights;
  }
  EXPECT_EQ(weights, c.weights.size()) << "some tensors of the policy are not in its graph";
  std::set<std::string> unread = known;
  for (const std::string_view each : graph.bytes(1)) {
    const ProtobufFields node(each);
    for (const std::string_view input : node.bytes(1)) {
      EXPECT_TRUE(known.contains(std::string(input))) << node.one(4) << " of " << input;
      unread.erase(std::string(input));
    }
    declare(node.one(2));
    unread.emplace(node.one(2));
  }
  const ProtobufFields output(graph.one(12));
  EXPECT_THAT(shape_of(output), ElementsAre("R + 1"));
  EXPECT_EQ(output.one(1), "logits");
  EXPECT_THAT(unread, ElementsAre("logits")) << "tensors that no node reads";
  EXPECT_EQ(onnx_of(c), c.onnx);
}

// Sums in another order differ by a few units in the seventh digit.
TEST_P(Onnx, MatchesTheNetworkInOnnxRuntime) {
  Checkpoint c = checkpoint();
  const OnnxDifference same = onnx_difference(c);
  YARD_NEEDS(onnx, same.most.has_value(), same.about);
  EXPECT_LT(*same.most, 1e-4);
  EXPECT_THAT(same.about, HasSubstr("ONNX Runtime "));
  for (auto& [name, tensor] : c.weights) {
    if (tensor.shape.size() < 2) continue;
    for (float& x : tensor.data) x *= 1.1F;
  }
  c.onnx = onnx_of(c);
  EXPECT_GT(onnx_difference(c).most.value(), 0.01) << "other weights are detected";
  c.onnx.resize(c.onnx.size() / 2);
  EXPECT_THROW(onnx_difference(c), RunError);
}

INSTANTIATE_TEST_SUITE_P(All, Onnx, ::testing::ValuesIn(NativeNetworkRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(OnnxRuntime, IsUsedIfFoundAndReportedIfMissing) {
  const char* named = std::getenv("YARD_ONNX_PYTHON");
  const std::string before = named != nullptr ? named : "";
  Checkpoint c = small_checkpoint();
  EXPECT_THAT(onnx_difference(c).about, HasSubstr("model.onnx"));
  c.onnx = onnx_of(c);
  ASSERT_EQ(setenv("YARD_ONNX_PYTHON", "/nowhere/python", 1), 0);
  const OnnxDifference none = onnx_difference(c);
  EXPECT_FALSE(none.most.has_value());
  EXPECT_THAT(none.about, AllOf(HasSubstr("/nowhere/python"), HasSubstr("YARD_ONNX_PYTHON")));
  ASSERT_EQ(setenv("YARD_ONNX_PYTHON", "false", 1), 0);  // exists, and fails
  EXPECT_THROW(onnx_difference(c), RunError);
  ASSERT_EQ(setenv("YARD_ONNX_PYTHON", before.c_str(), 1), 0);
}

}  // namespace
}  // namespace yard::testing
