// Calls the admin service of policy servers.
#pragma once

#include <chrono>
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

}  // namespace yard
