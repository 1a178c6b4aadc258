// The served policy. A version of its files is tested before the server uses it. If the files are
// damaged, unreadable or gone, or fail the test, the version in memory stays in service.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "policies/policy.h"
#include "serving/snapshot/messages.h"

namespace yard {

struct Model {
  std::unique_ptr<const Policy> policy;
  std::string digest;  // of a checkpoint, else empty
  // Fields of snapshots without which its decisions would rest on zeros; see missing_field().
  std::vector<std::string> snapshot_fields = {};
};

// Opens a policy as open_policy() does. Throws InputError also if it needs information which a live
// cluster does not have.
Model open_servable(const std::string& text);

class ModelStore {
 public:
  struct Current {
    std::shared_ptr<const Model> model;  // null: none is served, see reason
    pb::Reason reason = pb::NONE;
    std::string detail;
    std::string name;
    std::string digest;  // of the model
  };

  struct Status {
    Current current;
    pb::Reason refused = pb::NONE;  // why the files on disk are not served
    std::string refused_detail;
    uint64_t loads = 0;
    uint64_t refusals = 0;
  };

  // `text`: a spec as for open_policy(); empty: no model. `name`: empty for that of the folder,
  // file or policy. A damaged checkpoint is a reason, not an error. Throws InputError if there is
  // no such policy or folder, or the policy cannot serve a live cluster.
  ModelStore(const std::string& text, const std::string& name);

  const std::string& name() const { return name_; }
  const std::string& text() const { return text_; }

  // Thread-safe, as are the functions below.
  Current current() const;
  Status status() const;

  // Checks the files and decides which version is served from then on.
  void reload();
  // Does so only if a file changed since the last check.
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
