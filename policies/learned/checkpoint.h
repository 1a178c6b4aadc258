// A checkpoint is a folder: model.safetensors (weights), manifest.json (what they are, where they
// come from, how they scored, the hash of every file) and golden.safetensors (recorded states with
// the network's outputs, for `verify` and for warm-up). It is written beside, synced and renamed.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/task/dispatch.h"
#include "policies/learned/tensors.h"

namespace yard {

constexpr int kCheckpointVersion = 1;

struct Checkpoint {
  std::string agent;    // "pilot"
  std::string network;  // "job-scorer"
  DispatchConfig task;
  Tensors weights;
  Tensors golden;                     // see pack_golden()
  nlohmann::ordered_json provenance;  // seed, trace hashes, cluster, settings, versions, samples
  nlohmann::ordered_json scores = nlohmann::ordered_json::array();
  std::string digest;  // sha256 of the manifest, which holds those of all other files; set by load
};

// A hash of the names, order and number of the task's features: weights fit no other.
std::string feature_schema_hash();

// Throws RunError when the disk refuses.
void save_checkpoint(const Checkpoint& checkpoint, const std::filesystem::path& folder);

// Throws InputError: no checkpoint, another format version, another feature schema, a file whose
// hash is not the manifest's.
Checkpoint load_checkpoint(const std::filesystem::path& folder);

// Recorded decisions as tensors jobs (G, J, F), cluster (G, C), mask (G, J + 1), prior (G, J + 1),
// rows (G) and what the network said: logits (G, J + 1).
struct GoldenState {
  std::vector<float> jobs, cluster, prior, logits;
  std::vector<uint8_t> mask;
  std::vector<int32_t> slots;
  int32_t rows = 0;

  Observation observation();  // points into this
};

Tensors pack_golden(const std::vector<GoldenState>& states);
std::vector<GoldenState> unpack_golden(const Tensors& tensors, const std::string& where);

}  // namespace yard
