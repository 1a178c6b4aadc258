// Processes find each other and become ranks that train together.
#pragma once

#include <chrono>

#include "agents/communicator.h"
#include "agents/rank.h"

namespace yard {

struct ConnectOptions {
  std::chrono::milliseconds meet_within = std::chrono::minutes(5);
  // A rank that ends or is killed is noticed at once; one that hangs, or whose host is cut off,
  // after this long. Rank 0 validates meanwhile.
  std::chrono::milliseconds answer_within = std::chrono::minutes(30);
};

// Throws RunError when the others do not come.
std::unique_ptr<Communicator> connect(const Rank& rank, const ConnectOptions& options = {});

}  // namespace yard
