// A checkpoint is a folder: model.safetensors (weights), manifest.json (what they are, where they
// come from, how they scored, the hash of every file), golden.safetensors (recorded states with the
// network's outputs, for `verify` and for warm-up) and, where the network draws one, model.onnx (it
// again, for other programs: onnx_model.h); cost.json, where it is known, says how many
// core-seconds training took, apart from the manifest, so that equal trainings have equal hashes.
// It is written beside, synced and renamed.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "policies/learned/tensors.h"

namespace yard {

constexpr int kCheckpointVersion = 1;

struct Checkpoint {
  std::string agent;            // "pilot"
  std::string network;          // "job-scorer"
  nlohmann::ordered_json task;  // what else decides how the weights are used; the agent reads it
  Tensors weights;
  Tensors golden;                     // golden.h
  nlohmann::ordered_json provenance;  // seed, trace hashes, cluster, settings, versions, samples
  nlohmann::ordered_json scores = nlohmann::ordered_json::array();
  double core_s = 0;   // that training took; 0: not known
  std::string onnx;    // bytes of model.onnx, "" where there is none; set by load
  std::string digest;  // sha256 of the manifest, which holds those of all other files, without
                       // that of model.onnx, which follows from the rest; set by load
};

// Makes sure, before long work, that a checkpoint can be put there: where nothing is, in an empty
// folder or in the place of another checkpoint. Throws InputError.
void check_checkpoint_place(const std::filesystem::path& folder);

// Draws model.onnx anew. Throws InputError where the folder has anything else in it, or the weights
// are not the network's, RunError when the disk refuses.
void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& folder);

// Says anew what training took, once that is known.
void save_cost(double core_s, const std::filesystem::path& folder);

// Throws InputError: no checkpoint, another format version, another feature schema, a file whose
// hash is not the manifest's.
Checkpoint load_checkpoint(const std::filesystem::path& folder);

}  // namespace yard
