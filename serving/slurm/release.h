// Ends the leases of all waiting jobs, so that only Slurm decides on them.
#pragma once

#include "serving/slurm/config.h"

namespace yard::slurm {

// release_all() leaves all waiting jobs to Slurm. Throws RunError if the jobs cannot be listed.
struct Released {
  int released = 0;  // records of squeue's list whose jobs have no lease any more
  int refused = 0;   // records whose jobs still have a lease
};
Released release_all(const Config& config);

}  // namespace yard::slurm
