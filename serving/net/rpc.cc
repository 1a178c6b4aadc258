#include "serving/net/rpc.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "env/base/core/error.h"
#include "serving/net/traceparent.h"
#include "serving/snapshot/snapshot.h"

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

// What the server needs to know of a request before it can afford to read it.
struct Label {
  std::string request_id, cluster;
};

Label label_of(const grpc::ByteBuffer& bytes) {
  using google::protobuf::internal::WireFormatLite;
  constexpr auto tag_of = [](int field) {
    return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  };
  const uint32_t id_tag = tag_of(pb::DecideRequest::kRequestIdFieldNumber);
  const uint32_t cluster_tag = tag_of(pb::DecideRequest::kClusterFieldNumber);
  grpc::ByteBuffer copy(bytes);
  grpc::ProtoBufferReader reader(&copy);
  google::protobuf::io::CodedInputStream in(&reader);
  Label out;
  for (uint32_t tag; (tag = in.ReadTag()) != 0;) {
    std::string* text = tag == id_tag        ? &out.request_id
                        : tag == cluster_tag ? &out.cluster
                                             : nullptr;
    uint32_t size = 0;
    if (text == nullptr) {
      if (!WireFormatLite::SkipField(&in, tag)) break;
    } else if (!in.ReadVarint32(&size) || size > kMaxIdBytes ||
               !in.ReadString(text, static_cast<int>(size))) {
      break;
    }
  }
  return out;
}

grpc::ByteBuffer bytes_of(const pb::DecideResponse& response) {
  grpc::ByteBuffer out;
  bool own = false;
  grpc::SerializationTraits<pb::DecideResponse>::Serialize(response, &out, &own);
  return out;
}

// The W3C trace context of a call; empty: none, or no valid one.
std::string traceparent_of(const grpc::CallbackServerContext& context) {
  const auto given = context.client_metadata().find(kTraceparent);
  if (given == context.client_metadata().end()) return "";
  return valid_traceparent({given->second.data(), given->second.size()});
}

// OK, or why a call is refused.
grpc::Status status_of(const std::function<Access(std::string_view)>& access,
                       const grpc::CallbackServerContext& context) {
  const auto given = context.client_metadata().equal_range("authorization");
  const bool one = given.first != given.second && std::next(given.first) == given.second;
  const std::string_view authorization =
      one ? std::string_view(given.first->second.data(), given.first->second.size()) : "";
  switch (access(authorization)) {
    case Access::kAllowed:
      return grpc::Status::OK;
    case Access::kForbidden:
      return {grpc::StatusCode::PERMISSION_DENIED, "this token is for reading only"};
    case Access::kUnauthenticated:
      break;
  }
  return {grpc::StatusCode::UNAUTHENTICATED,
          "a valid token is needed: metadata 'authorization: Bearer TOKEN'"};
}

}  // namespace

IncomingRequest PolicyRpc::incoming(const grpc::ByteBuffer& bytes,
                                    grpc::CallbackServerContext& context) {
  Label label = label_of(bytes);
  const std::chrono::nanoseconds left = context.deadline() - std::chrono::system_clock::now();
  // "No deadline" is the maximum time point, to which nothing can be added.
  const std::chrono::nanoseconds most = std::chrono::hours(1);
  IncomingRequest out;
  out.read = [bytes] { return parse(bytes); };
  out.bytes = bytes.Length();
  out.client = label.cluster.empty() ? context.peer() : std::move(label.cluster);
  out.request_id = std::move(label.request_id);
  out.traceparent = traceparent_of(context);
  out.deadline = Engine::Clock::now() + std::min(left, most);
  out.cancelled = [&context] { return context.IsCancelled(); };
  return out;
}

grpc::ServerUnaryReactor* PolicyRpc::Decide(grpc::CallbackServerContext* context,
                                            const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (const grpc::Status status = status_of(callbacks_.access, *context); !status.ok()) {
    reactor->Finish(status);
    return reactor;
  }
  IncomingRequest in = incoming(*request, *context);
  if (!in.traceparent.empty()) context->AddInitialMetadata(kTraceparent, in.traceparent);
  in.done = [context, reactor, response](pb::DecideResponse&& answer) {
    if (context->IsCancelled()) return reactor->Finish(grpc::Status::CANCELLED);
    *response = bytes_of(answer);
    reactor->Finish(grpc::Status::OK);
  };
  in.refuse = [this, reactor](const std::string& why) {
    callbacks_.refused();
    reactor->Finish({grpc::StatusCode::INVALID_ARGUMENT, why});
  };
  engine_.submit(std::move(in));
  return reactor;
}

// Reads, decides and writes one request at a time. Reads the next after the answer is sent.
class PolicyRpc::Stream final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Stream(PolicyRpc& rpc, grpc::CallbackServerContext& context) : rpc_(rpc), context_(context) {
    const std::string traceparent = traceparent_of(context);
    if (!traceparent.empty()) context.AddInitialMetadata(kTraceparent, traceparent);
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
    IncomingRequest in = rpc_.incoming(request_, context_);
    in.done = [this](pb::DecideResponse&& answer) { send(answer); };
    in.refuse = [this, id = in.request_id](const std::string& why) {
      rpc_.callbacks_.refused();
      pb::DecideResponse refused;
      refused.set_request_id(id);
      refused.mutable_refusal()->set_code(grpc::StatusCode::INVALID_ARGUMENT);
      refused.mutable_refusal()->set_message(why);
      send(refused);
    };
    rpc_.engine_.submit(std::move(in));
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
  class Refused final : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
   public:
    explicit Refused(const grpc::Status& status) { Finish(status); }
    void OnDone() override { delete this; }
  };
  const grpc::Status status = status_of(callbacks_.access, *context);
  if (!status.ok()) return new Refused(status);
  return new Stream(*this, *context);
}

void PolicyRpc::end_idle_streams() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  for (Stream* stream : streams_) stream->end_if_idle();
}

grpc::ServerUnaryReactor* AdminRpc::Status(grpc::CallbackServerContext* context,
                                           const pb::StatusRequest*, pb::StatusResponse* out) {
  const grpc::Status status = status_of(answers_.read_access, *context);
  if (status.ok()) *out = answers_.status();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

// Makes a change, if the caller may, and answers with the status afterwards.
grpc::ServerUnaryReactor* AdminRpc::change(grpc::CallbackServerContext& context,
                                           const std::function<void()>& make,
                                           pb::StatusResponse& out) const {
  const grpc::Status status = status_of(answers_.write_access, context);
  if (status.ok()) {
    make();
    out = answers_.status();
  }
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpc::Reload(grpc::CallbackServerContext* context,
                                           const pb::ReloadRequest*, pb::StatusResponse* out) {
  return change(*context, answers_.reload, *out);
}

grpc::ServerUnaryReactor* AdminRpc::ResetBreaker(grpc::CallbackServerContext* context,
                                                 const pb::ResetBreakerRequest*,
                                                 pb::StatusResponse* out) {
  return change(*context, answers_.reset_breaker, *out);
}

}  // namespace yard
