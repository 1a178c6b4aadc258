// Reads the JSON of squeue and sinfo. An odd record is named and left out, or its GPUs count as
// held; it never stops the others.
#pragma once

#include <string>

#include "serving/slurm/records.h"

namespace yard::slurm {

// Adds the jobs of `squeue --json`. Jobs that have ended are left out. A waiting array becomes one
// job a task, up to 100. Throws InputError if the text is not JSON with a list `jobs`.
void read_jobs(const std::string& json, Listing& out);

// Adds the nodes of `sinfo --json` (22.05) or `scontrol show nodes --json` (later). Returns false
// if the text is sinfo's later form, without single nodes. Throws InputError as above.
bool read_nodes(const std::string& json, Listing& out);

}  // namespace yard::slurm
