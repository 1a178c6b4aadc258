// Reads this process's rank and the number of ranks from the environment variables of its launcher.
#pragma once

#include <functional>
#include <string>

namespace yard {

struct Rank {
  int rank = 0, size = 1;
  std::string host;  // network address of rank 0
  int port = 0;
  bool store_exists = false;  // whether torchrun's own store listens at host:port
  std::string file;           // path of a file visible to all ranks, used instead of host and port
};

// Reads, in this order: YARD_RANK_FILE with RANK, WORLD_SIZE (`train --ranks`); RANK, WORLD_SIZE,
// MASTER_ADDR, MASTER_PORT (torchrun, Kubernetes); SLURM_PROCID, SLURM_STEP_NUM_TASKS (srun);
// OMPI_COMM_WORLD_RANK and _SIZE, or PMI_RANK and PMI_SIZE (mpirun). MASTER_ADDR and MASTER_PORT
// override the host and port. The default is one rank. Throws InputError naming the wrong variable.
Rank rank_from_environment(const std::function<const char*(const char*)>& get);

// Returns the first host of a Slurm list: "gpu[003-017,20],login" -> "gpu003".
std::string first_slurm_host(const std::string& list);

}  // namespace yard
