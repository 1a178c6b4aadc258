// A policy by what a user writes: a registered name, `checkpoint:DIR`, `untrained:DIR` (what the
// checkpoint was before its training), or the YAML file of a tuned one.
#pragma once

#include <memory>
#include <string>

#include "env/base/settings.h"
#include "policies/policy.h"

namespace yard {

struct OpenedPolicy {
  std::unique_ptr<Policy> policy;
  std::string name;  // for tables: the registered name, the agent, or the file
  Policy::Info info;
  std::string digest;     // of a checkpoint, else empty
  double core_s = 0;      // that its training took; 0: not known
  std::string untrained;  // of a checkpoint: what opens it as it was before its training
};

// The settings in the file of a tuned policy. Throws InputError where it is not one, or not
// `policy`'s.
Settings policy_file(const std::string& file, const std::string& policy);

// `settings` overlay a tuned file's own. Throws InputError.
OpenedPolicy open_policy(const std::string& text, const Settings& settings);

}  // namespace yard
