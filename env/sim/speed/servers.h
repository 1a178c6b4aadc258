// Speed of jobs with parameter servers: the functions of Optimus (optimus.h), fitted to measured
// runs of one model on one GPU type.
#pragma once

#include <span>
#include <string>

#include "env/sim/speed/optimus.h"
#include "env/trace/profiles/profile.h"

namespace yard {

class ParameterServerSpeedCurve {
 public:
  // Fits the synchronous runs on `gpu_type` or, if there are none, the asynchronous runs. Runs of
  // any batch size count. Requires: there is a run on `gpu_type`.
  ParameterServerSpeedCurve(std::span<const ParameterServerRun> runs, const std::string& gpu_type,
                            double batch);

  // Returns the steps/s of the whole job.
  double steps_per_s(int32_t servers, int32_t workers) const;
  // Returns the share of a step's time which the exchange of gradients takes.
  double exchange_share(int32_t servers, int32_t workers) const;
  // Returns whether each worker's step counts (asynchronous), not one step of all workers together.
  bool counts_worker_steps() const { return asynchronous_; }

 private:
  bool asynchronous_ = false;
  OptimusSync sync_;
  OptimusAsync async_;
};

}  // namespace yard
