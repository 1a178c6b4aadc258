// Opens a policy by a user's text: a registered name, `checkpoint:DIR`, `untrained:DIR` (the
// checkpoint before its training), or the YAML file of a tuned policy.
#pragma once

#include <memory>
#include <string>

#include "env/base/config/settings.h"
#include "policies/policy.h"

namespace yard {

struct OpenedPolicy {
  std::unique_ptr<Policy> policy;
  std::string name;  // for tables: the registered name, the agent, or the file
  Policy::Info info;
  std::string digest = {};     // hash of the checkpoint; empty for other policies
  double core_s = 0;           // core-seconds of its training; 0: unknown
  std::string untrained = {};  // of a checkpoint: text that opens it before training
};

// `settings` override those of a tuned policy's file. Throws InputError.
OpenedPolicy open_policy(const std::string& text, const Settings& settings);

}  // namespace yard
