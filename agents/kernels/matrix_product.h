// Measures the machine's speed in plain matrix products, as a reference for benchmarks. This header
// works without LibTorch's headers.
#pragma once

namespace yard {

// Returns floating-point operations per second of float32 products of 1024 x 1024 matrices, one on
// each of `threads` threads at once, in the best of five runs.
double matrix_product_flop_per_s(int threads);

}  // namespace yard
