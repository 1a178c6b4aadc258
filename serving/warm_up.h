// What a checkpoint has to pass before it decides anything: whole files, the outputs that were
// recorded when it was made, and one small decision.
#pragma once

#include <filesystem>
#include <string>

#include "policies/policy.h"

namespace yard {

// Returns what is wrong with the files of a checkpoint, "" if each has the hash in its manifest.
std::string why_damaged(const std::filesystem::path& folder);

// Throws InputError when the policy, or the network recorded in the folder, does not do what it
// should.
void warm_up(const Policy& policy, const std::filesystem::path& folder);

}  // namespace yard
