#include "agents/kernels/matrix_product.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "agents/kernels/torch.h"

namespace yard {

double measure_matrix_product_flop_per_s(int threads) {
  constexpr int64_t kN = 1024;
  constexpr int kRounds = 6;  // the first one warms up
  std::barrier together(threads + 1);
  const auto multiply = [&] {
    torch::NoGradGuard no_grad;
    const auto a = torch::randn({kN, kN}), b = torch::randn({kN, kN});
    auto c = torch::empty({kN, kN});
    for (int i = 0; i < kRounds; ++i) {
      together.arrive_and_wait();
      torch::mm_out(c, a, b);
      together.arrive_and_wait();
    }
  };
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) all.emplace_back(multiply);
  double best = 0;
  for (int i = 0; i < kRounds; ++i) {
    // Read the clock before releasing the threads: afterwards they may leave no core for this one.
    const auto begin = std::chrono::steady_clock::now();
    together.arrive_and_wait();
    together.arrive_and_wait();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::max(best, 2.0 * kN * kN * kN * threads / took.count());
  }
  for (std::thread& thread : all) thread.join();
  return best;
}

}  // namespace yard
