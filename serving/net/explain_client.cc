#include "serving/net/explain_client.h"

#include <grpcpp/grpcpp.h>

#include <string>

#include "env/base/core/error.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {

pb::ExplainResponse ask_why(const ConnectionOptions& options, const pb::ExplainRequest& request,
                            std::chrono::milliseconds deadline) {
  Connections connections(options);
  const auto stub = pb::PolicyService::NewStub(connections.channel(0));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + deadline);
  connections.add_token(context);
  pb::ExplainResponse answer;
  const grpc::Status status = stub->Explain(&context, request, &answer);
  if (status.ok()) return answer;
  const std::string message = connections.servers().front() + ": " + status.error_message();
  const auto code = status.error_code();
  if (code == grpc::StatusCode::INVALID_ARGUMENT || code == grpc::StatusCode::NOT_FOUND) {
    throw InputError(message);
  }
  throw RunError(message);
}

}  // namespace yard
