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

#include "policies/learned/envelope.h"
#include "policies/learned/tensors.h"

namespace yard {

constexpr int kCheckpointVersion = 1;

struct Checkpoint {
  std::string agent;            // "pilot"
  std::string network;          // "job-scorer"
  nlohmann::ordered_json task;  // settings of the agent, which decide how it uses the weights
  Tensors weights;
  Tensors golden;                     // golden.h
  nlohmann::ordered_json provenance;  // origin of the weights, such as seed, trace hashes, settings
  nlohmann::ordered_json scores = nlohmann::ordered_json::array();
  Envelope envelope;       // workloads of the training; empty: not known
  double core_s = 0;       // CPU core-seconds that the training took; 0: unknown
  std::string onnx;        // bytes of model.onnx, "" without the file; set when loaded
  std::string written_by;  // writing program, "yardmaster 1.2.3", "" before 0.2.0; set when loaded
  // sha256 of the manifest without model.onnx, written_by and envelope; set when loaded
  std::string digest;
};

// Checks before a long training that a checkpoint can be written to `folder`. Throws InputError
// unless the folder is absent, is empty or contains only a checkpoint, which will be replaced.
void check_checkpoint_writable(const std::filesystem::path& folder);

// Writes a checkpoint and exports model.onnx. Throws InputError if `folder` has other files than a
// checkpoint or the weights do not fit the network, RunError if writing fails.
void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& folder);

// Writes cost.json with the core-seconds of a training, which are known only at its end.
void save_training_cost(double core_s, const std::filesystem::path& folder);

// Writes the envelope into the manifest of a checkpoint and leaves the rest as it is, with the same
// digest. Throws InputError if `folder` has no manifest.
void save_envelope(const Envelope& envelope, const std::filesystem::path& folder);

// Throws InputError if `folder` has no checkpoint, one of another format version or feature schema,
// or a file whose hash differs from its hash in the manifest.
Checkpoint load_checkpoint(const std::filesystem::path& folder);

}  // namespace yard
