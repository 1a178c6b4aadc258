// How fast a job with parameter servers runs: the form of Optimus (optimus.h) fitted to what was
// measured of its model on one GPU type.
#pragma once

#include <span>
#include <string>

#include "env/sim/speed/optimus.h"
#include "env/trace/profile.h"

namespace yard {

class ServerCurve {
 public:
  // Synchronous runs where there are any on that type, else the others. Those of other batches than
  // `batch` count too in the synchronous form, which knows what a batch costs; in the other one a
  // step is a worker's, whatever its batch. Requires: a run on that type.
  ServerCurve(std::span<const ServerRun> runs, const std::string& gpu_type, double batch);

  // Of the whole job.
  double steps_per_s(int32_t servers, int32_t workers) const;
  // The part of a step that workers and servers spend on sending to each other: the term that grows
  // with workers per server.
  double exchange_share(int32_t servers, int32_t workers) const;
  // Whether a step is one worker's.
  bool worker_steps() const { return asynchronous_; }

 private:
  bool asynchronous_ = false;
  OptimusSync sync_;
  OptimusAsync async_;
};

}  // namespace yard
