// Tests which a checkpoint must pass before it serves: file hashes, recorded outputs, and one small
// decision.
#pragma once

#include <filesystem>
#include <string>

#include "policies/policy.h"

namespace yard {

// Returns what is wrong with the files of a checkpoint, or "" if each has the hash in its manifest.
std::string why_damaged(const std::filesystem::path& folder);

// Throws InputError if the policy, or the network in the folder, fails its test.
void warm_up(const Policy& policy, const std::filesystem::path& folder);

}  // namespace yard
