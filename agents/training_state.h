// A training's state as files by name, and such files as a folder: written by one rank, each with
// its hash, so that a file that is damaged or of another training is named.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agents/torch.h"
#include "agents/trained.h"
#include "agents/worlds.h"

namespace yard {

using StateFiles = std::map<std::string, std::string>;

// Replaces the folder as a whole. Throws RunError when the disk refuses.
void write_state(const StateFiles& files, const std::filesystem::path& folder);
// Throws InputError: no state, or a file that is missing or not the one that was written.
StateFiles read_state(const std::filesystem::path& folder);

// One string out of many and back, to hand a state from rank to rank.
std::string join_state(const StateFiles& files);
StateFiles split_state(const std::string& joined);

std::string to_archive(const torch::nn::Module& module);
std::string to_archive(torch::optim::Adam& adam);  // by the order of its parameters
// Throws InputError naming `where` when the tensors have another shape.
void from_archive(const std::string& bytes, torch::nn::Module& module, const std::string& where);
void from_archive(const std::string& bytes, torch::optim::Adam& adam, const std::string& where);

// Golden states without their logits, which the weights decide.
std::string pack_states(const std::vector<GoldenState>& states);
std::vector<GoldenState> unpack_states(const std::string& bytes, const WorldsShape& shape,
                                       const std::string& where);

}  // namespace yard
