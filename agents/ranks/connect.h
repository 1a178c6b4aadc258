// Rendezvous of the processes which train together.
#pragma once

#include <chrono>

#include "agents/ranks/communicator.h"
#include "agents/ranks/rank.h"

namespace yard {

struct ConnectOptions {
  std::chrono::milliseconds rendezvous_timeout = std::chrono::minutes(5);
  // Longest wait for the response of a rank. All other ranks wait while rank 0 validates.
  std::chrono::milliseconds response_timeout = std::chrono::minutes(30);
};

// Connects this rank to all others. Throws RunError if a rank does not connect in time.
std::unique_ptr<Communicator> connect(const Rank& rank, const ConnectOptions& options = {});

}  // namespace yard
