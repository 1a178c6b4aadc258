// Which of many processes this one is, as whoever started them says it in the environment.
#pragma once

#include <functional>
#include <string>

namespace yard {

struct Rank {
  int rank = 0, size = 1;
  std::string host;  // where rank 0 is found
  int port = 0;
  bool store_runs = false;  // torchrun's own store answers there already
  std::string file;         // a file that all ranks see, instead of host and port
};

// Read in this order: YARD_RANK_FILE with RANK and WORLD_SIZE (`train --ranks`); RANK, WORLD_SIZE,
// MASTER_ADDR, MASTER_PORT (torchrun, Kubernetes); SLURM_PROCID, SLURM_STEP_NUM_TASKS (srun);
// OMPI_COMM_WORLD_RANK and _SIZE, or PMI_RANK and PMI_SIZE (mpirun). MASTER_ADDR and MASTER_PORT
// count for all of them. Without any: a process by itself. Throws InputError naming the variable.
Rank rank_of_environment(const std::function<const char*(const char*)>& get);

// The first host of Slurm's notation: "gpu[003-017,20],login" -> "gpu003".
std::string first_slurm_host(const std::string& list);

}  // namespace yard
