// The native forward pass of a job-scorer network, without LibTorch.
#include "env/task/agent.h"
#include "experiments/programs/bench/random_weights.h"

namespace yard::bench {

void bench_inference(Json& results) {
  constexpr int kHidden = 32, kRows = 64;
  const ObservationShape shape = make_agent("dispatcher", {})->shape();
  const JobScorer net({random_weights(kHidden, shape, 3, 0.3), shape, "bench"});
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
  const auto seconds_per_call = [](const auto& call) {
    constexpr int kCalls = 2'000;
    return best_seconds(5,
                        [&] {
                          for (int i = 0; i < kCalls; ++i) call();
                        }) /
           kCalls;
  };
  const double net_s = seconds_per_call([&] { net.forward(o, logits); });
  // Reference: the two matrix products alone, by Eigen.
  Eigen::Matrix<float, -1, -1, Eigen::RowMajor> x = Eigen::MatrixXf::Random(kRows, kHidden);
  const Eigen::MatrixXf w1 = Eigen::MatrixXf::Random(shape.row_features, kHidden);
  const Eigen::MatrixXf w2 = Eigen::MatrixXf::Random(kHidden, kHidden);
  Eigen::Matrix<float, -1, -1, Eigen::RowMajor> in =
      Eigen::MatrixXf::Random(kRows, shape.row_features);
  const double product_s = seconds_per_call([&] {
    x.noalias() = in * w1;
    x = (x * w2).eval();
    in(0, 0) = x(0, 0) * 1e-9F;  // keeps calls from being elided
  });
  add_result(results, "native_inference", 1e6 * net_s, "us", net_s / product_s,
             "its two matrix products alone")["detail"] = {
      {"rows", kRows}, {"hidden", kHidden}, {"decisions_per_s", 1 / net_s}};
}

}  // namespace yard::bench
