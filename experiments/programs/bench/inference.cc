// The native forward pass of a job-scorer network, without LibTorch.
#include <string>
#include <vector>

#include "env/base/core/rng.h"
#include "env/task/agent.h"
#include "experiments/programs/bench/bench.h"
#include "policies/learned/golden.h"
#include "policies/learned/job_scorer.h"

namespace yard::bench {

void bench_inference(Json& results) {
  constexpr int kHidden = 32, kRows = 64;
  const ObservationShape shape = make_agent("dispatcher", {})->shape();
  Rng rng(3);
  Tensors weights;
  for (const auto& [name, of] : job_scorer_shapes(kHidden, shape)) {
    Tensor& t = weights[name];
    t.shape = of;
    size_t count = 1;
    for (const int64_t n : of) count *= static_cast<size_t>(n);
    for (size_t i = 0; i < count; ++i) t.data.push_back(static_cast<float>(rng.normal() * 0.3));
  }
  const JobScorer net({weights, shape, "bench"});
  const auto actions = static_cast<size_t>(shape.actions());
  std::vector<float> jobs(static_cast<size_t>(shape.rows) * static_cast<size_t>(shape.row_features),
                          0.5F),
      cluster(static_cast<size_t>(shape.cluster_features), 0.5F), prior(actions, 0),
      logits(actions);
  std::vector<uint8_t> mask(actions, 1);
  Observation o{};
  o.jobs = jobs.data();
  o.cluster = cluster.data();
  o.prior = prior.data();
  o.mask = mask.data();
  o.rows = kRows;
  constexpr int kCalls = 2'000;
  const double net_s = best_seconds(5,
                                    [&] {
                                      for (int i = 0; i < kCalls; ++i) net.forward(o, logits);
                                    }) /
                       kCalls;
  // Reference: the two matrix products alone, by Eigen.
  Eigen::Matrix<float, -1, -1, Eigen::RowMajor> x = Eigen::MatrixXf::Random(kRows, kHidden);
  const Eigen::MatrixXf w1 = Eigen::MatrixXf::Random(shape.row_features, kHidden);
  const Eigen::MatrixXf w2 = Eigen::MatrixXf::Random(kHidden, kHidden);
  Eigen::Matrix<float, -1, -1, Eigen::RowMajor> in =
      Eigen::MatrixXf::Random(kRows, shape.row_features);
  const double product_s = best_seconds(5,
                                        [&] {
                                          for (int i = 0; i < kCalls; ++i) {
                                            x.noalias() = in * w1;
                                            x = (x * w2).eval();
                                            in(0, 0) =
                                                x(0, 0) * 1e-9F;  // keeps calls from being elided
                                          }
                                        }) /
                           kCalls;
  results.push_back(
      {{"name", "native_inference"},
       {"value", 1e6 * net_s},
       {"unit", "us"},
       {"ratio", net_s / product_s},
       {"against", "its two matrix products alone"},
       {"better", "lower"},
       {"detail", {{"rows", kRows}, {"hidden", kHidden}, {"decisions_per_s", 1 / net_s}}}});
}

}  // namespace yard::bench
