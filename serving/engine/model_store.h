// The served policy. The server tests new files of the policy before it uses them. If the files are
// damaged, unreadable or missing, or fail the test, the version in memory stays in service.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "policies/learned/envelope.h"
#include "policies/policy.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct Model {
  std::unique_ptr<const Policy> policy;
  std::string digest;  // hash of the checkpoint; empty: not a checkpoint
  // Fields of snapshots without which the policy would decide on zeros; see missing_field().
  std::vector<std::string> snapshot_fields = {};
  Envelope envelope = {};  // workloads of the checkpoint's training; empty: not known

  // Returns what a checkpoint's envelope covers, in words; "" for a policy without checkpoint.
  std::string envelope_text() const;
};

// Opens a policy as open_policy() does. Throws InputError also if the policy needs information
// which a live cluster does not have.
Model open_servable(const std::string& text);

class ModelStore {
 public:
  struct ModelVersion {
    std::shared_ptr<const Model> model;  // null: no model is served, for `reason`
    pb::Reason reason = pb::NONE;
    std::string detail;
    std::string name;
    std::string digest;  // of the model
  };

  struct Status {
    ModelVersion current;
    pb::Reason refused = pb::NONE;  // why the files on disk are not served
    std::string refused_detail;
    uint64_t loads = 0;
    uint64_t refusals = 0;
  };

  // `text`: a policy as for open_policy(); empty: no model. `name`: the model's name; empty: the
  // name of the folder, file or policy. current() gives the reason if a checkpoint is damaged.
  // Throws InputError if the policy or folder does not exist or cannot serve a live cluster.
  ModelStore(const std::string& text, const std::string& name);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  // Returns the served version, or the reason why there is none. Thread-safe, as are the functions
  // below.
  ModelVersion current() const;
  Status status() const;

  // Checks the model's files and decides which version is served from now on.
  void reload();
  // Checks the model's files only if one has changed since the last check.
  void reload_if_changed();

 private:
  void check_files(bool even_unchanged);
  std::string fingerprint() const;

  const std::string text_;
  const std::filesystem::path folder_;  // empty: no checkpoint
  const std::string name_;

  mutable std::mutex mutex_;
  Status status_;
  std::shared_ptr<const Model> last_good_;

  std::mutex check_mutex_;        // serialises checks of the files
  std::string seen_fingerprint_;  // the files' fingerprint at the last check
};

}  // namespace yard
