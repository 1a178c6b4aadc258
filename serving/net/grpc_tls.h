// Adapts Certificates to servers of gRPC.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "serving/net/certificates.h"

namespace yard {

// Each new connection gets the current identity, and needs a client certificate if `certificates`
// check clients. gRPC's own file watcher is not used, as it would serve a key that does not fit its
// certificate.
std::shared_ptr<grpc::ServerCredentials> grpc_credentials(
    std::shared_ptr<const Certificates> certificates);

}  // namespace yard
