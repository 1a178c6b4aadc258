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

// Replaces the folder atomically. Throws RunError if writing fails.
void write_state(const StateFiles& files, const std::filesystem::path& folder);
// Throws InputError if there is no state, or a file is missing or differs from its hash.
StateFiles read_state(const std::filesystem::path& folder);

// Pack the files into one string to send between ranks, and unpack it.
std::string join_state(const StateFiles& files);
StateFiles split_state(const std::string& joined);

std::string to_archive(const torch::nn::Module& module);
std::string to_archive(
    torch::optim::Adam& adam);  // packs the optimiser's state, in the order of its parameters
// Throws InputError naming `where` if the tensors have another shape.
void from_archive(const std::string& bytes, torch::nn::Module& module, const std::string& where);
void from_archive(const std::string& bytes, torch::optim::Adam& adam, const std::string& where);

// Golden states without their logits, which follow from the weights.
std::string pack_states(const std::vector<GoldenState>& states);
std::vector<GoldenState> unpack_states(const std::string& bytes, const ObservationShape& shape,
                                       const std::string& where);

}  // namespace yard
