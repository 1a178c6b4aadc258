// A checkpoint is a folder, which is written under another name, synced and renamed:
//   model.safetensors   weights
//   manifest.json       what the weights are, provenance, scores, the hash of each file
//   golden.safetensors  golden states with the network's outputs, for `verify` and for warm-up
//   model.onnx          the network for other programs (onnx_model.h), if it can be exported
//   cost.json           core-seconds of training, if known; apart, so equal trainings hash alike
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "policies/learned/tensors.h"

namespace yard {

constexpr int kCheckpointVersion = 1;

struct Checkpoint {
  std::string agent;            // "pilot"
  std::string network;          // "job-scorer"
  nlohmann::ordered_json task;  // settings that decide how the agent uses the weights
  Tensors weights;
  Tensors golden;                     // golden.h
  nlohmann::ordered_json provenance;  // seed, trace hashes, cluster, settings, versions, samples
  nlohmann::ordered_json scores = nlohmann::ordered_json::array();
  double core_s = 0;       // core-seconds of training; 0: unknown
  std::string onnx;        // bytes of model.onnx, "" if there is none; set by load
  std::string written_by;  // "yardmaster 1.2.3"; "" before 0.2.0; set by load
  std::string digest;      // sha256 of the manifest without model.onnx and written_by; set by load
};

// Checks before long work that a checkpoint can be written to `folder`. Throws InputError unless
// the folder is absent, empty or a checkpoint, which would be replaced.
void check_checkpoint_writable(const std::filesystem::path& folder);

// Writes a checkpoint and exports model.onnx. Throws InputError if the folder contains other files
// or the weights do not fit the network, RunError if writing fails.
void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& folder);

// Writes cost.json, whose content is known only after training.
void save_training_cost(double core_s, const std::filesystem::path& folder);

// Throws InputError if there is no checkpoint, its format version or feature schema differs, or the
// hash of a file is not the one in the manifest.
Checkpoint load_checkpoint(const std::filesystem::path& folder);

}  // namespace yard
