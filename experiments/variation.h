// What sets a cell apart from a trace on its cluster: what the cluster lets a scheduler do, and
// how large and how loaded it is. Everybody who plays there is held to it.
#pragma once

#include <string>
#include <vector>

#include "env/sim/columns.h"

namespace yard {

struct Variation {
  Allows allows;
  double cluster = 1;  // times as many nodes
  double load = 1;     // times as many arrivals in the same time, beyond any congestion

  bool any() const { return *this != Variation{}; }
  friend bool operator==(const Variation&, const Variation&) = default;
};

constexpr double kMostScale = 1000;  // of clusters and loads, either way

// What a scheduler may do, of `start`, `preempt` and `move`. Throws InputError, naming `where`, for
// other words and for what makes no sense alone.
Allows parse_allows(const std::vector<std::string>& words, const std::string& where);
std::vector<std::string> words_of(const Allows& allows);

// "start+preempt, cluster x 0.5"; empty where nothing is set apart.
std::string text_of(const Variation& variation);

}  // namespace yard
