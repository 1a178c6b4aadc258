#include "serving/net/grpc_tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <mutex>

namespace yard {
namespace {

class FollowingCredentials final : public grpc::ServerCredentials {
 public:
  explicit FollowingCredentials(std::shared_ptr<const Certificates> certificates)
      : certificates_(std::move(certificates)) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {}

 private:
  int AddPortToServer(const std::string& address, grpc_server* server) override {
    const auto clients = certificates_->verifies_clients()
                             ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                             : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
    grpc_server_credentials* credentials = grpc_ssl_server_credentials_create_with_options(
        grpc_ssl_server_credentials_create_options_using_config_fetcher(clients, fetch, this));
    const int port = grpc_server_add_http2_port(server, address.c_str(), credentials);
    grpc_server_credentials_release(credentials);
    return port;
  }

  // Called at the start of each handshake.
  static grpc_ssl_certificate_config_reload_status fetch(
      void* self, grpc_ssl_server_certificate_config** config) {
    return static_cast<FollowingCredentials*>(self)->update(config);
  }

  grpc_ssl_certificate_config_reload_status update(grpc_ssl_server_certificate_config** config) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const TlsIdentity> now = certificates_->current();
    if (now == given_) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    const grpc_ssl_pem_key_cert_pair pair = {now->key.c_str(), now->cert.c_str()};
    // gRPC aborts without CAs, even if it asks for no client certificate.
    const std::string& ca = now->ca.empty() ? now->cert : now->ca;
    *config = grpc_ssl_server_certificate_config_create(ca.c_str(), &pair, 1);
    given_ = std::move(now);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  }

  const std::shared_ptr<const Certificates> certificates_;
  std::mutex mutex_;
  std::shared_ptr<const TlsIdentity> given_;
};

}  // namespace

std::shared_ptr<grpc::ServerCredentials> grpc_credentials(
    std::shared_ptr<const Certificates> certificates) {
  return std::make_shared<FollowingCredentials>(std::move(certificates));
}

}  // namespace yard
