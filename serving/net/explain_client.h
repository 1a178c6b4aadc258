// Asks a server for an explanation.
#pragma once

#include <chrono>

#include "serving/net/connections.h"
#include "serving/snapshot/messages.h"

namespace yard {

// Calls Explain of the first server in the options. Throws InputError if the server refuses the
// request or knows no such decision, RunError if it does not answer before the deadline.
pb::ExplainResponse ask_why(const ConnectionOptions& options, const pb::ExplainRequest& request,
                            std::chrono::milliseconds deadline);

}  // namespace yard
