// Calls the admin service of servers.
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
  std::string error;  // why it did not answer; empty: it did
  ::yardmaster::v1::StatusResponse status;
};

// Calls each server, with `deadline` for each.
std::vector<AdminAnswer> call_admin(const ConnectionOptions& options, AdminCall call,
                                    std::chrono::milliseconds deadline);

}  // namespace yard
