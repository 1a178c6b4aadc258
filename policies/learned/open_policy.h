// Opens a policy from a user's text: a registered name, `checkpoint:DIR`, `untrained:DIR` (the
// checkpoint before its training), or the YAML file of a tuned policy.
#pragma once

#include <memory>
#include <string>

#include "env/base/config/settings.h"
#include "policies/learned/envelope.h"
#include "policies/policy.h"

namespace yard {

struct OpenedPolicy {
  std::unique_ptr<Policy> policy;
  std::string name;  // name in tables: the registered name, the agent or the file
  Policy::Info info;
  std::string digest = {};     // digest of the checkpoint, "" without one
  Envelope envelope = {};      // workloads of the checkpoint's training; empty: not known
  double core_s = 0;           // CPU core-seconds of the training; 0: unknown
  std::string untrained = {};  // text that opens the checkpoint before its training
};

// `settings` override the settings in the file of a tuned policy. Throws InputError.
OpenedPolicy open_policy(const std::string& text, const Settings& settings);

}  // namespace yard
