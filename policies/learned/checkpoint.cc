#include "policies/learned/checkpoint.h"

#include "env/base/error.h"
#include "env/base/file.h"
#include "env/base/text.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kModel = "model.safetensors";
constexpr const char* kGolden = "golden.safetensors";
constexpr const char* kManifest = "manifest.json";

Json task_json(const DispatchConfig& task) {
  return {{"name", "dispatch"},
          {"placement", kPlacementNames[static_cast<size_t>(task.placement)]},
          {"preempt", task.preempt},
          {"gpu_exponent", task.gpu_exponent},
          {"margin_log2", task.margin_log2},
          {"shrink", task.shrink},
          {"sibling_prior", task.sibling_prior},
          {"spread", task.run_times.job},
          {"spread_batch", task.run_times.batch},
          {"spread_user", task.run_times.user},
          {"quantum_us", task.quantum_us},
          {"tick_us", task.tick_us},
          {"held_rows", task.held_rows},
          {"waiting_rows", task.waiting_rows},
          {"prior_gap", task.prior_gap},
          {"prior_slope", task.prior_slope},
          {"prior_other", task.prior_other}};
}

DispatchConfig task_from(const Json& json) {
  DispatchConfig task;
  const auto placement = json.at("placement").get<std::string>();
  bool known = false;
  for (size_t i = 0; i < std::size(kPlacementNames); ++i) {
    if (placement != kPlacementNames[i]) continue;
    task.placement = static_cast<Placement>(i);
    known = true;
  }
  if (!known) throw InputError("task.placement", "a placement rule", placement);
  json.at("preempt").get_to(task.preempt);
  // The ranges that training allows.
  const auto number = [&]<class T>(const char* name, T least, T most) {
    const auto value = json.at(name).get<T>();
    if (value >= least && value <= most) return value;
    throw InputError(std::string("task.") + name,
                     "in [" + shortest(least) + ", " + shortest(most) + "]", json.at(name).dump());
  };
  constexpr int64_t kLong = 1'000'000'000'000;
  task.gpu_exponent = number("gpu_exponent", 0.0F, 2.0F);
  task.margin_log2 = number("margin_log2", 0.0F, 10.0F);
  task.shrink = number("shrink", 0.01F, 100.0F);
  task.sibling_prior = number("sibling_prior", 0.01F, 1e6F);
  task.quantum_us = number("quantum_us", int64_t{0}, kLong);
  task.tick_us = number("tick_us", int64_t{1'000'000}, kLong);
  task.held_rows = number("held_rows", 1, Dispatch::kHeldRows);
  task.waiting_rows = number("waiting_rows", 1, Dispatch::kJobs);
  task.prior_gap = number("prior_gap", 0.0F, 100.0F);
  task.prior_slope = number("prior_slope", 0.0F, 100.0F);
  task.prior_other = number("prior_other", 1e-6F, 1.0F);
  task.run_times = RunTimes(number("spread", 0.2F, 3.0F), number("spread_batch", 0.0F, 5.0F),
                            number("spread_user", 0.0F, 5.0F));
  return task;
}

// Of what decides how the weights are used, as the manifest spells it.
std::string use_hash(const Json& manifest) {
  std::string use;
  for (const char* key : {"agent", "network", "task", "feature_schema"})
    use += manifest.at(key).dump();
  return sha256_hex(use);
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

}  // namespace

std::string feature_schema_hash() {
  // Names in the order of the enums in env/task/dispatch.h.
  constexpr const char* kSchema =
      "dispatch 2, 128 jobs: holds gpus age attained left siblings known suggested; "
      "cluster: free waiting held demand preempts nothing_suggested live stopping";
  return sha256_hex(kSchema);
}

void save_checkpoint(const Checkpoint& c, const fs::path& folder) {
  const std::string model = to_safetensors(c.weights), golden = to_safetensors(c.golden);
  Json manifest = {{"format_version", kCheckpointVersion},
                   {"agent", c.agent},
                   {"network", c.network},
                   {"task", task_json(c.task)},
                   {"feature_schema", feature_schema_hash()},
                   {"information", "history"},
                   {"provenance", c.provenance},
                   {"scores", c.scores},
                   {"sha256", {{kModel, sha256_hex(model)}, {kGolden, sha256_hex(golden)}}}};
  manifest["use_sha256"] = use_hash(manifest);
  AtomicDirectory out(folder);
  write_file_atomic(out.path() / kModel, model);
  write_file_atomic(out.path() / kGolden, golden);
  write_file_atomic(out.path() / kManifest, manifest.dump(2) + "\n");
  out.commit();
}

Checkpoint load_checkpoint(const fs::path& folder) {
  if (!fs::exists(folder / kManifest)) {
    throw InputError(folder.string(), "a checkpoint folder with manifest.json", "none");
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
    if (manifest.at("feature_schema") != feature_schema_hash()) {
      throw InputError(where, "feature schema " + feature_schema_hash(),
                       manifest.at("feature_schema").get<std::string>());
    }
    Checkpoint c;
    c.digest = sha256_hex(text);
    manifest.at("agent").get_to(c.agent);
    manifest.at("network").get_to(c.network);
    c.task = task_from(manifest.at("task"));
    c.provenance = manifest.at("provenance");
    c.scores = manifest.at("scores");
    const Json& hashes = manifest.at("sha256");
    const auto use = manifest.at("use_sha256").get<std::string>();
    if (use != use_hash(manifest)) {
      throw InputError(where, "agent, network and task with the sha256 " + use + " that it names",
                       use_hash(manifest));
    }
    c.weights = from_safetensors(read_part(folder, kModel, hashes), (folder / kModel).string());
    c.golden = from_safetensors(read_part(folder, kGolden, hashes), (folder / kGolden).string());
    return c;
  } catch (const nlohmann::json::exception& e) {
    throw InputError(where, "a checkpoint's manifest", e.what());
  }
}

Observation GoldenState::observation() {
  Observation o{};
  o.jobs = jobs.data();
  o.cluster = cluster.data();
  o.mask = mask.data();
  o.prior = prior.data();
  o.slots = slots.data();
  o.rows = rows;
  return o;
}

Tensors pack_golden(const std::vector<GoldenState>& states) {
  const auto g = static_cast<int64_t>(states.size());
  Tensors out;
  out["jobs"].shape = {g, Dispatch::kJobs, Dispatch::kJobFeatures};
  out["cluster"].shape = {g, Dispatch::kClusterFeatures};
  for (const char* name : {"mask", "prior", "logits"}) out[name].shape = {g, Dispatch::kActions};
  out["rows"].shape = {g};
  const auto add = [&out](const char* name, const auto& values) {
    auto& data = out[name].data;
    data.insert(data.end(), values.begin(), values.end());
  };
  for (const GoldenState& s : states) {
    add("jobs", s.jobs);
    add("cluster", s.cluster);
    add("mask", s.mask);
    add("prior", s.prior);
    add("logits", s.logits);
    out["rows"].data.push_back(static_cast<float>(s.rows));
  }
  return out;
}

std::vector<GoldenState> unpack_golden(const Tensors& tensors, const std::string& where) {
  const auto rows = tensors.find("rows");
  if (rows == tensors.end() || rows->second.shape.size() != 1) {
    throw InputError(where, "a tensor rows (states)", "none");
  }
  const auto g = static_cast<size_t>(rows->second.shape[0]);
  const auto part = [&](const char* name, size_t i, size_t width) {
    const auto it = tensors.find(name);
    if (it == tensors.end() || it->second.data.size() != g * width) {
      throw InputError(where,
                       "a tensor " + std::string(name) + " of " + std::to_string(g) + " x " +
                           std::to_string(width),
                       it == tensors.end() ? "none" : "another size");
    }
    const auto from = it->second.data.begin() + static_cast<int64_t>(i * width);
    return std::vector<float>(from, from + static_cast<int64_t>(width));
  };
  std::vector<GoldenState> out(g);
  for (size_t i = 0; i < g; ++i) {
    GoldenState& s = out[i];
    s.jobs = part("jobs", i, size_t{Dispatch::kJobs} * Dispatch::kJobFeatures);
    s.cluster = part("cluster", i, Dispatch::kClusterFeatures);
    s.prior = part("prior", i, Dispatch::kActions);
    s.logits = part("logits", i, Dispatch::kActions);
    const auto mask = part("mask", i, Dispatch::kActions);
    s.mask.assign(mask.begin(), mask.end());
    s.slots.assign(Dispatch::kJobs, kNone);
    const float n = part("rows", i, 1)[0];
    if (!(n >= 0 && n <= Dispatch::kJobs)) {
      throw InputError(where, "rows in [0, 128]", shortest(n));
    }
    s.rows = static_cast<int32_t>(n);
  }
  return out;
}

}  // namespace yard
