// One process that trains, or many that train one network together: each plays its own worlds, and
// what they add up is the same on all of them. Every call is collective: all ranks make it, in the
// same order. Where another rank is gone, calls throw RunError within seconds.
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

  // Replaces every value by its sum over the ranks, the same bits on all of them.
  virtual void sum(std::span<float> values) = 0;
  virtual void sum(std::span<double> values) = 0;

  // Returns what rank 0 handed in.
  virtual std::string broadcast(std::string bytes) = 0;

  // Returns what each rank handed in, on rank 0; elsewhere nothing.
  virtual std::vector<std::string> gather(std::string bytes) = 0;
};

// A process by itself.
std::unique_ptr<Communicator> alone();

}  // namespace yard
