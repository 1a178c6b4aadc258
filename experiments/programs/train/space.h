// A space of training settings, and points drawn from it at random.
//   lr: {log: [1e-4, 1e-2]}        evenly in the logarithm
//   entropy: {uniform: [0, 0.01]}
//   epochs: {integer: [1, 4]}      both ends included
//   minibatch: {choice: [1024, 2048]}
#pragma once

#include <string>
#include <vector>

#include "env/base/rng.h"
#include "env/base/settings.h"

namespace yard {

class Space {
 public:
  // Reads the settings that begin with `prefix`. Throws InputError: no dimension, one of an unknown
  // kind, or ends that are none.
  Space(const Settings& settings, const std::string& prefix);

  // One value a dimension, at which its line in the file is the origin.
  Settings draw(Rng rng) const;

  size_t dimensions() const { return dimensions_.size(); }

 private:
  struct Dimension {
    std::string key, kind, origin;
    std::vector<std::string> values;  // ends, or choices
    double low = 0, high = 0;
  };
  std::vector<Dimension> dimensions_;
};

}  // namespace yard
