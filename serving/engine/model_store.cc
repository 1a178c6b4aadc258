#include "serving/engine/model_store.h"

#include <sys/stat.h>

#include <chrono>
#include <set>
#include <thread>

#include "env/base/core/error.h"
#include "policies/learned/checkpoint.h"
#include "policies/learned/open_policy.h"
#include "serving/engine/warm_up.h"

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
  if (!folder.empty()) {
    const fs::path last = folder.has_filename() ? folder : folder.parent_path();
    return last.filename();
  }
  return text.ends_with(".yaml") || text.ends_with(".yml") ? fs::path(text).stem().string() : text;
}

// Whether the folder is a run's, or a run's folder of checkpoints: a mistake in the path. Unlike
// it, a checkpoint which is damaged or not yet there leaves the decisions to the fallback.
bool holds_checkpoints(const fs::path& folder) {
  if (fs::exists(folder / "manifest.json")) return false;
  return fs::exists(folder / "checkpoints") || fs::exists(folder / "best");
}

}  // namespace

Model open_servable(const std::string& text) {
  OpenedPolicy opened = open_policy(text, {});
  if (!opened.info.servable) {
    throw InputError(
        "policy", "a policy for live clusters",
        "'" + text + "', which needs the information level " + level_name(opened.policy->level()));
  }
  return {std::move(opened.policy), std::move(opened.digest)};
}

ModelStore::ModelStore(const std::string& text, const std::string& name)
    : text_(text), folder_(folder_of(text)), name_(name.empty() ? name_of(text, folder_) : name) {
  status_.current.name = name_;
  if (text_.empty()) {
    remove_from_service(pb::NO_MODEL, "no model is configured");
  } else if (folder_.empty()) {
    last_good_ = status_.current.model = std::make_shared<const Model>(open_servable(text_));
    status_.loads = 1;
  } else {
    if (!fs::is_directory(folder_)) {
      throw InputError("checkpoint", "a folder", "'" + folder_.string() + "'");
    }
    if (holds_checkpoints(folder_)) load_checkpoint(folder_);  // throws, naming the folder to use
    reload();
  }
}

ModelStore::Current ModelStore::current(const std::string& asked) const {
  const std::lock_guard lock(mutex_);
  if (asked.empty() || asked == name_) return status_.current;
  Current none;
  none.reason = pb::NO_MODEL;
  none.detail = "no model '" + asked + "' here" + (name_.empty() ? "" : ", only '" + name_ + "'");
  none.name = asked;
  return none;
}

ModelStore::Status ModelStore::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void ModelStore::reload() {
  if (folder_.empty()) return;
  const std::lock_guard check_lock(check_mutex_);
  seen_fingerprint_ = fingerprint();
  check_files();
}

void ModelStore::reload_if_changed() {
  if (folder_.empty()) return;
  const std::lock_guard check_lock(check_mutex_);
  const std::string now = fingerprint();
  if (now == seen_fingerprint_) return;
  seen_fingerprint_ = now;
  check_files();
}

// Damaged files no longer match the tested model in memory, so it is taken out of service. An
// intact newer version which fails leaves the served one in place.
void ModelStore::check_files() {
  std::string damage = why_damaged(folder_);
  if (!damage.empty()) {
    std::this_thread::sleep_for(kReplacePause);
    seen_fingerprint_ = fingerprint();
    damage = why_damaged(folder_);
  }
  if (!damage.empty()) {
    remove_from_service(pb::MODEL_CORRUPT, damage);
    return;
  }
  try {
    auto model = std::make_shared<const Model>(open_servable(text_));
    warm_up(*model->policy, folder_);
    const std::lock_guard lock(mutex_);
    const bool fresh = last_good_ == nullptr || last_good_->digest != model->digest;
    if (!fresh) model = last_good_;
    status_.loads += fresh || status_.current.model == nullptr;
    last_good_ = model;
    status_.current.model = model;
    status_.current.reason = pb::NONE;
    status_.current.detail.clear();
    status_.current.digest = model->digest;
    status_.refused = pb::NONE;
    status_.refused_detail.clear();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    ++status_.refusals;
    status_.refused = pb::MODEL_INCOMPATIBLE;
    status_.refused_detail = error.what();
    if (last_good_ != nullptr) {
      status_.current.model = last_good_;
      status_.current.reason = pb::NONE;
      status_.current.detail.clear();
    } else {
      status_.current.reason = pb::MODEL_INCOMPATIBLE;
      status_.current.detail = error.what();
    }
  }
}

void ModelStore::remove_from_service(pb::Reason reason, const std::string& detail) {
  const std::lock_guard lock(mutex_);
  status_.refusals += reason == pb::MODEL_CORRUPT;
  status_.current.model = nullptr;
  status_.current.reason = status_.refused = reason;
  status_.current.detail = status_.refused_detail = detail;
}

// Names, sizes, inodes and times of change of all files: cheap enough to compute every second.
std::string ModelStore::fingerprint() const {
  std::set<std::string> lines;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    struct stat about {};
    if (stat(it->path().c_str(), &about) != 0) continue;
    std::string line = it->path().filename();
    for (const auto number :
         {static_cast<int64_t>(about.st_size), static_cast<int64_t>(about.st_ino),
          static_cast<int64_t>(about.st_mtim.tv_sec), static_cast<int64_t>(about.st_mtim.tv_nsec),
          static_cast<int64_t>(about.st_ctim.tv_sec),
          static_cast<int64_t>(about.st_ctim.tv_nsec)}) {
      line += " " + std::to_string(number);
    }
    lines.insert(std::move(line));
  }
  std::string all = error ? "unreadable" : "";
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

}  // namespace yard
