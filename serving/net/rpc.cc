#include "serving/net/rpc.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cmath>

#include "env/base/core/error.h"
#include "serving/net/traceparent.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

struct ParsedRequest {
  explicit ParsedRequest(size_t bytes) : arena(blocks_for(bytes)) {}

  // A parsed message takes a few times the bytes of the message.
  static google::protobuf::ArenaOptions blocks_for(size_t bytes) {
    google::protobuf::ArenaOptions out;
    out.start_block_size = std::clamp<size_t>(4 * bytes, size_t{1} << 10, size_t{32} << 10);
    out.max_block_size = size_t{32} << 10;
    return out;
  }

  google::protobuf::Arena arena;
  pb::DecideRequest* request = google::protobuf::Arena::CreateMessage<pb::DecideRequest>(&arena);
};

std::shared_ptr<pb::DecideRequest> parse(const grpc::ByteBuffer& bytes) {
  grpc::ByteBuffer copy(bytes);  // of the references
  grpc::ProtoBufferReader reader(&copy);
  auto parsed = std::make_shared<ParsedRequest>(bytes.Length());
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

// Returns what makes no sense about a reported outcome, or "".
std::string flaw_of_outcome(const pb::Outcome& outcome) {
  if (outcome.job().empty()) return "it names no job";
  if (outcome.job().size() > kMaxIdBytes) return "the job's id is too long";
  if (!pb::Outcome::End_IsValid(outcome.end()) || outcome.end() == pb::Outcome::END_UNSPECIFIED) {
    return "it does not say how the job ended";
  }
  for (const double time_s : {outcome.start_s(), outcome.end_s(), outcome.run_s()}) {
    if (!(time_s >= 0 && std::isfinite(time_s))) return "a time is negative or not finite";
  }
  if (outcome.has_start_s() && outcome.has_end_s() && outcome.end_s() < outcome.start_s()) {
    return "it ended before it started";
  }
  return "";
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

template <class Request>
ModelCatalog::ExpectedDigest expected_digest_of(const Request& request) {
  if (!request.has_expected_digest()) return std::nullopt;
  return request.expected_digest();
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
  in.refuse = [this, reactor](const pb::Refusal& why) {
    callbacks_.refused();
    reactor->Finish({static_cast<grpc::StatusCode>(why.code()), why.message()});
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
    in.refuse = [this, id = in.request_id](const pb::Refusal& why) {
      rpc_.callbacks_.refused();
      pb::DecideResponse refused;
      refused.set_request_id(id);
      *refused.mutable_refusal() = why;
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

grpc::ServerUnaryReactor* PolicyRpc::Register(grpc::CallbackServerContext* context,
                                              const pb::RegisterRequest* request,
                                              pb::RegisterResponse* out) {
  grpc::Status status = status_of(callbacks_.access, *context);
  try {
    if (status.ok()) {
      *out = engine_.add_registration(*request);
      out->set_max_bytes(callbacks_.max_message_bytes);
    }
  } catch (const InputError& error) {
    callbacks_.refused();
    status = {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
  } catch (const StaleRegistration& error) {
    callbacks_.refused();
    status = {grpc::StatusCode::FAILED_PRECONDITION, error.what()};
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* PolicyRpc::Explain(grpc::CallbackServerContext* context,
                                             const pb::ExplainRequest* request,
                                             pb::ExplainResponse* out) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  if (const grpc::Status status = status_of(callbacks_.access, *context); !status.ok()) {
    reactor->Finish(status);
    return reactor;
  }
  engine_.explain(
      std::make_shared<const pb::ExplainRequest>(*request),
      [reactor, out](pb::ExplainResponse&& answer) {
        *out = std::move(answer);
        reactor->Finish(grpc::Status::OK);
      },
      [this, reactor](const pb::Refusal& why) {
        callbacks_.refused();
        reactor->Finish({static_cast<grpc::StatusCode>(why.code()), why.message()});
      });
  return reactor;
}

grpc::ServerUnaryReactor* PolicyRpc::ReportOutcome(grpc::CallbackServerContext* context,
                                                   const pb::ReportOutcomeRequest* request,
                                                   pb::ReportOutcomeResponse* out) {
  const grpc::Status status = status_of(callbacks_.access, *context);
  if (status.ok()) {
    for (const pb::Outcome& outcome : request->outcomes()) {
      const std::string flaw = flaw_of_outcome(outcome);
      if (flaw.empty()) {
        callbacks_.report(request->cluster(), outcome);
        out->set_accepted(out->accepted() + 1);
        continue;
      }
      pb::Quarantined& odd = *out->add_quarantined();
      odd.set_record(pb::Quarantined::JOB);
      odd.set_id(outcome.job());
      odd.set_why(flaw);
    }
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
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
grpc::ServerUnaryReactor* AdminRpc::change_and_report_status(grpc::CallbackServerContext& context,
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
  return change_and_report_status(*context, answers_.reload, *out);
}

grpc::ServerUnaryReactor* AdminRpc::ResetBreaker(grpc::CallbackServerContext* context,
                                                 const pb::ResetBreakerRequest*,
                                                 pb::StatusResponse* out) {
  return change_and_report_status(*context, answers_.reset_breaker, *out);
}

grpc::ServerUnaryReactor* AdminRpc::change_models(grpc::CallbackServerContext& context,
                                                  const std::function<void()>& make,
                                                  pb::ListModelsResponse& out) const {
  grpc::Status status = status_of(answers_.write_access, context);
  try {
    if (status.ok()) make();
  } catch (const InputError& error) {
    status = {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
  } catch (const RunError& error) {
    status = {grpc::StatusCode::INTERNAL,
              std::string("the change holds until the server ends: ") + error.what()};
  }
  if (status.ok()) {
    const auto all = answers_.models->list();
    out.mutable_models()->Assign(all.begin(), all.end());
  }
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpc::ListModels(grpc::CallbackServerContext* context,
                                               const pb::ListModelsRequest*,
                                               pb::ListModelsResponse* out) {
  const grpc::Status status = status_of(answers_.read_access, *context);
  if (status.ok()) {
    const auto all = answers_.models->list();
    out->mutable_models()->Assign(all.begin(), all.end());
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* AdminRpc::LoadCandidate(grpc::CallbackServerContext* context,
                                                  const pb::LoadCandidateRequest* request,
                                                  pb::ListModelsResponse* out) {
  return change_models(
      *context, [&] { answers_.models->load_candidate(request->model(), request->policy()); },
      *out);
}

grpc::ServerUnaryReactor* AdminRpc::UnloadCandidate(grpc::CallbackServerContext* context,
                                                    const pb::UnloadCandidateRequest* request,
                                                    pb::ListModelsResponse* out) {
  return change_models(
      *context,
      [&] { answers_.models->unload_candidate(request->model(), expected_digest_of(*request)); },
      *out);
}

grpc::ServerUnaryReactor* AdminRpc::SetMode(grpc::CallbackServerContext* context,
                                            const pb::SetModeRequest* request,
                                            pb::ListModelsResponse* out) {
  return change_models(
      *context, [&] { answers_.models->set_mode(*request); }, *out);
}

grpc::ServerUnaryReactor* AdminRpc::Promote(grpc::CallbackServerContext* context,
                                            const pb::PromoteRequest* request,
                                            pb::ListModelsResponse* out) {
  return change_models(
      *context, [&] { answers_.models->promote(request->model(), expected_digest_of(*request)); },
      *out);
}

grpc::ServerUnaryReactor* AdminRpc::RollBack(grpc::CallbackServerContext* context,
                                             const pb::RollBackRequest* request,
                                             pb::ListModelsResponse* out) {
  return change_models(
      *context, [&] { answers_.models->roll_back(request->model(), expected_digest_of(*request)); },
      *out);
}

}  // namespace yard
