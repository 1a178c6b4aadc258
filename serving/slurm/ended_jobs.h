// Tells how jobs ended, from the records of ended jobs that Slurm keeps for some minutes.
#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "serving/slurm/records.h"
#include "serving/snapshot/messages.h"

namespace yard::slurm {

class EndedJobs {
 public:
  // Returns the ended jobs of a listing that no earlier listing showed. The pointers refer to the
  // listing.
  std::vector<const SlurmJob*> update(const Listing& listing);

 private:
  std::unordered_set<std::string> seen_;  // runs in the last listing
};

// Returns the outcome of an ended job, in Unix time. `before_s`: run time of its earlier runs;
// absent: unknown, so that the outcome has no run time. Returns nothing for an unknown state.
std::optional<pb::Outcome> outcome_of(const SlurmJob& job, std::optional<double> before_s);

}  // namespace yard::slurm
