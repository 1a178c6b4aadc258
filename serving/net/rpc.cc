#include "serving/net/rpc.h"

#include <google/protobuf/arena.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "env/base/core/error.h"

namespace yard {
namespace {

struct ParsedRequest {
  google::protobuf::Arena arena;
  pb::DecideRequest* request = google::protobuf::Arena::CreateMessage<pb::DecideRequest>(&arena);
};

std::shared_ptr<const pb::DecideRequest> parse(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);  // of the references
  grpc::ProtoBufferReader reader(&copy);
  auto parsed = std::make_shared<ParsedRequest>();
  if (!reader.status().ok() || !parsed->request->ParseFromZeroCopyStream(&reader)) {
    throw InputError("request", "a yardmaster.v1.DecideRequest whose texts are UTF-8",
                     std::to_string(bytes.Length()) + " bytes that are none");
  }
  return {parsed, parsed->request};
}

grpc::ByteBuffer bytes_of(const pb::DecideResponse& response) {
  grpc::ByteBuffer out;
  bool own = false;
  grpc::SerializationTraits<pb::DecideResponse>::Serialize(response, &out, &own);
  return out;
}

}  // namespace

grpc::Status PolicyRpc::decide(const grpc::ByteBuffer& bytes, grpc::CallbackServerContext& context,
                               Engine::Done done, std::string& request_id) {
  try {
    auto request = parse(bytes);
    request_id = request->request_id();
    const std::chrono::nanoseconds left = context.deadline() - std::chrono::system_clock::now();
    // "No deadline" is the maximum time point, to which nothing can be added.
    const std::chrono::nanoseconds most = std::chrono::hours(1);
    engine_.decide(std::move(request), Engine::Clock::now() + std::min(left, most),
                   std::move(done));
    return grpc::Status::OK;
  } catch (const InputError& error) {
    refused_();
    return {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INTERNAL, error.what()};
  }
}

grpc::ServerUnaryReactor* PolicyRpc::Decide(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  std::string request_id;
  const grpc::Status status = decide(
      *request, *context,
      [reactor, response](pb::DecideResponse&& answer) {
        *response = bytes_of(answer);
        reactor->Finish(grpc::Status::OK);
      },
      request_id);
  if (!status.ok()) reactor->Finish(status);
  return reactor;
}

// Reads, decides and writes one request at a time. Reads the next after the answer is sent.
class PolicyRpc::Stream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Stream(PolicyRpc& rpc, grpc::CallbackServerContext& context) : rpc_(rpc), context_(context) {
    {
      const std::lock_guard lock(rpc_.mutex_);
      rpc_.streams_.insert(this);
    }
    StartRead(&request_);
  }

  // Requires: the lock of `rpc`.
  void end_if_idle() {
    if (idle_) context_.TryCancel();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    set_idle(false);
    std::string request_id;
    const grpc::Status status = rpc_.decide(
        request_, context_, [this](pb::DecideResponse&& answer) { send(answer); }, request_id);
    if (status.ok()) return;
    pb::DecideResponse refused;
    refused.set_request_id(request_id);
    refused.mutable_refusal()->set_code(status.error_code());
    refused.mutable_refusal()->set_message(status.error_message());
    send(refused);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);
    set_idle(true);
    StartRead(&request_);
  }

  void OnDone() override {
    {
      const std::lock_guard lock(rpc_.mutex_);
      rpc_.streams_.erase(this);
    }
    delete this;
  }

 private:
  void send(const pb::DecideResponse& response) {
    response_ = bytes_of(response);
    StartWrite(&response_);
  }

  void set_idle(bool idle) {
    const std::lock_guard lock(rpc_.mutex_);
    idle_ = idle;
    if (idle_ && rpc_.ending_) context_.TryCancel();
  }

  PolicyRpc& rpc_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer request_, response_;
  bool idle_ = true;  // guarded by the lock of `rpc`
};

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PolicyRpc::DecideStream(
    grpc::CallbackServerContext* context) {
  return new Stream(*this, *context);
}

void PolicyRpc::end_idle_streams() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  for (Stream* stream : streams_) stream->end_if_idle();
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
