#include "agents/kernels/row_kernels.h"

#include <algorithm>
#include <vector>

// Vectors of 16 or 8 where available. No fused multiply-add, whose rounding differs.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define YARD_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define YARD_WIDE
#endif

namespace yard {
namespace {

// Sums bias and line: what is added to all rows of a sample.
void add(const float* __restrict bias, const float* __restrict line, int64_t width,
         std::vector<float>& both) {
  both.resize(static_cast<size_t>(width));
  for (int64_t h = 0; h < width; ++h) both[static_cast<size_t>(h)] = line[h] + bias[h];
}

}  // namespace

YARD_WIDE void standardise(int64_t count, int64_t width, const float* __restrict mean,
                           const float* __restrict scale, const float* __restrict rows,
                           float* __restrict out) {
  for (int64_t r = 0; r < count; ++r, rows += width, out += width) {
    for (int64_t h = 0; h < width; ++h) out[h] = (rows[h] - mean[h]) * scale[h];
  }
}

YARD_WIDE void bias_relu_(const RowSegments& of, const float* bias, const float* lines,
                          float* __restrict rows) {
  const int64_t width = of.width;
  std::vector<float> both;
  for (int64_t b = 0; b < of.samples; ++b) {
    add(bias, lines + b * width, width, both);
    const float* __restrict line = both.data();
    for (int64_t r = of.begin(b); r < of.end(b); ++r) {
      float* __restrict row = rows + r * width;
      for (int64_t h = 0; h < width; ++h) row[h] = std::max(row[h] + line[h], 0.0F);
    }
  }
}

YARD_WIDE void relu_score(const RowSegments& of, const float* __restrict bias,
                          const float* __restrict weight, float shift, float* __restrict rows,
                          float* __restrict score, float* __restrict sum) {
  // As many partial sums as the widest vector has lanes: all versions add in the same order.
  constexpr int64_t kLanes = 16;
  const int64_t width = of.width, whole = width / kLanes * kLanes;
  for (int64_t b = 0; b < of.samples; ++b, sum += width) {
    for (int64_t r = of.begin(b); r < of.end(b); ++r) {
      float* __restrict row = rows + r * width;
      for (int64_t h = 0; h < width; ++h) {
        const float x = std::max(row[h] + bias[h], 0.0F);
        row[h] = x;
        sum[h] += x;
      }
      float lanes[kLanes] = {};
      for (int64_t h = 0; h < whole; h += kLanes) {
        for (int64_t i = 0; i < kLanes; ++i) lanes[i] += row[h + i] * weight[h + i];
      }
      float all = 0;
      for (const float lane : lanes) all += lane;
      for (int64_t h = whole; h < width; ++h) all += row[h] * weight[h];
      score[r] = all + shift;
    }
  }
}

YARD_WIDE void relu_score_backward(const RowSegments& of, const float* __restrict rows,
                                   const float* __restrict weight, const float* __restrict of_score,
                                   const float* __restrict sum_gradient, float* __restrict gradient,
                                   float* __restrict weight_gradient,
                                   float* __restrict bias_gradient) {
  const int64_t width = of.width;
  for (int64_t b = 0; b < of.samples; ++b, sum_gradient += width) {
    for (int64_t r = of.begin(b); r < of.end(b); ++r) {
      const float* __restrict row = rows + r * width;
      float* __restrict out = gradient + r * width;
      const float here = of_score[r];
      // Two loops: the compiler does not vectorise one over all these arrays.
      for (int64_t h = 0; h < width; ++h) {
        // A product, since a conditional would become a branch.
        const float on = row[h] > 0 ? 1.0F : 0.0F;
        out[h] = on * (here * weight[h] + sum_gradient[h]);
      }
      for (int64_t h = 0; h < width; ++h) {
        bias_gradient[h] += out[h];
        weight_gradient[h] += here * row[h];
      }
    }
  }
}

YARD_WIDE void relu_backward(const RowSegments& of, const float* __restrict rows,
                             float* __restrict gradient, float* __restrict lines_gradient) {
  const int64_t width = of.width;
  for (int64_t b = 0; b < of.samples; ++b, lines_gradient += width) {
    for (int64_t r = of.begin(b); r < of.end(b); ++r) {
      const float* __restrict row = rows + r * width;
      float* __restrict out = gradient + r * width;
      for (int64_t h = 0; h < width; ++h) {
        const float g = row[h] > 0 ? out[h] : 0.0F;
        out[h] = g;
        lines_gradient[h] += g;
      }
    }
  }
}

YARD_WIDE void relu_segment_sum(const RowSegments& of, const float* bias, const float* lines,
                                const float* __restrict rows, float* __restrict sum) {
  const int64_t width = of.width;
  std::vector<float> both;
  for (int64_t b = 0; b < of.samples; ++b, sum += width) {
    add(bias, lines + b * width, width, both);
    const float* __restrict line = both.data();
    for (int64_t r = of.begin(b); r < of.end(b); ++r) {
      const float* __restrict row = rows + r * width;
      for (int64_t h = 0; h < width; ++h) sum[h] += std::max(row[h] + line[h], 0.0F);
    }
  }
}

YARD_WIDE void relu_segment_sum_backward(const RowSegments& of, const float* bias,
                                         const float* lines, const float* __restrict sum_gradient,
                                         float* __restrict rows, float* __restrict lines_gradient) {
  const int64_t width = of.width;
  std::vector<float> both;
  for (int64_t b = 0; b < of.samples; ++b, sum_gradient += width, lines_gradient += width) {
    add(bias, lines + b * width, width, both);
    const float* __restrict line = both.data();
    for (int64_t r = of.begin(b); r < of.end(b); ++r) {
      float* __restrict row = rows + r * width;
      for (int64_t h = 0; h < width; ++h) {
        const float g = row[h] + line[h] > 0 ? sum_gradient[h] : 0.0F;
        row[h] = g;
        lines_gradient[h] += g;
      }
    }
  }
}

}  // namespace yard
