#include "serving/net/admin_client.h"

#include <algorithm>

#include "yardmaster/v1/admin.grpc.pb.h"

namespace yard {
namespace {

using Time = std::chrono::system_clock::time_point;

constexpr std::chrono::milliseconds kAgain{200};  // for a connection at the second attempt

grpc::Status call_once(Connections& connections, size_t server, AdminCall call, Time deadline,
                       ::yardmaster::v1::StatusResponse& out) {
  const auto stub = ::yardmaster::v1::ModelAdmin::NewStub(connections.channel(server));
  grpc::ClientContext context;
  context.set_deadline(deadline);
  connections.authorize(context);
  switch (call) {
    case AdminCall::kReload:
      return stub->Reload(&context, {}, &out);
    case AdminCall::kResetBreaker:
      return stub->ResetBreaker(&context, {}, &out);
    default:
      return stub->Status(&context, {}, &out);
  }
}

}  // namespace

std::vector<AdminAnswer> call_admin(const ConnectionOptions& options, AdminCall call,
                                    std::chrono::milliseconds deadline) {
  Connections connections(options);
  std::vector<AdminAnswer> out(connections.servers().size());
  for (size_t i = 0; i < out.size(); ++i) {
    const Time now = std::chrono::system_clock::now();
    out[i].server = connections.servers()[i];
    grpc::Status status = call_once(connections, i, call, now + deadline, out[i].status);
    // The server may be starting. All calls may be repeated without harm.
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE &&
        connections.channel(i)->WaitForConnected(now + std::min(deadline, kAgain))) {
      status = call_once(connections, i, call, now + deadline, out[i].status);
    }
    if (status.ok()) continue;
    const bool other = status.error_code() == grpc::StatusCode::UNIMPLEMENTED;
    out[i].error = other ? "no admin service: name the server's address of --admin"
                   : status.error_message().empty()
                       ? "status code " + std::to_string(status.error_code())
                       : status.error_message();
  }
  return out;
}

}  // namespace yard
