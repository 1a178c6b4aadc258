// How a cell differs from a trace on its cluster: which actions the cluster allows a scheduler, and
// its size and load. It applies to every policy in the cell.
#pragma once

#include <string>
#include <vector>

#include "env/sim/state/columns.h"

namespace yard {

struct Variation {
  Allows allows;
  double cluster = 1;  // factor on the number of nodes
  double load = 1;     // factor on the arrival rate, after any congestion

  bool any() const { return *this != Variation{}; }
  friend bool operator==(const Variation&, const Variation&) = default;
};

constexpr double kMaxScale = 1000;  // of clusters and loads; the least is its inverse

// Parses the allowed actions: `start`, `preempt`, `move`. Throws InputError, naming `where`, for
// other words, without `start`, or for `move` without `preempt`.
Allows parse_allows(const std::vector<std::string>& words, const std::string& where);
std::vector<std::string> words_of(const Allows& allows);

// Returns "start+preempt, cluster x 0.5"; empty for the default.
std::string text_of(const Variation& variation);

}  // namespace yard
