// Speed functions of Optimus (EuroSys 2018, section 3.2): steps/s of a job with p parameter servers
// and w workers. Evaluated on the host.
//   synchronous:   f(p, w) = 1 / (a B / w + b + c w / p + d w + e p)      B samples a step
//   asynchronous:  f(p, w) = w / (a + b w / p + c w + d p)
// The coefficients a to e are at least 0 and are fitted to measured speeds. The formula of a
// synchronous job without parameter servers has no terms with p.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace yard {

struct MeasuredOptimusSpeed {
  int32_t servers = 1;
  int32_t workers = 1;
  double steps_per_s = 0;
  double batch = 0;  // B; 0: the batch size given to the fit
};

struct OptimusSync {
  std::array<double, 5> coefficient = {};  // a to e
  double batch = 1;                        // B
  double steps_per_s(int32_t servers, int32_t workers) const;
};

struct OptimusAsync {
  std::array<double, 4> coefficient = {};  // a to d
  double steps_per_s(int32_t servers, int32_t workers) const;
};

// These functions return the coefficients that minimise the squared relative error of step times.
// Requires: there is at least one run, and all speeds are above 0.
OptimusSync fit_optimus_sync(std::span<const MeasuredOptimusSpeed> runs, double batch);
OptimusAsync fit_optimus_async(std::span<const MeasuredOptimusSpeed> runs);

}  // namespace yard
