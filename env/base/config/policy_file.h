// The YAML file of a policy with settings, as tune and evolve write it:
//   policy: las
//   settings: {limit_1_gpu_s: 3000}
// Other keys, such as the tuner's provenance, are ignored.
#pragma once

#include <string>

#include "env/base/config/settings.h"

namespace yard {

struct PolicyFile {
  std::string policy;
  Settings settings;
};

// Throws InputError if the file has no policy or, unless `policy` is empty, another one.
PolicyFile read_policy_file(const std::string& file, const std::string& policy = "");

}  // namespace yard
