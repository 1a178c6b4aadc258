#include "env/sim/speed/servers.h"

#include <algorithm>
#include <vector>

#include "env/base/core/check.h"

namespace yard {

ParameterServerSpeedCurve::ParameterServerSpeedCurve(std::span<const ParameterServerRun> runs,
                                                     const std::string& gpu_type, double batch) {
  std::vector<MeasuredOptimusSpeed> sync, async;
  for (const ParameterServerRun& run : runs) {
    if (run.gpu_type != gpu_type) continue;
    (run.asynchronous ? async : sync)
        .push_back({run.servers, run.workers, run.steps_per_s, run.batch});
  }
  YARD_CHECK(!sync.empty() || !async.empty(), "no measured runs on this GPU type");
  asynchronous_ = sync.empty();
  if (asynchronous_) {
    async_ = fit_optimus_async(async);
  } else {
    sync_ = fit_optimus_sync(sync, batch);
  }
}

double ParameterServerSpeedCurve::steps_per_s(int32_t servers, int32_t workers) const {
  return asynchronous_ ? async_.steps_per_s(servers, workers) : sync_.steps_per_s(servers, workers);
}

double ParameterServerSpeedCurve::exchange_share(int32_t servers, int32_t workers) const {
  const double per_server = static_cast<double>(workers) / servers;
  return asynchronous_
             ? async_.coefficient[1] * per_server * async_.steps_per_s(servers, workers) / workers
             : sync_.coefficient[2] * per_server * sync_.steps_per_s(servers, workers);
}

}  // namespace yard
