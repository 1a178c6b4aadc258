// The policy that is served: opened and tried before it becomes current, swapped in one step, taken
// out when its files turn out damaged, kept when a newer version is no good.
//
//   ModelStore store("checkpoint:checkpoints/pilot", "");
//   ModelStore::Current now = store.current("");
//   store.reload();
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "policies/policy.h"
#include "serving/messages.h"

namespace yard {

struct Model {
  std::unique_ptr<const Policy> policy;
  std::string digest;  // of a checkpoint, else empty
};

// Opens a policy as open_policy() does. Throws InputError also where it needs what no live cluster
// can tell.
Model open_servable(const std::string& text);

class ModelStore {
 public:
  struct Current {
    std::shared_ptr<const Model> model;  // null: nothing to serve, for the reason
    pb::Reason reason = pb::NONE;
    std::string detail;
    std::string name;
    std::string digest;  // of the model, or of what was served last
  };

  struct Status {
    Current current;
    pb::Reason refused = pb::NONE;  // why the files on disk are not what is served
    std::string refused_detail;
    uint64_t loads = 0;
    uint64_t refusals = 0;
  };

  // `text`: a policy as open_policy() knows it; empty: none is served. `name`: empty for the
  // folder's, file's or policy's own. A checkpoint that is damaged is no error but a reason. Throws
  // InputError when there is no such thing at all, or it cannot be served to a live cluster.
  ModelStore(const std::string& text, const std::string& name);

  const std::string& name() const { return name_; }

  // `asked`: a model's name; empty: whatever there is. Thread-safe, like all below.
  Current current(const std::string& asked) const;
  Status status() const;

  // Looks at the files and decides what is served from now on.
  void reload();
  // The same, but only if a file has changed since the last look.
  void reload_if_changed();

 private:
  void look();
  void take_out(pb::Reason reason, const std::string& detail);
  std::string fingerprint() const;

  const std::string text_;
  const std::filesystem::path folder_;  // empty: no checkpoint
  const std::string name_;

  mutable std::mutex mutex_;
  Status status_;
  std::shared_ptr<const Model> last_good_;

  std::mutex looking_;  // one look at a time
  std::string seen_;    // the files' fingerprint then
};

}  // namespace yard
