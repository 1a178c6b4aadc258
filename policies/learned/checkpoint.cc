#include "policies/learned/checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/files/file.h"
#include "env/base/text/json_flaw.h"
#include "env/task/agent.h"
#include "policies/learned/onnx_model.h"
#include "policies/policy.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kModel = "model.safetensors";
constexpr const char* kGolden = "golden.safetensors";
constexpr const char* kOnnx = "model.onnx";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kCost = "cost.json";
constexpr const char* kEnvelope = "envelope";  // key in the manifest

// Hashes what decides how the weights are used, as the manifest spells it.
std::string usage_hash(const Json& manifest) {
  std::string use;
  for (const char* key : {"agent", "network", "task", "feature_schema"})
    use += manifest.at(key).dump();
  return sha256_hex(use);
}

// Throws InputError for an unknown agent.
std::string feature_schema_of(const std::string& agent) {
  return sha256_hex(make_agent(agent, {})->feature_schema(agent));
}

std::string read_part(const fs::path& folder, const char* name, const Json& hashes) {
  std::string bytes = read_file(folder / name);
  const auto expected = hashes.at(name).get<std::string>();
  const std::string got = sha256_hex(bytes);
  if (got != expected) {
    throw InputError((folder / name).string(), "sha256 " + expected + " as in the manifest", got);
  }
  return bytes;
}

std::string text_of(const Json& manifest) { return manifest.dump(2) + "\n"; }

// Equal weights have equal digests, whether or not model.onnx or the envelope was written, and by
// any release.
std::string digest_of(Json manifest) {
  manifest.at("sha256").erase(kOnnx);
  manifest.erase("written_by");
  manifest.erase(kEnvelope);
  return sha256_hex(text_of(manifest));
}

// Throws InputError if the folder has files other than a checkpoint's: these would be lost.
void refuse_other_files(const fs::path& folder) {
  if (!fs::is_directory(folder)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    constexpr std::array kOwn = {kManifest, kModel, kGolden, kOnnx, kCost};
    if (std::ranges::find(kOwn, name) != kOwn.end()) continue;
    throw InputError(folder.string(), "a new or empty folder, or a checkpoint",
                     "a folder that contains '" + name + "'");
  }
}

// Returns 0 if there is no cost.json.
double cost_of(const fs::path& folder) {
  if (!fs::exists(folder / kCost)) return 0;
  const std::string where = (folder / kCost).string();
  try {
    return Json::parse(read_file(where)).at("training_core_s").get<double>();
  } catch (const nlohmann::json::exception& e) {
    throw InputError(where, "a number training_core_s", json_error_text(e));
  }
}

}  // namespace

void check_checkpoint_writable(const fs::path& folder) {
  refuse_other_files(folder);
  const AtomicDirectory probe(folder);
}

void save_checkpoint(const Checkpoint& c, const fs::path& folder) {
  const std::string model = to_safetensors(c.weights), golden = to_safetensors(c.golden),
                    onnx = onnx_of(c);
  Json manifest = {{"format_version", kCheckpointVersion},
                   {"written_by", "yardmaster " + std::string(release_version())},
                   {"agent", c.agent},
                   {"network", c.network},
                   {"task", c.task},
                   {"feature_schema", feature_schema_of(c.agent)},
                   {"information", information_level_name(agent_info(c.agent).level)},
                   {"provenance", c.provenance},
                   {"scores", c.scores},
                   {"sha256", {{kModel, sha256_hex(model)}, {kGolden, sha256_hex(golden)}}}};
  if (!onnx.empty()) manifest["sha256"][kOnnx] = sha256_hex(onnx);
  manifest["use_sha256"] = usage_hash(manifest);
  if (!c.envelope.empty()) manifest[kEnvelope] = c.envelope.to_json();
  refuse_other_files(folder);
  AtomicDirectory out(folder);
  write_file_atomic(out.temporary_path() / kModel, model);
  write_file_atomic(out.temporary_path() / kGolden, golden);
  if (!onnx.empty()) write_file_atomic(out.temporary_path() / kOnnx, onnx);
  write_file_atomic(out.temporary_path() / kManifest, text_of(manifest));
  if (c.core_s > 0) save_training_cost(c.core_s, out.temporary_path());
  out.commit();
}

void save_training_cost(double core_s, const fs::path& folder) {
  const Json cost = {{"training_core_s", std::round(10 * core_s) / 10}};
  write_file_atomic(folder / kCost, cost.dump(2) + "\n");
}

void save_envelope(const Envelope& envelope, const fs::path& folder) {
  const fs::path path = folder / kManifest;
  try {
    Json manifest = Json::parse(read_file(path));
    manifest[kEnvelope] = envelope.to_json();
    write_file_atomic(path, text_of(manifest));
  } catch (const nlohmann::json::exception& e) {
    throw InputError(path.string(), "a checkpoint's manifest", json_error_text(e));
  }
}

Checkpoint load_checkpoint(const fs::path& folder) {
  if (!fs::exists(folder / kManifest)) {
    std::string got = "none";
    for (const fs::path& best : {folder / "checkpoints" / "best", folder / "best"}) {
      if (!fs::exists(best / kManifest)) continue;
      got = "a folder of checkpoints; the best one is " + best.string();
    }
    throw InputError(folder.string(), "a checkpoint folder with manifest.json", got);
  }
  const std::string text = read_file(folder / kManifest);
  const std::string where = (folder / kManifest).string();
  try {
    const Json manifest = Json::parse(text);
    const int version = manifest.at("format_version").get<int>();
    if (version != kCheckpointVersion) {
      throw InputError(where, "format_version " + std::to_string(kCheckpointVersion),
                       std::to_string(version));
    }
    Checkpoint c;
    c.digest = digest_of(manifest);
    c.written_by = manifest.value("written_by", "");
    c.core_s = cost_of(folder);
    const Json& hashes = manifest.at("sha256");
    const auto use = manifest.at("use_sha256").get<std::string>();
    if (use != usage_hash(manifest)) {
      throw InputError(
          where, "agent, network, task and feature schema with the sha256 " + use + " (use_sha256)",
          usage_hash(manifest));
    }
    manifest.at("agent").get_to(c.agent);
    const std::string schema = feature_schema_of(c.agent);
    if (manifest.at("feature_schema") != schema) {
      throw InputError(where, "the features that '" + c.agent + "' has now",
                       "a checkpoint trained with other features (retrain it)");
    }
    manifest.at("network").get_to(c.network);
    c.task = manifest.at("task");
    c.provenance = manifest.at("provenance");
    c.scores = manifest.at("scores");
    c.envelope = Envelope::from_json(manifest.value(kEnvelope, Json()), where);
    c.weights = from_safetensors(read_part(folder, kModel, hashes), (folder / kModel).string());
    c.golden = from_safetensors(read_part(folder, kGolden, hashes), (folder / kGolden).string());
    if (hashes.contains(kOnnx)) c.onnx = read_part(folder, kOnnx, hashes);
    return c;
  } catch (const nlohmann::json::exception& e) {
    throw InputError(where, "a checkpoint's manifest", json_error_text(e));
  }
}

}  // namespace yard
