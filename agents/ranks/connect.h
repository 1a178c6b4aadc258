// Rendezvous of the processes which train together.
#pragma once

#include <chrono>

#include "agents/ranks/communicator.h"
#include "agents/ranks/rank.h"

namespace yard {

struct ConnectOptions {
  std::chrono::milliseconds rendezvous_timeout = std::chrono::minutes(5);
  // How long a rank may stay silent. A rank which exits or is killed is noticed at once; this limit
  // catches one which hangs or loses its network. Other ranks wait while rank 0 validates.
  std::chrono::milliseconds response_timeout = std::chrono::minutes(30);
};

// Throws RunError if the other ranks do not connect in time.
std::unique_ptr<Communicator> connect(const Rank& rank, const ConnectOptions& options = {});

}  // namespace yard
