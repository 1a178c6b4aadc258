#include "agents/matrix_product.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace yard {

double matrix_product_flop_per_s(int threads) {
  constexpr int64_t kN = 1024;
  constexpr int kProducts = 4;  // so that starting a thread takes no part in it
  const auto multiply = [] {
    torch::NoGradGuard no_grad;
    const auto a = torch::ones({kN, kN}), b = torch::ones({kN, kN});
    auto c = torch::empty({kN, kN});
    for (int i = 0; i < kProducts; ++i) torch::mm_out(c, a, b);
  };
  double best = 0;
  for (int i = 0; i < 6; ++i) {  // the first one warms up
    const auto begin = std::chrono::steady_clock::now();
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(multiply);
    multiply();
    for (std::thread& other : others) other.join();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::max(best, 2.0 * kN * kN * kN * kProducts * threads / took.count());
  }
  return best;
}

}  // namespace yard
