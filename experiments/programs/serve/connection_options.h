// The options of all commands that call a running server.
#pragma once

#include <CLI/CLI.hpp>

#include "serving/net/connections.h"

namespace yard {

// `options` names the servers that are asked if --server is not given.
void add_connection_options(CLI::App& app, ConnectionOptions& options);

}  // namespace yard
