// How MLF-H is set: the policy, and what the agent that learns from it does without learning.
#pragma once

#include "env/sim/mlf.h"
#include "env/sim/mlf_load.h"

namespace yard {

struct MlfConfig {
  MlfRule rule;
  MlfLoadRule load;
  double round_s = 60;

  void fields(FieldList& f) {
    add_mlf_fields(f, rule);
    f("round_s", round_s, 10.0, 1e6, "how often jobs may be stopped");
    add_load_fields(f, load);
  }
  int64_t round_us() const { return static_cast<int64_t>(round_s * 1e6); }
};

}  // namespace yard
