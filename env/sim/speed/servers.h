// Speed of a job with parameter servers: the functions of Optimus (optimus.h), fitted to the runs
// of its model on one GPU type.
#pragma once

#include <span>
#include <string>

#include "env/sim/speed/optimus.h"
#include "env/trace/profiles/profile.h"

namespace yard {

class ServerCurve {
 public:
  // Fits synchronous runs if there are any on that type, else asynchronous ones. Runs with other
  // batch sizes than `batch` count, too: the synchronous form has a term for it, and in the
  // asynchronous one a step is one worker's, of any batch size. Requires: a run on that type.
  ServerCurve(std::span<const ServerRun> runs, const std::string& gpu_type, double batch);

  // Returns the steps/s of the whole job.
  double steps_per_s(int32_t servers, int32_t workers) const;
  // Returns the share of a step's time which the exchange takes: the term that grows with the
  // number of workers per server.
  double exchange_share(int32_t servers, int32_t workers) const;
  // Returns whether a step is one worker's.
  bool worker_steps() const { return asynchronous_; }

 private:
  bool asynchronous_ = false;
  OptimusSync sync_;
  OptimusAsync async_;
};

}  // namespace yard
