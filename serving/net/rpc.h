// Thin gRPC handlers which forward to the engine and the model store.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>

#include "serving/engine/engine.h"
#include "yardmaster/v1/admin.grpc.pb.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {

class PolicyRpc final : public pb::PolicyService::CallbackService {
 public:
  // `refused` is called for requests which describe an impossible cluster.
  PolicyRpc(Engine& engine, std::function<void()> refused)
      : engine_(engine), refused_(std::move(refused)) {}

  grpc::ServerUnaryReactor* Decide(grpc::CallbackServerContext* context,
                                   const pb::DecideRequest* request,
                                   pb::DecideResponse* response) override;
  grpc::ServerBidiReactor<pb::DecideRequest, pb::DecideResponse>* DecideStream(
      grpc::CallbackServerContext* context) override;

 private:
  class Stream;

  // Returns OK if `done` will be called.
  grpc::Status decide(const pb::DecideRequest& request, grpc::CallbackServerContext& context,
                      Engine::Done done);

  Engine& engine_;
  const std::function<void()> refused_;
};

class AdminRpc final : public pb::ModelAdmin::CallbackService {
 public:
  struct AdminCallbacks {
    std::function<pb::StatusResponse()> status;
    std::function<void()> reload;
  };
  explicit AdminRpc(AdminCallbacks answers) : answers_(std::move(answers)) {}

  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context, const pb::StatusRequest*,
                                   pb::StatusResponse* out) override;
  grpc::ServerUnaryReactor* Reload(grpc::CallbackServerContext* context, const pb::ReloadRequest*,
                                   pb::StatusResponse* out) override;

 private:
  const AdminCallbacks answers_;
};

}  // namespace yard
