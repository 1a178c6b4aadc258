// How MLF-H is set: the policy, and what the agent that learns from it does without learning.
#pragma once

#include "env/sim/mlf.h"
#include "env/sim/mlf_load.h"

namespace yard {

struct MlfConfig {
  MlfRule rule;
  MlfLoadRule load;

  void fields(FieldList& f) {
    add_mlf_fields(f, rule);
    add_load_fields(f, load);
  }
};

}  // namespace yard
