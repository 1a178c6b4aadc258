// Collective operations of the processes (ranks) that train one network together. Every rank must
// make the same calls in the same order. If a rank exits, the calls of other ranks throw RunError.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace yard {

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Replaces each value by its sum over all ranks. The result is bit-identical on all ranks.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;

  // Returns the bytes which rank 0 passed.
  virtual std::string broadcast(std::string bytes) = 0;

  // On rank 0, returns the bytes which each rank passed, by rank; on others, an empty vector.
  virtual std::vector<std::string> gather(std::string bytes) = 0;
};

// Returns the communicator of a single process.
std::unique_ptr<Communicator> single_process_communicator();

}  // namespace yard
