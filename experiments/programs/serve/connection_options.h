// The options of all commands that call a running server.
#pragma once

#include <CLI/CLI.hpp>

#include "serving/net/connections.h"

namespace yard {

// `options`: servers that are asked without --server.
void add_connection_options(CLI::App& app, ConnectionOptions& options);

}  // namespace yard
