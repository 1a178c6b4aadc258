// Checks training networks: equality with their native implementations, untrained outputs, refusal
// of foreign weights, masks without probability or gradient, and the order of rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "agents/networks/action_distribution.h"
#include "agents/networks/network.h"
#include "agents/verify/torch_difference.h"
#include "policies/learned/learned_policy.h"
#include "tests/agents/perturbed_network.h"
#include "tests/support/dispatcher.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

RaggedBatch batch_of(const std::vector<GoldenState>& states) {
  const auto samples = static_cast<int64_t>(states.size());
  std::vector<float> jobs, cluster, prior, count;
  std::vector<int64_t> offset = {0};
  for (const GoldenState& g : states) {
    jobs.insert(jobs.end(), g.jobs.begin(), g.jobs.begin() + g.rows * dispatcher::kJobFeatures);
    cluster.insert(cluster.end(), g.cluster.begin(), g.cluster.end());
    prior.insert(prior.end(), g.prior.begin(), g.prior.begin() + g.rows);
    prior.push_back(g.prior[dispatcher::kNothing]);
    count.push_back(static_cast<float>(std::max(g.rows, 1)));
    offset.push_back(offset.back() + g.rows);
  }
  RaggedBatch b;
  b.jobs = torch::tensor(jobs).view({-1, dispatcher::kJobFeatures});
  b.cluster = torch::tensor(cluster).view({samples, dispatcher::kClusterFeatures});
  b.prior = torch::tensor(prior);
  b.count = torch::tensor(count).view({samples, 1});
  b.offset = torch::tensor(offset, torch::kInt64);
  return b;
}

// The action of a state's choice: its rows, then the no-op.
size_t action_of(const GoldenState& g, int32_t choice) {
  return static_cast<size_t>(choice < g.rows ? choice : dispatcher::kNothing);
}

class Networks : public ::testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Network> seeded_net(uint64_t seed) {
    return make_network(GetParam(), {}, dispatcher::kShape, seed);
  }
  static std::unique_ptr<Network> perturbed_network() {
    return testing::perturbed_network(GetParam());
  }
};

TEST_P(Networks, InitialLogitsEqualThePrior) {
  const auto net = seeded_net(1);
  const RaggedBatch batch = batch_of(random_states());
  EXPECT_TRUE(torch::equal(net->logits(batch), batch.prior));
}

TEST_P(Networks, MatchTheNativeImplementation) {
  torch::NoGradGuard no_grad;
  const auto net = perturbed_network();
  std::vector<GoldenState> states = random_states();
  const RaggedBatch batch = batch_of(states);
  net->fit_normaliser(batch, *single_process_communicator());
  const Tensors weights = net->export_policy();
  const auto native =
      NativeNetworkRegistry::make(GetParam(), {weights, dispatcher::kShape, "test"});
  const auto logits = net->logits(batch).contiguous();
  const float* row = logits.data_ptr<float>();
  double moved = 0;
  for (GoldenState& g : states) {
    native->forward(g.observation(), g.logits);
    for (int32_t r = 0; r <= g.rows; ++r, ++row) {
      const size_t a = action_of(g, r);
      if (g.mask[a] == 0) {
        EXPECT_LT(*row, kMaskedLogit / 2);
        continue;
      }
      EXPECT_NEAR(*row, g.logits[a], 1e-5 * std::max(1.0F, std::abs(*row))) << g.rows << " " << a;
      moved = std::max<double>(moved, std::abs(*row - g.prior[a]));
    }
  }
  EXPECT_GT(moved, 0.1);
  const auto other = seeded_net(6);
  other->import_policy(weights, "test");
  EXPECT_TRUE(torch::equal(other->logits(batch), logits));
  EXPECT_NO_THROW(make_network(GetParam(), native->settings(), dispatcher::kShape, 6)
                      ->import_policy(weights, "test"));
}

// Both implementations refuse bad weights and name the tensor. No import is partial.
TEST_P(Networks, RejectMismatchedWeights) {
  torch::NoGradGuard no_grad;
  const Tensors good = perturbed_network()->export_policy();
  const auto net = seeded_net(6);
  const Tensors before = net->export_policy();
  for (const auto& [name, tensor] : good) {
    Tensors without = good, wider = good, infinite = good;
    without.erase(name);
    wider[name].shape.back() += 1;
    wider[name].data.resize(2 * tensor.data.size());
    infinite[name].data.back() = std::numeric_limits<float>::infinity();
    const auto native = [](const Tensors& weights) {
      return refusal([&] {
        NativeNetworkRegistry::make(GetParam(), {weights, dispatcher::kShape, "w"});
      });
    };
    for (const Tensors* bad : {&without, &wider, &infinite}) EXPECT_NE(native(*bad), "") << name;
    EXPECT_THAT(native(infinite), HasSubstr(name));
    for (const Tensors* bad : {&without, &wider}) {
      EXPECT_THAT(refusal([&] { net->import_policy(*bad, "w"); }), HasSubstr(name));
    }
  }
  for (const auto& [name, tensor] : net->export_policy()) {
    EXPECT_EQ(tensor.data, before.at(name).data) << name;
  }
}

// A checkpoint makes a policy, and both implementations give the recorded outputs.
TEST_P(Networks, ServedOutputsMatchTraining) {
  torch::NoGradGuard no_grad;
  Checkpoint c = small_checkpoint();
  c.network = GetParam();
  c.weights = perturbed_network()->export_policy();
  std::vector<GoldenState> states = random_states();
  for (GoldenState& g : states) network_of(c, "test")->forward(g.observation(), g.logits);
  c.golden = pack_golden(states, dispatcher::kShape);
  EXPECT_LT(torch_difference_from_golden(c), 1e-4);
  EXPECT_NO_THROW(policy_of(c, "test"));
  c.weights["trunk.9.weight"] = c.weights.begin()->second;
  EXPECT_THAT(refusal([&] { policy_of(c, "test"); }), HasSubstr("trunk.9.weight"));
}

TEST(NetworkImplementations, HaveTheSameNames) {
  EXPECT_EQ(NetworkRegistry::names(), NativeNetworkRegistry::names());
  Checkpoint c = small_checkpoint();
  c.network = "perceptron";
  EXPECT_THAT(refusal([&] { policy_of(c, "somewhere"); }),
              AllOf(HasSubstr("somewhere"), HasSubstr("kernel"), HasSubstr("perceptron")));
}

// A forward pass with both heads equals a pass with each.
TEST_P(Networks, JointPassEqualsSeparateHeads) {
  torch::NoGradGuard no_grad;
  const auto net = perturbed_network();
  const RaggedBatch batch = batch_of(random_states());
  const NetworkOutput output = net->forward(batch, {kPolicyHead, kValueHead});
  const auto& logits = output.logits();
  const auto& value = output.value();
  EXPECT_TRUE(torch::equal(logits, net->logits(batch)));
  EXPECT_TRUE(torch::equal(value, net->value(batch)));
  EXPECT_GT(value.std().item<double>(), 0.01);
}

// `flat` and the critic of `kernel` depend on the position of rows; all else does not.
TEST_P(Networks, ScoresDoNotDependOnRowOrder) {
  torch::NoGradGuard no_grad;
  const auto net = perturbed_network();
  const GoldenState a = random_state(40, Rng{12});
  GoldenState b = a;
  const auto from = [](size_t r) { return (r * 7 + 3) % 40; };
  for (size_t r = 0; r < 40; ++r) {
    std::copy_n(a.jobs.begin() + static_cast<int64_t>(from(r) * dispatcher::kJobFeatures),
                dispatcher::kJobFeatures,
                b.jobs.begin() + static_cast<int64_t>(r * dispatcher::kJobFeatures));
    b.prior[r] = a.prior[from(r)];
  }
  const RaggedBatch batch = batch_of({a, b});
  const auto logits = net->logits(batch).contiguous(), value = net->value(batch).contiguous();
  const float* at = logits.data_ptr<float>();
  if (GetParam() == "flat") {
    EXPECT_GT(std::abs(at[40] - at[41 + 40]), 1e-2);
    return;
  }
  for (size_t r = 0; r < 40; ++r) {
    if (a.mask[from(r)] == 0) continue;
    EXPECT_NEAR(at[41 + r], at[from(r)], 1e-4);
  }
  EXPECT_NEAR(at[40], at[41 + 40], 1e-4);
  if (GetParam() == "kernel") return;
  EXPECT_NEAR(value[0].item<float>(), value[1].item<float>(), 1e-4);
}

TEST_P(Networks, MaskedActionsHaveNoProbabilityAndNoGradient) {
  const auto net = perturbed_network();
  const std::vector<GoldenState> states = random_states();
  RaggedBatch batch = batch_of(states);
  batch.prior.requires_grad_(true);
  const auto logits = net->logits(batch);
  const auto nothing = torch::full({batch.offset.numel() - 1}, dispatcher::kNothing, torch::kInt64);
  const ActionStats chosen = action_stats(logits, nothing, batch.offset);
  (chosen.entropy.mean() + chosen.log_prob.sum()).backward();
  const auto prob = log_probs(logits, batch.offset).exp();
  const auto grad = batch.prior.grad().contiguous();
  int64_t masked = 0, moved = 0;
  size_t i = 0;
  for (const GoldenState& state : states) {
    for (int32_t r = 0; r <= state.rows; ++r, ++i) {
      const float g = grad.data_ptr<float>()[i], p = prob.data_ptr<float>()[i];
      if (state.mask[action_of(state, r)] == 0) {
        ++masked;
        EXPECT_EQ(p, 0);
        EXPECT_EQ(g, 0);
      } else {
        EXPECT_GT(p, 0);
        EXPECT_TRUE(std::isfinite(g));
        moved += g != 0;
      }
    }
  }
  EXPECT_GT(masked, 20);
  EXPECT_GT(moved, 50);
  for (const auto& p : net->parameters()) {
    if (p.grad().defined()) {
      EXPECT_TRUE(torch::isfinite(p.grad()).all().item<bool>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Networks, ::testing::ValuesIn(NetworkRegistry::names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace yard::testing
