#include "tests/serving/tls/secure_calls.h"

#include <httplib.h>

#include <csignal>

#include "serving/net/listener.h"
#include "serving/snapshot/json.h"
#include "tests/serving/requests.h"
#include "yardmaster/v1/admin.grpc.pb.h"
#include "yardmaster/v1/policy.grpc.pb.h"

namespace yard::testing {
namespace {

constexpr std::chrono::seconds kDeadline{20};

void prepare(grpc::ClientContext& context, const Caller& by) {
  context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  if (!by.token.empty()) context.AddMetadata("authorization", "Bearer " + by.token);
}

httplib::Result request(httplib::Client& http, const std::string& path, const Caller& by) {
  if (!by.token.empty()) http.set_bearer_token_auth(by.token);
  if (path == "/v1/decide") return http.Post(path, to_json(full_cluster()), "application/json");
  return http.Get(path);
}

httplib::Result request(const std::string& address, const std::string& path, const Caller& by) {
  std::signal(SIGPIPE, SIG_IGN);  // httplib writes to connections that the server has closed
  const HostPort at = parse_address("test", address);
  if (by.ca.empty()) {
    httplib::Client http(at.host, at.port);
    return request(http, path, by);
  }
  const TempFolder temp;
  const std::string ca = write_secret(temp.path() / "ca.pem", by.ca);
  httplib::Client http = by.own.cert.empty()
                             ? httplib::Client("https://" + address)
                             : httplib::Client("https://" + address,
                                               write_secret(temp.path() / "cert.pem", by.own.cert),
                                               write_secret(temp.path() / "key.pem", by.own.key));
  http.set_ca_cert_path(ca.c_str());
  http.enable_server_certificate_verification(true);
  return request(http, path, by);
}

}  // namespace

std::shared_ptr<grpc::Channel> channel_to(const std::string& address, const Caller& by) {
  grpc::ChannelArguments own;
  own.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  if (!by.trusted_as.empty()) own.SetSslTargetNameOverride(by.trusted_as);
  const auto credentials = by.ca.empty() ? grpc::InsecureChannelCredentials()
                                         : grpc::SslCredentials({.pem_root_certs = by.ca,
                                                                 .pem_private_key = by.own.key,
                                                                 .pem_cert_chain = by.own.cert});
  return grpc::CreateCustomChannel(address, credentials, own);
}

grpc::Status decide(const std::string& address, const Caller& by) {
  grpc::ClientContext context;
  prepare(context, by);
  pb::DecideResponse answer;
  return pb::PolicyService::NewStub(channel_to(address, by))
      ->Decide(&context, full_cluster(), &answer);
}

grpc::Status admin_status(const std::string& address, const Caller& by) {
  grpc::ClientContext context;
  prepare(context, by);
  pb::StatusResponse answer;
  return pb::ModelAdmin::NewStub(channel_to(address, by))->Status(&context, {}, &answer);
}

grpc::Status admin_reload(const std::string& address, const Caller& by) {
  grpc::ClientContext context;
  prepare(context, by);
  pb::StatusResponse answer;
  return pb::ModelAdmin::NewStub(channel_to(address, by))->Reload(&context, {}, &answer);
}

int http_status(const std::string& address, const std::string& path, const Caller& by) {
  const httplib::Result answer = request(address, path, by);
  return answer ? answer->status : 0;
}

std::string http_body(const std::string& address, const std::string& path, const Caller& by) {
  const httplib::Result answer = request(address, path, by);
  return answer ? answer->body : "";
}

}  // namespace yard::testing
