#include "serving/net/admin_client.h"

#include <algorithm>

#include "yardmaster/v1/admin.grpc.pb.h"

namespace yard {
namespace {

namespace pb = ::yardmaster::v1;

using Time = std::chrono::system_clock::time_point;

constexpr std::chrono::milliseconds kAgain{200};  // for a connection at the second attempt

grpc::Status call_once(Connections& connections, size_t server, AdminCall call, Time deadline,
                       pb::StatusResponse& out) {
  const auto stub = pb::ModelAdmin::NewStub(connections.channel(server));
  grpc::ClientContext context;
  context.set_deadline(deadline);
  connections.add_token(context);
  switch (call) {
    case AdminCall::kReload:
      return stub->Reload(&context, {}, &out);
    case AdminCall::kResetBreaker:
      return stub->ResetBreaker(&context, {}, &out);
    default:
      return stub->Status(&context, {}, &out);
  }
}

std::string error_text(const grpc::Status& status) {
  if (status.ok()) return "";
  if (status.error_code() == grpc::StatusCode::UNIMPLEMENTED) {
    return "no admin service: name the server's address of --admin";
  }
  return status.error_message().empty() ? "status code " + std::to_string(status.error_code())
                                        : status.error_message();
}

grpc::Status change_once(pb::ModelAdmin::Stub& stub, grpc::ClientContext& context,
                         const ModelChange& change, pb::ListModelsResponse& out) {
  const auto about = [&](auto request) {
    request.set_model(change.model);
    return request;
  };
  const auto about_version = [&](auto request) {
    if (change.expected_digest) request.set_expected_digest(*change.expected_digest);
    return about(std::move(request));
  };
  switch (change.action) {
    case ModelAction::kLoad: {
      auto request = about(pb::LoadCandidateRequest());
      request.set_policy(change.policy);
      return stub.LoadCandidate(&context, request, &out);
    }
    case ModelAction::kMode: {
      auto request = about(pb::SetModeRequest());
      request.set_mode(change.mode);
      request.set_share(change.share);
      request.set_turn_s(change.turn_s);
      return stub.SetMode(&context, request, &out);
    }
    case ModelAction::kUnload:
      return stub.UnloadCandidate(&context, about_version(pb::UnloadCandidateRequest()), &out);
    case ModelAction::kPromote:
      return stub.Promote(&context, about_version(pb::PromoteRequest()), &out);
    case ModelAction::kRollBack:
      return stub.RollBack(&context, about_version(pb::RollBackRequest()), &out);
    default:
      return stub.ListModels(&context, {}, &out);
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
    out[i].error = error_text(status);
  }
  return out;
}

pb::ModelStatus find_model(const ModelsAnswer& answer, const std::string& name) {
  if (!answer.error.empty()) throw RunError(answer.server + ": " + answer.error);
  for (const pb::ModelStatus& model : answer.models.models()) {
    if (name.empty() || model.name() == name) return model;
  }
  throw InputError("--model", "a model of " + answer.server, "'" + name + "'");
}

std::vector<ModelsAnswer> change_models(const ConnectionOptions& options, const ModelChange& change,
                                        std::chrono::milliseconds deadline) {
  Connections connections(options);
  std::vector<ModelsAnswer> out(connections.servers().size());
  for (size_t i = 0; i < out.size(); ++i) {
    out[i].server = connections.servers()[i];
    const auto stub = pb::ModelAdmin::NewStub(connections.channel(i));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    connections.add_token(context);
    out[i].error = error_text(change_once(*stub, context, change, out[i].models));
  }
  return out;
}

}  // namespace yard
