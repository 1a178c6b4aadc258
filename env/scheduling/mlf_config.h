// Settings of MLF-H: the policy, and the agent that learns from it before training.
#pragma once

#include "env/scheduling/mlf.h"
#include "env/scheduling/mlf_load.h"

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
