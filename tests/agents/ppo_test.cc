// The network against its native twin, masks that let nothing through, and an update that moves
// probability where the reward is.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "agents/choices.h"
#include "agents/descent.h"
#include "agents/task_worlds.h"
#include "policies/learned/job_scorer.h"
#include "tests/support/checkpoints.h"
#include "tests/support/worlds.h"

namespace yard::testing {
namespace {

RaggedBatch batch_of(const std::vector<GoldenState>& states) {
  const auto samples = static_cast<int64_t>(states.size());
  std::vector<float> jobs, cluster, prior, count;
  std::vector<int64_t> offset = {0};
  for (const GoldenState& g : states) {
    jobs.insert(jobs.end(), g.jobs.begin(), g.jobs.begin() + g.rows * Dispatch::kJobFeatures);
    cluster.insert(cluster.end(), g.cluster.begin(), g.cluster.end());
    prior.insert(prior.end(), g.prior.begin(), g.prior.begin() + g.rows);
    prior.push_back(g.prior[Dispatch::kNothing]);
    count.push_back(static_cast<float>(std::max(g.rows, 1)));
    offset.push_back(offset.back() + g.rows);
  }
  RaggedBatch b;
  b.jobs = torch::tensor(jobs).view({-1, Dispatch::kJobFeatures});
  b.cluster = torch::tensor(cluster).view({samples, Dispatch::kClusterFeatures});
  b.prior = torch::tensor(prior);
  b.count = torch::tensor(count).view({samples, 1});
  b.offset = torch::tensor(offset, torch::kInt64);
  return b;
}

// The action of a state's choice: its rows, then doing nothing.
size_t action_of(const GoldenState& g, int32_t choice) {
  return static_cast<size_t>(choice < g.rows ? choice : Dispatch::kNothing);
}

std::vector<GoldenState> random_states() {
  std::vector<GoldenState> out;
  for (const int32_t rows : {3, 0, 128, 1, 40, 77}) {
    out.push_back(random_state(rows, Rng{21}.split(static_cast<uint64_t>(rows))));
  }
  return out;
}

// Every parameter away from where it starts, the last layers too.
std::unique_ptr<Network> seeded_net(uint64_t seed) {
  Settings settings;
  settings.set("hidden", "16", "test");
  return make_network("job-scorer", settings,
                      {Dispatch::kJobs, Dispatch::kJobFeatures, Dispatch::kClusterFeatures}, seed);
}

std::unique_ptr<Network> stirred_net() {
  auto net = seeded_net(5);
  torch::NoGradGuard no_grad;
  for (auto& p : net->parameters()) p.add_(torch::randn_like(p) * 0.3);
  return net;
}

TEST(JobScorerNet, BeginsAtThePrior) {
  const auto net = seeded_net(1);
  const RaggedBatch batch = batch_of(random_states());
  EXPECT_TRUE(torch::equal(net->logits(batch), batch.prior));
}

TEST(JobScorerNet, IsItsNativeTwin) {
  torch::NoGradGuard no_grad;
  const auto net = stirred_net();
  std::vector<GoldenState> states = random_states();
  const RaggedBatch batch = batch_of(states);
  net->fit_normaliser(batch, *alone());
  const Tensors weights = net->export_policy();
  const JobScorer native(weights, kDispatchShape, "test");
  const auto logits = net->logits(batch).contiguous();
  const float* row = logits.data_ptr<float>();
  double moved = 0;
  for (GoldenState& g : states) {
    native.forward(g.observation(), g.logits);
    for (int32_t r = 0; r <= g.rows; ++r, ++row) {
      const size_t a = action_of(g, r);
      if (g.mask[a] == 0) {
        EXPECT_LT(*row, Dispatch::kMasked / 2);
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
}

TEST(JobScorerNet, TheOrderOfRowsDoesNotMatter) {
  torch::NoGradGuard no_grad;
  const auto net = stirred_net();
  const GoldenState a = random_state(40, Rng{12});
  GoldenState b = a;
  const auto from = [](size_t r) { return (r * 7 + 3) % 40; };
  for (size_t r = 0; r < 40; ++r) {
    std::copy_n(a.jobs.begin() + static_cast<int64_t>(from(r) * Dispatch::kJobFeatures),
                Dispatch::kJobFeatures,
                b.jobs.begin() + static_cast<int64_t>(r * Dispatch::kJobFeatures));
    b.prior[r] = a.prior[from(r)];
  }
  const RaggedBatch batch = batch_of({a, b});
  const auto logits = net->logits(batch).contiguous(), value = net->value(batch).contiguous();
  const float* at = logits.data_ptr<float>();
  for (size_t r = 0; r < 40; ++r) {
    if (a.mask[from(r)] == 0) continue;
    EXPECT_NEAR(at[41 + r], at[from(r)], 1e-4);
  }
  EXPECT_NEAR(at[40], at[41 + 40], 1e-4);
  EXPECT_NEAR(value[0].item<float>(), value[1].item<float>(), 1e-4);
}

TEST(JobScorerNet, MaskedActionsHaveNoProbabilityAndNoGradient) {
  const auto net = stirred_net();
  const std::vector<GoldenState> states = random_states();
  RaggedBatch batch = batch_of(states);
  batch.prior.requires_grad_(true);
  const auto logits = net->logits(batch);
  const auto nothing = torch::full({batch.offset.numel() - 1}, Dispatch::kNothing, torch::kInt64);
  const Chosen chosen = choose(logits, nothing, batch.offset);
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

// One sight, two of its actions: each taken equally often, one worth more.
class Bandit : public ::testing::Test {
 protected:
  Bandit() {
    env_.reset();
    const uint8_t* mask = env_.sight().mask.data();
    for (int32_t a = 0; a < Dispatch::kNothing && worse_ < 0; ++a) {
      if (mask[a] != 0) (better_ < 0 ? better_ : worse_) = a;
    }
    if (worse_ < 0) worse_ = Dispatch::kNothing;
    const std::vector<float> now = probabilities();  // of actions
    for (int i = 0; i < 64; ++i) {
      rollout_.add_observations(env_, std::vector<int32_t>{0});
      order_.push_back(i);
      const int32_t action = i % 2 == 0 ? better_ : worse_;
      rollout_.action.push_back(action);
      rollout_.log_prob.push_back(std::log(now[static_cast<size_t>(action)]));
      returns_.advantage.push_back(i % 2 == 0 ? 1.0F : -1.0F);
    }
    config_.minibatch = 16;
    config_.lr = 0.01;
  }

  // One update by learner `name` on a network of its own.
  UpdateStats update(const char* name, double progress = 0) {
    Descent descent(*net_, config_, *ranks_);
    return descent.update(*LearnerRegistry::make(name, {}), rollout_, returns_, order_, progress,
                          Rng{1});
  }

  std::vector<float> probabilities() {
    torch::NoGradGuard no_grad;
    const auto p =
        torch::softmax(net_->logits(present_batch(env_, std::vector<int32_t>{0})), 0).contiguous();
    std::vector<float> out(Dispatch::kActions);
    std::copy_n(p.data_ptr<float>(), p.numel() - 1, out.begin());
    out[Dispatch::kNothing] = p[p.numel() - 1].item<float>();
    return out;
  }

  Scene scene_{"2x8", busy_jobs(60)};
  TaskWorlds<Dispatch> env_{{{scene_.fixed(), &scene_.workload(), 1}}, {.episode_jobs = 40}, {}};
  std::unique_ptr<Communicator> ranks_ = alone();
  std::unique_ptr<Network> net_ = seeded_net(3);
  int32_t better_ = -1, worse_ = -1;
  Rollout rollout_{env_.shape()};
  std::vector<int64_t> order_;
  Returns returns_;
  DescentConfig config_;
};

TEST_F(Bandit, ProbabilityMovesToTheBetterAction) {
  const std::vector<float> before = probabilities();
  config_.target_kl = 1e9;
  config_.epochs = 4;
  const UpdateStats stats = update("group");
  EXPECT_EQ(stats.not_finite, "");
  EXPECT_GT(stats.approx_kl, 0);
  EXPECT_GT(stats.grad_norm, 0);
  const std::vector<float> after = probabilities();
  const auto b = static_cast<size_t>(better_), w = static_cast<size_t>(worse_);
  EXPECT_GT(after[b] / after[w], 1.1F * before[b] / before[w]);
  for (size_t a = 0; a < Dispatch::kActions; ++a) {
    if (env_.sight().mask[a] == 0) {
      EXPECT_EQ(after[a], 0);
    }
  }
}

TEST_F(Bandit, AnUpdateStopsBeyondTheDivergenceAllowed) {
  config_.target_kl = 1e9;
  config_.epochs = 40;
  const double free_kl = update("group").approx_kl;
  net_ = seeded_net(3);
  config_.target_kl = 1e-4;
  EXPECT_LT(update("group").approx_kl, free_kl / 4);
}

TEST_F(Bandit, TheCriticLearnsItsTarget) {
  rollout_.value.assign(64, 0);
  returns_.target.assign(64, -1.5F);
  config_.epochs = 50;
  config_.target_kl = 1e9;
  config_.max_grad_norm = 1e9;
  update("ppo");
  torch::NoGradGuard no_grad;
  const auto value = net_->value(present_batch(env_, std::vector<int32_t>{0}));
  EXPECT_NEAR(value.item<float>(), -1.5, 0.1);
}

TEST_F(Bandit, AnUpdateWithoutNumbersIsNotApplied) {
  const std::vector<float> before = probabilities();
  std::fill(returns_.advantage.begin(), returns_.advantage.end(),
            std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(update("group").not_finite, "the loss");
  EXPECT_EQ(probabilities(), before);
}

TEST_F(Bandit, AGradientWithoutANormIsNotApplied) {
  rollout_.value.assign(64, 0);
  returns_.target.assign(64, 1e19F);  // its square is a float, the gradient's is not
  const std::vector<float> before = probabilities();
  EXPECT_NE(update("ppo").not_finite, "");
  EXPECT_EQ(probabilities(), before);
}

TEST_F(Bandit, AtTheEndTheStepIsNothing) {
  const std::vector<float> before = probabilities();
  update("group", 1);
  EXPECT_EQ(probabilities(), before);
}

}  // namespace
}  // namespace yard::testing
