// A search space of training settings, and random points of it.
//   lr: {log: [1e-4, 1e-2]}        log-uniform
//   entropy: {uniform: [0, 0.01]}
//   epochs: {integer: [1, 4]}      uniform, both ends included
//   minibatch: {choice: [1024, 2048]}
#pragma once

#include <string>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/core/rng.h"

namespace yard {

class SearchSpace {
 public:
  // Reads the settings which begin with `prefix`. Throws InputError if there is none, a kind is
  // unknown or bounds are invalid.
  SearchSpace(const Settings& settings, const std::string& prefix);

  // Draws a value for each dimension; its origin is the dimension's line in the file.
  Settings draw(Rng rng) const;

  size_t dimensions() const { return dimensions_.size(); }

 private:
  struct Dimension {
    std::string key, kind, origin;
    std::vector<std::string> values;  // bounds, or choices
    double low = 0, high = 0;
  };
  std::vector<Dimension> dimensions_;
};

}  // namespace yard
