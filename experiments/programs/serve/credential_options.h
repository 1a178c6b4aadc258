// The options of `serve` that say what its ports show to callers and ask of them.
#pragma once

#include <CLI/CLI.hpp>

#include "serving/net/credentials.h"

namespace yard {

void add_credential_options(CLI::App& app, CredentialOptions& options);

}  // namespace yard
