// What the numbers of a rule do: which of them carry what it gains over its policy's defaults, each
// with its name. Forward selection: of all numbers that differ from their defaults the one that
// gains most is taken first, then the one that gains most beside it, and so on.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "experiments/contest.h"
#include "experiments/search/pool.h"

namespace yard {

struct ExplainOptions {
  int terms = 10;
  int screened = 16;  // numbers that are tried together: those that gain most by themselves
  std::function<void(const std::string& line)> progress;  // may be empty
};

struct Term {
  std::string name, value, usual, about;  // usual: the default
  double kept = 0;  // share of the whole gain that it and those before it have; 1: all
  // Of the rule without this term over the rule: mean JCT, and that by class of sizes, 0 where
  // there are no such jobs. Above 1: it helps them.
  double without = 1;
  std::array<double, kSizeClasses> without_by_class{};
};

struct Explained {
  std::vector<Term> terms;
  double whole = 1;    // mean JCT of the whole over that of the defaults, geometric mean over cells
  double formula = 1;  // of the terms alone over that of the defaults
  double kept = 0;     // ln formula / ln whole
};

// `whole`: a policy's file or checkpoint, the numbers of which are `numbers`; they are `policy`'s.
// Throws InputError where no number differs from its default; Interrupted.
Explained explain(const std::vector<TuneCell>& cells, const std::string& whole,
                  const std::string& policy, const Settings& numbers,
                  const ExplainOptions& options);

}  // namespace yard
