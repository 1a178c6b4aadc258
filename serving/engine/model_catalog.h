// The models that a server can use, and for each the version which decides: the current one, none
// while an operator has switched it off, or a candidate that is on trial.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serving/engine/kept_models.h"
#include "serving/engine/model_store.h"
#include "yardmaster/v1/admin.pb.h"

namespace yard {

// Thread-safe.
class ModelCatalog {
 public:
  struct ModelOptions {
    std::string policy;  // as for open_policy(); empty: no model
    std::string name;    // empty: that of the folder, file or policy
  };

  // Requests that name no model get the first. `kept_in`: a file that keeps what operators change
  // over a restart; empty: nothing is kept. Throws InputError as ModelStore does, or if two models
  // have the same name.
  explicit ModelCatalog(const std::vector<ModelOptions>& models, std::string kept_in = "");

  // Says what the file kept but could not be restored, and why; one text each.
  const std::vector<std::string>& restore_errors() const { return not_restored_; }

  // Which version decides a request.
  struct Choice {
    ModelStore::ModelVersion decider;
    // A candidate whose decision is only compared with the answer; without a model: none.
    ModelStore::ModelVersion shadow;
  };
  // `asked`: the name of a model; empty: the first. `time_s`: time of the snapshot.
  Choice choose(const std::string& asked, const std::string& cluster, double time_s) const;

  bool has(const std::string& name) const;
  // The first model.
  std::string first_model_name() const;
  ModelStore::Status first_model_status() const;
  std::vector<pb::ModelStatus> list() const;

  // The functions from load_candidate() to roll_back() make changes for an operator. They throw
  // InputError, and change nothing, if there is no such model or version or the settings make no
  // sense. They throw RunError if the change cannot be written to the file; then it holds until the
  // server ends. An empty name stands for the first model.
  // Opens and tests a candidate, which does not decide before set_mode() or promote().
  void load_candidate(const std::string& name, const std::string& policy);
  // `expected_digest`: digest of the version that the caller means; with another digest, the change
  // is refused.
  using ExpectedDigest = std::optional<std::string>;
  void unload_candidate(const std::string& name, const ExpectedDigest& expected_digest = {});
  void set_mode(const pb::SetModeRequest& request);
  // Makes the candidate the current version, and keeps the present one for roll_back().
  void promote(const std::string& name, const ExpectedDigest& expected_digest = {});
  // Makes the version before the last promotion current again.
  void roll_back(const std::string& name, const ExpectedDigest& expected_digest = {});

  // Call the functions of ModelStore with these names for all models.
  void reload();
  void reload_if_changed();

  // Counts how often the decisions of a shadow were those of the answer.
  enum class ShadowResult { kSame, kDifferent, kFailed, kDropped };
  void count_shadow(const std::string& name, ShadowResult result);

 private:
  struct Entry {
    std::string name;
    std::string configured;                                    // the policy in the options
    std::shared_ptr<ModelStore> current, candidate, previous;  // the last two may be null
    pb::Mode mode = pb::MODE_ON;
    double share = 0;        // of the clusters or turns that the candidate decides in a canary
    double mode_unix_s = 0;  // when the mode was set
    double turn_s = 0;       // 0: each cluster keeps its version; else seconds until it changes
    uint64_t shadow_results[4] = {};

    void enter(pb::Mode now);
  };

  // Makes a change under the lock, and writes the file.
  template <class Change>
  void change_and_save(Change make);
  void restore();
  void restore(const KeptModel& kept, Entry& entry);

  // The four functions below require the lock.
  const Entry* find(const std::string& name) const;
  Entry& get(const std::string& name);
  static bool is_candidates_turn(const Entry& entry, const std::string& cluster, double time_s);
  std::vector<std::shared_ptr<ModelStore>> stores() const;

  const std::string kept_in_;
  std::vector<std::string> not_restored_;
  std::mutex changing_;  // held while a change is made and written
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // at least one
};

// "on", "off", "shadow" or "canary".
std::string mode_name(pb::Mode mode);
pb::Mode parse_mode(const std::string& name);  // throws InputError

}  // namespace yard
