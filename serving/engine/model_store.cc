#include "serving/engine/model_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/json_flaw.h"
#include "env/base/text/text.h"
#include "policies/decision_trace.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/golden.h"
#include "policies/learned/learned_policy.h"
#include "policies/learned/open_policy.h"
#include "serving/snapshot/run_policy.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCheckpoint = "checkpoint:";
// A folder may be replaced between reads of two files. After this pause all files are the new ones.
constexpr std::chrono::milliseconds kReplacePause{100};

fs::path folder_of(const std::string& text) {
  if (!text.starts_with(kCheckpoint)) return {};
  return fs::path(text.substr(kCheckpoint.size())).lexically_normal();
}

std::string name_of(const std::string& text, const fs::path& folder) {
  if (!folder.empty()) return (folder.has_filename() ? folder : folder.parent_path()).filename();
  return text.ends_with(".yaml") || text.ends_with(".yml") ? fs::path(text).stem().string() : text;
}

// Tolerance between LibTorch's recorded outputs and ours, which add hundreds of float terms in
// another order. A wrong weight differs by far more.
constexpr float kTolerance = 1e-3F;

void check_golden(const fs::path& folder) {
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
      throw InputError(where, "the recorded output " + shortest_text(state.logits[a]),
                       shortest_text(logits[a]));
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

// Returns what is wrong with the files of a checkpoint, or "" if each has the hash in its manifest.
std::string why_damaged(const fs::path& folder) {
  try {
    const auto manifest = nlohmann::json::parse(read_file(folder / "manifest.json"));
    for (const auto& [name, hash] : manifest.at("sha256").items()) {
      if (sha256_hex(read_file(folder / name)) != hash.get<std::string>()) {
        return (folder / name).string() + ": does not match its hash in the manifest";
      }
    }
    return "";
  } catch (const nlohmann::json::exception& error) {
    return (folder / "manifest.json").string() + ": " + json_error_text(error);
  } catch (const std::exception& error) {
    return error.what();
  }
}

// Throws InputError if the network in the folder does not reproduce its recorded outputs, or the
// policy cannot decide on a small cluster.
void warm_up(const Policy& policy, const fs::path& folder) {
  check_golden(folder);
  const pb::DecideRequest request = small_request();
  const PolicyResult answer = run_policy(policy, Snapshot(request), request);
  if (answer.reason == pb::NONE) return;
  throw InputError(folder.string(), "a legal decision on a small cluster",
                   pb::Reason_Name(answer.reason) + ": " + answer.detail);
}

}  // namespace

Model open_servable(const std::string& text) {
  OpenedPolicy opened = open_policy(text, {});
  if (!opened.info.servable) {
    throw InputError("policy", "a policy for live clusters",
                     "'" + text + "', which needs the information level " +
                         information_level_name(opened.policy->level()));
  }
  std::vector<std::string> fields = std::move(opened.info.snapshot_fields);
  // Agents name the fields that they need. A rule needs limits if it cannot work without estimates.
  const bool is_rule = dynamic_cast<const TracedPolicy*>(opened.policy.get()) == nullptr;
  if (is_rule && opened.policy->min_information_level() == InformationLevel::kEstimate) {
    fields.push_back("job.limit_s");
  }
  return {std::move(opened.policy), std::move(opened.digest), std::move(fields), opened.envelope};
}

std::string Model::envelope_text() const {
  if (digest.empty()) return "";
  if (envelope.empty()) return "no envelope: its manifest names no workloads of its training";
  return fmt::format("envelope of {} decisions in training", envelope.decisions());
}

ModelStore::ModelStore(const std::string& text, const std::string& name)
    : text_(text), folder_(folder_of(text)), name_(name.empty() ? name_of(text, folder_) : name) {
  status_.current.name = name_;
  if (text_.empty()) {
    status_.current.reason = status_.refused = pb::NO_MODEL;
    status_.current.detail = status_.refused_detail = "no model is configured";
  } else if (folder_.empty()) {
    last_good_ = status_.current.model = std::make_shared<const Model>(open_servable(text_));
    status_.loads = 1;
  } else {
    if (!fs::is_directory(folder_)) {
      throw InputError("checkpoint", "a folder", "'" + folder_.string() + "'");
    }
    // A run's folder is a mistake in the path: load_checkpoint() throws, naming the folder to use.
    // A checkpoint which is damaged or not yet there leaves the decisions to the fallback.
    const bool is_run = fs::exists(folder_ / "checkpoints") || fs::exists(folder_ / "best");
    if (is_run && !fs::exists(folder_ / "manifest.json")) load_checkpoint(folder_);
    reload();
  }
}

ModelStore::ModelVersion ModelStore::current() const {
  const std::lock_guard lock(mutex_);
  return status_.current;
}

ModelStore::Status ModelStore::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void ModelStore::reload() { check_files(true); }
void ModelStore::reload_if_changed() { check_files(false); }

// Whatever is wrong with the files, a model that passed its test goes on deciding: it is in memory
// as a whole, and better than a heuristic that the operator did not choose.
void ModelStore::check_files(bool even_unchanged) {
  if (folder_.empty()) return;
  const std::lock_guard check_lock(check_mutex_);
  const std::string seen = std::exchange(seen_fingerprint_, fingerprint());
  if (!even_unchanged && seen == seen_fingerprint_) return;
  std::string flaw = why_damaged(folder_);
  if (!flaw.empty()) {
    std::this_thread::sleep_for(kReplacePause);
    seen_fingerprint_ = fingerprint();
    flaw = why_damaged(folder_);
  }
  pb::Reason refused = flaw.empty() ? pb::NONE : pb::MODEL_CORRUPT;
  std::shared_ptr<const Model> model;
  try {
    if (flaw.empty()) {
      model = std::make_shared<const Model>(open_servable(text_));
      warm_up(*model->policy, folder_);
    }
  } catch (const std::exception& error) {
    refused = pb::MODEL_INCOMPATIBLE;
    flaw = error.what();
  }
  const std::lock_guard lock(mutex_);
  status_.refused = refused;
  status_.refused_detail = flaw;
  if (refused != pb::NONE) {
    ++status_.refusals;
  } else if (last_good_ == nullptr || last_good_->digest != model->digest ||
             last_good_->envelope != model->envelope) {
    ++status_.loads;
    status_.current.digest = model->digest;
    last_good_ = std::move(model);
  }
  status_.current.model = last_good_;
  status_.current.reason = last_good_ != nullptr ? pb::NONE : refused;
  status_.current.detail = last_good_ != nullptr ? "" : flaw;
}

// Names, sizes, inodes and times of change of all files: cheap enough to compute every second.
std::string ModelStore::fingerprint() const {
  std::set<std::string> lines;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    struct stat about {};
    if (stat(it->path().c_str(), &about) != 0) continue;
    lines.insert(fmt::format("{} {} {} {}.{} {}.{}\n", it->path().filename().string(),
                             about.st_size, about.st_ino, about.st_mtim.tv_sec,
                             about.st_mtim.tv_nsec, about.st_ctim.tv_sec, about.st_ctim.tv_nsec));
  }
  std::string all = error ? "unreadable" : "";
  for (const std::string& line : lines) all += line;
  return all;
}

}  // namespace yard
