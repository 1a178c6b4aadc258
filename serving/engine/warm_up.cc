#include "serving/engine/warm_up.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/json_flaw.h"
#include "env/base/text/text.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"
#include "serving/snapshot/run_policy.h"

namespace yard {
namespace {

// Tolerance between LibTorch's recorded outputs and ours, which add hundreds of float terms in
// another order. A wrong weight differs by far more.
constexpr float kTolerance = 1e-3F;

void check_golden(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = load_checkpoint(folder);
  if (checkpoint.network == "none") return;  // without a network
  const ObservationShape shape = make_agent(checkpoint.agent, {})->shape();
  const auto network = network_of(checkpoint, folder.string());
  const std::string where = (folder / "golden.safetensors").string();
  std::vector<GoldenState> states = unpack_golden(checkpoint.golden, shape, where);
  if (states.empty()) throw InputError(where, "at least one recorded state", "none");
  std::vector<float> logits(static_cast<size_t>(shape.actions()));
  for (GoldenState& state : states) {
    network->forward(state.observation(), logits);
    for (size_t a = 0; a < logits.size(); ++a) {
      if (state.mask[a] == 0) continue;
      const float off = std::fabs(logits[a] - state.logits[a]);
      if (off <= kTolerance * (1 + std::fabs(state.logits[a]))) continue;  // false for NaN
      throw InputError(where, "the recorded output " + shortest(state.logits[a]),
                       shortest(logits[a]));
    }
  }
}

// Two nodes, a running job and two waiting jobs, one of which fits.
pb::DecideRequest small_request() {
  pb::DecideRequest request;
  request.set_time_s(1000);
  for (const char* name : {"a", "b"}) {
    pb::Node& node = *request.add_nodes();
    node.set_name(name);
    node.set_gpus(8);
  }
  for (const uint32_t gpus : {8U, 4U, 16U}) {
    pb::Job& job = *request.add_jobs();
    job.set_id(std::to_string(request.jobs_size()));
    job.set_gpus(gpus);
    job.set_state(gpus == 8 ? pb::RUNNING : pb::WAITING);
    job.set_submit_s(10 * request.jobs_size());
    job.set_user("u");
  }
  request.mutable_jobs(0)->set_attained_s(100);
  pb::Piece& piece = *request.mutable_jobs(0)->add_placement();
  piece.set_node("a");
  piece.set_gpus(8);
  return request;
}

}  // namespace

std::string why_damaged(const std::filesystem::path& folder) {
  try {
    const auto manifest = nlohmann::json::parse(read_file(folder / "manifest.json"));
    for (const auto& [name, hash] : manifest.at("sha256").items()) {
      if (sha256_hex(read_file(folder / name)) != hash.get<std::string>()) {
        return (folder / name).string() + ": does not match its hash in the manifest";
      }
    }
    return "";
  } catch (const nlohmann::json::exception& error) {
    return (folder / "manifest.json").string() + ": " + json_flaw(error);
  } catch (const std::exception& error) {
    return error.what();
  }
}

void warm_up(const Policy& policy, const std::filesystem::path& folder) {
  check_golden(folder);
  const pb::DecideRequest request = small_request();
  const PolicyResult answer = run_policy(policy, Snapshot(request), request);
  if (answer.reason == pb::NONE) return;
  throw InputError(folder.string(), "a legal decision on a small cluster",
                   pb::Reason_Name(answer.reason) + ": " + answer.detail);
}

}  // namespace yard
