// What the machine makes of a plain matrix product, for benchmarks to be compared with; apart, so
// that a program need not read LibTorch's headers.
#pragma once

namespace yard {

// Floating-point operations a second of products of two float32 matrices, 1024 each way, one on
// each of so many threads at once; the best of five.
double matrix_product_flop_per_s(int threads);

}  // namespace yard
