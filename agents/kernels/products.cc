#include "agents/kernels/products.h"

#include <algorithm>

#include "agents/kernels/torch.h"
#include "env/base/core/check.h"

#if defined(YARD_ONEDNN)
#include <dnnl.h>
#endif

namespace yard {
namespace {

torch::Tensor tensor_of(const Matrix& m) {
  const auto all = torch::from_blob(const_cast<float*>(m.at), {m.rows, m.columns});
  return m.transposed ? all.t() : all;
}

}  // namespace

void multiply_by_libtorch(const Matrix& a, const Matrix& b, float* c, WriteMode into) {
  const auto left = tensor_of(a), right = tensor_of(b);
  auto out = torch::from_blob(c, {left.size(0), right.size(1)});
  if (into == WriteMode::kAccumulate) {
    out.addmm_(left, right);
  } else {
    torch::mm_out(out, left, right);
  }
}

#if defined(YARD_ONEDNN)

void multiply(const Matrix& a, const Matrix& b, float* c, WriteMode into) {
  const auto order = [](const Matrix& m) { return m.transposed ? 'T' : 'N'; };
  const int64_t m = a.transposed ? a.columns : a.rows, k = a.transposed ? a.rows : a.columns;
  const int64_t n = b.transposed ? b.rows : b.columns;
  if (m == 0 || n == 0 || k == 0) {  // it refuses empty matrices
    if (into == WriteMode::kOverwrite) std::fill_n(c, m * n, 0.0F);
    return;
  }
  const float keep = into == WriteMode::kAccumulate ? 1 : 0;
  const dnnl_status_t done =
      dnnl_sgemm(order(a), order(b), m, n, k, 1, a.at, a.columns, b.at, b.columns, keep, c, n);
  YARD_CHECK(done == dnnl_success, "oneDNN failed to compute a matrix product");
}

#else

void multiply(const Matrix& a, const Matrix& b, float* c, WriteMode into) {
  multiply_by_libtorch(a, b, c, into);
}

#endif

}  // namespace yard
