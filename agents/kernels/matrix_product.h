// Measures the machine's speed in plain matrix products, as a reference for benchmarks. This header
// works without LibTorch's headers.
#pragma once

namespace yard {

// Returns the floating-point operations per second of `threads` threads in sum, in the best of five
// runs, while each thread computes one float32 product of two 1024 x 1024 matrices.
double measure_matrix_product_flop_per_s(int threads);

}  // namespace yard
