// gRPC handlers which forward calls to the engine and the model store.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <mutex>
#include <set>

#include "serving/engine/engine.h"
#include "serving/net/credentials.h"
#include "yardmaster/v1/admin.grpc.pb.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard {

namespace internal {
using Policy1 = pb::PolicyService::WithCallbackMethod_ReportOutcome<pb::PolicyService::Service>;
using Policy2 = pb::PolicyService::WithCallbackMethod_Explain<Policy1>;
using Policy3 = pb::PolicyService::WithCallbackMethod_Register<Policy2>;
using Policy4 = pb::PolicyService::WithRawCallbackMethod_DecideStream<Policy3>;
using RawPolicyService = pb::PolicyService::WithRawCallbackMethod_Decide<Policy4>;
}  // namespace internal

// Takes requests as bytes, since gRPC would answer an unreadable message by itself, with INTERNAL.
class PolicyRpc final : public internal::RawPolicyService {
 public:
  struct Callbacks {
    std::function<Access(std::string_view authorization)> access;
    uint64_t max_message_bytes = 0;
    std::function<void()> refused;  // called for each refused request
    std::function<void(const std::string& cluster, const pb::Outcome& outcome)> report;
  };
  PolicyRpc(Engine& engine, Callbacks callbacks)
      : engine_(engine), callbacks_(std::move(callbacks)) {}

  grpc::ServerUnaryReactor* Decide(grpc::CallbackServerContext* context,
                                   const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* DecideStream(
      grpc::CallbackServerContext* context) override;

  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const pb::RegisterRequest* request,
                                     pb::RegisterResponse* out) override;
  grpc::ServerUnaryReactor* Explain(grpc::CallbackServerContext* context,
                                    const pb::ExplainRequest* request,
                                    pb::ExplainResponse* out) override;
  grpc::ServerUnaryReactor* ReportOutcome(grpc::CallbackServerContext* context,
                                          const pb::ReportOutcomeRequest* request,
                                          pb::ReportOutcomeResponse* out) override;

  // Ends each stream as soon as it has no request in progress.
  void end_idle_streams();

 private:
  class Stream;

  // Returns the request with all fields that do not depend on the kind of call, unary or stream.
  IncomingRequest incoming(const grpc::ByteBuffer& bytes, grpc::CallbackServerContext& context);

  Engine& engine_;
  const Callbacks callbacks_;
  std::mutex mutex_;
  std::set<Stream*> streams_;
  bool ending_ = false;
};

class AdminRpc final : public pb::ModelAdmin::CallbackService {
 public:
  struct AdminCallbacks {
    std::function<pb::StatusResponse()> status;
    std::function<void()> reload;
    std::function<void()> reset_breaker;
    ModelCatalog* models = nullptr;
    std::function<Access(std::string_view authorization)> read_access, write_access;
  };
  explicit AdminRpc(AdminCallbacks answers) : answers_(std::move(answers)) {}

  grpc::ServerUnaryReactor* Status(grpc::CallbackServerContext* context, const pb::StatusRequest*,
                                   pb::StatusResponse* out) override;
  grpc::ServerUnaryReactor* Reload(grpc::CallbackServerContext* context, const pb::ReloadRequest*,
                                   pb::StatusResponse* out) override;
  grpc::ServerUnaryReactor* ResetBreaker(grpc::CallbackServerContext* context,
                                         const pb::ResetBreakerRequest*,
                                         pb::StatusResponse* out) override;
  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* context,
                                       const pb::ListModelsRequest*,
                                       pb::ListModelsResponse* out) override;
  grpc::ServerUnaryReactor* LoadCandidate(grpc::CallbackServerContext* context,
                                          const pb::LoadCandidateRequest* request,
                                          pb::ListModelsResponse* out) override;
  grpc::ServerUnaryReactor* UnloadCandidate(grpc::CallbackServerContext* context,
                                            const pb::UnloadCandidateRequest* request,
                                            pb::ListModelsResponse* out) override;
  grpc::ServerUnaryReactor* SetMode(grpc::CallbackServerContext* context,
                                    const pb::SetModeRequest* request,
                                    pb::ListModelsResponse* out) override;
  grpc::ServerUnaryReactor* Promote(grpc::CallbackServerContext* context,
                                    const pb::PromoteRequest* request,
                                    pb::ListModelsResponse* out) override;
  grpc::ServerUnaryReactor* RollBack(grpc::CallbackServerContext* context,
                                     const pb::RollBackRequest* request,
                                     pb::ListModelsResponse* out) override;

 private:
  grpc::ServerUnaryReactor* change_and_report_status(grpc::CallbackServerContext& context,
                                                     const std::function<void()>& make,
                                                     pb::StatusResponse& out) const;
  // Makes a change to the models, if the caller may, and lists them.
  grpc::ServerUnaryReactor* change_models(grpc::CallbackServerContext& context,
                                          const std::function<void()>& make,
                                          pb::ListModelsResponse& out) const;

  const AdminCallbacks answers_;
};

}  // namespace yard
