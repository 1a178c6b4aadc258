// The state of a training: files by name, which rank 0 writes to a folder with their hashes.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "agents/kernels/torch.h"
#include "agents/rollout/vector_env.h"
#include "agents/train/training_result.h"

namespace yard {

using StateFiles = std::map<std::string, std::string>;

// Replaces `folder` atomically by `files`. Throws RunError if writing fails.
void write_state(const StateFiles& files, const std::filesystem::path& folder);
// Throws InputError if `folder` has no state, or a file is missing or differs from its hash.
StateFiles read_state(const std::filesystem::path& folder);

// join_state() packs files into one string to send between ranks; split_state() unpacks it.
std::string join_state(const StateFiles& files);
StateFiles split_state(const std::string& joined);

std::string to_archive(const torch::nn::Module& module);
std::string to_archive(torch::optim::Adam& adam);  // stored by index of parameter
// Restores a to_archive(). Throws InputError naming `where` if a tensor has another shape.
void from_archive(const std::string& bytes, torch::nn::Module& module, const std::string& where);
void from_archive(const std::string& bytes, torch::optim::Adam& adam, const std::string& where);

// Packs golden states without logits, which follow from the network's weights.
std::string pack_states(const std::vector<GoldenState>& states);
std::vector<GoldenState> unpack_states(const std::string& bytes, const ObservationShape& shape,
                                       const std::string& where);

}  // namespace yard
