// Options of the command `serve` for TLS certificates and access tokens on its ports.
#pragma once

#include <CLI/CLI.hpp>

#include "serving/net/credentials.h"

namespace yard {

void add_credential_options(CLI::App& app, CredentialOptions& options);

}  // namespace yard
