// Certificates for gRPC's servers.
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "serving/net/certificates.h"

namespace yard {

// Each new connection gets the identity of that moment, and needs a client certificate if they
// check clients. gRPC's own watcher of files would put a key into service that does not fit.
std::shared_ptr<grpc::ServerCredentials> grpc_credentials(
    std::shared_ptr<const Certificates> certificates);

}  // namespace yard
