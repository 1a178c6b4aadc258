// Options shared by all commands that call a running policy server.
#pragma once

#include <CLI/CLI.hpp>

#include "serving/net/connections.h"

namespace yard {

// Adds the options. `options`: output, and defaults such as the servers used without --server.
void add_connection_options(CLI::App& app, ConnectionOptions& options);

}  // namespace yard
