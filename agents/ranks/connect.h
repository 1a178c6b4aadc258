// Rendezvous of the processes which train together.
#pragma once

#include <chrono>

#include "agents/ranks/communicator.h"
#include "agents/ranks/rank.h"

namespace yard {

struct ConnectOptions {
  std::chrono::milliseconds rendezvous_timeout = std::chrono::minutes(5);
  // Longest time without a response of a rank. Other ranks wait while rank 0 validates.
  std::chrono::milliseconds response_timeout = std::chrono::minutes(30);
};

// Throws RunError if the other ranks do not connect in time.
std::unique_ptr<Communicator> connect(const Rank& rank, const ConnectOptions& options = {});

}  // namespace yard
