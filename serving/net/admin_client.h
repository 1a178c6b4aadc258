// Calls the admin service of policy servers.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "serving/net/connections.h"
#include "yardmaster/v1/admin.pb.h"

namespace yard {

enum class AdminCall { kStatus, kReload, kResetBreaker };

struct AdminAnswer {
  std::string server;
  std::string error;  // why the server did not answer; empty: it answered
  ::yardmaster::v1::StatusResponse status;
};

// Calls each server, and waits for each answer at most for the time `deadline`.
std::vector<AdminAnswer> call_admin(const ConnectionOptions& options, AdminCall call,
                                    std::chrono::milliseconds deadline);

// What `yardmaster models` can have servers do.
enum class ModelAction { kList, kLoad, kUnload, kMode, kPromote, kRollBack };

struct ModelChange {
  ModelAction action = ModelAction::kList;
  std::string model;   // empty: the server's first
  std::string policy;  // for kLoad
  // For kUnload, kPromote and kRollBack: digest of the version that is meant. A server with another
  // version refuses the change.
  std::optional<std::string> expected_digest = {};
  ::yardmaster::v1::Mode mode = ::yardmaster::v1::MODE_ON;  // this and the rest: for kMode
  double share = 0;
  double turn_s = 0;
};

struct ModelsAnswer {
  std::string server;
  std::string error;  // why the server did not answer or refused the change; empty: success
  ::yardmaster::v1::ListModelsResponse models;
};

// Returns the model `name` of an answer; empty: the first one. Throws RunError if the server did
// not answer, and InputError if it has no such model.
::yardmaster::v1::ModelStatus find_model(const ModelsAnswer& answer, const std::string& name);

// Calls each server, with `deadline` for each.
std::vector<ModelsAnswer> change_models(const ConnectionOptions& options, const ModelChange& change,
                                        std::chrono::milliseconds deadline);

}  // namespace yard
