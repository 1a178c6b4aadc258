// Reads the JSON of squeue and sinfo. A record that cannot be read is reported; either it is left
// out or its GPUs count as held. All other records are read as usual.
#pragma once

#include <string>

#include "serving/slurm/records.h"

namespace yard::slurm {

// Adds the jobs of `squeue --json`. Jobs that have ended are left out. A waiting job array becomes
// one job per task, up to 100 jobs. Throws InputError if the text is not JSON with a list `jobs`.
void read_jobs(const std::string& json, Listing& out);

// Adds the nodes of `sinfo --json` (22.05) or `scontrol show nodes --json` (later). Returns false
// if sinfo lists no single nodes, as later versions do. Throws InputError if `nodes` is missing.
bool read_nodes(const std::string& json, Listing& out);

}  // namespace yard::slurm
