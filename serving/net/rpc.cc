#include "serving/net/rpc.h"

#include "env/base/core/error.h"

namespace yard {

grpc::Status PolicyRpc::decide(const pb::DecideRequest& request,
                               grpc::CallbackServerContext& context, Engine::Done done) {
  try {
    const std::chrono::nanoseconds left = context.deadline() - std::chrono::system_clock::now();
    // "No deadline" is the maximum time point, to which nothing can be added.
    const std::chrono::nanoseconds most = std::chrono::hours(1);
    engine_.decide(request, Engine::Clock::now() + std::min(left, most), std::move(done));
    return grpc::Status::OK;
  } catch (const InputError& error) {
    refused_();
    return {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

grpc::ServerUnaryReactor* PolicyRpc::Decide(grpc::CallbackServerContext* context,
                                            const pb::DecideRequest* request,
                                            pb::DecideResponse* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const grpc::Status status =
      decide(*request, *context, [reactor, response](pb::DecideResponse&& answer) {
        *response = std::move(answer);
        reactor->Finish(grpc::Status::OK);
      });
  if (!status.ok()) reactor->Finish(status);
  return reactor;
}

// Reads, decides and writes one request at a time. Reads the next after the answer is sent.
class PolicyRpc::Stream final
    : public grpc::ServerBidiReactor<pb::DecideRequest, pb::DecideResponse> {
 public:
  Stream(PolicyRpc& rpc, grpc::CallbackServerContext& context) : rpc_(rpc), context_(context) {
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    const grpc::Status status =
        rpc_.decide(request_, context_, [this](pb::DecideResponse&& answer) {
          response_ = std::move(answer);
          StartWrite(&response_);
        });
    if (!status.ok()) Finish(status);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    StartRead(&request_);
  }

  void OnDone() override { delete this; }

 private:
  PolicyRpc& rpc_;
  grpc::CallbackServerContext& context_;
  pb::DecideRequest request_;
  pb::DecideResponse response_;
};

grpc::ServerBidiReactor<pb::DecideRequest, pb::DecideResponse>* PolicyRpc::DecideStream(
    grpc::CallbackServerContext* context) {
  return new Stream(*this, *context);
}

grpc::ServerUnaryReactor* AdminRpc::Status(grpc::CallbackServerContext* context,
                                           const pb::StatusRequest*, pb::StatusResponse* out) {
  *out = answers_.status();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpc::Reload(grpc::CallbackServerContext* context,
                                           const pb::ReloadRequest*, pb::StatusResponse* out) {
  answers_.reload();
  return Status(context, nullptr, out);
}

}  // namespace yard
