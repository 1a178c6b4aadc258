#include "serving/net/connections.h"

#include <grpcpp/security/credentials.h>

#include "env/base/core/error.h"
#include "serving/net/listener.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;

const TlsFiles kClientFiles = {"--tls-cert", "--tls-key", "--tls-ca"};
constexpr std::chrono::seconds kLook{1};      // between looks at the file of the token
constexpr unsigned kCertificateSeconds = 10;  // between gRPC's looks at files

bool uses_tls(const ConnectionOptions& options) {
  return options.tls || !options.files.ca.empty() || !options.files.cert.empty();
}

// gRPC follows the files; if they are damaged later, new connections fail until they are whole.
std::shared_ptr<grpc::ChannelCredentials> tls_credentials(const TlsFiles& files) {
  if (files.cert.empty() != files.key.empty()) {
    throw InputError(files.cert.empty() ? "--tls-key" : "--tls-cert",
                     "both --tls-cert and --tls-key", "one of them");
  }
  if (!files.cert.empty()) read_identity(kClientFiles, files);
  if (!files.ca.empty()) read_ca("--tls-ca", files.ca);
  grpc::experimental::TlsChannelCredentialsOptions out;
  if (!files.cert.empty() || !files.ca.empty()) {
    out.set_certificate_provider(
        std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
            files.key, files.cert, files.ca, kCertificateSeconds));
  }
  if (!files.ca.empty()) out.watch_root_certs();
  if (!files.cert.empty()) out.watch_identity_key_cert_pairs();
  return grpc::experimental::TlsCredentials(out);
}

}  // namespace

Connections::Connections(const ConnectionOptions& options) : options_(options) {
  if (options.servers.empty()) throw InputError("--server", "HOST:PORT", "none");
  if (!options.token_file.empty()) token_ = read_tokens("--token-file", options.token_file).front();
  next_look_ = Clock::now() + kLook;
  const bool tls = uses_tls(options);
  const auto credentials = tls ? tls_credentials(options.files) : nullptr;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  // Reconnect soon after a server restart.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (tls && !options.tls_server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls_server_name);
  }
  for (const std::string& server : options.servers) {
    const bool local = is_local("--server", server);
    if (!tls && !local && !token_.empty() && !options.insecure) {
      throw InputError("--server", "TLS (--tls or --tls-ca) to send a token to another machine",
                       "'" + server + "' without TLS (--insecure allows it)");
    }
    if (is_unix_socket(server)) {
      channels_.push_back(
          grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments));
      continue;
    }
    const HostPort at = parse_address("--server", server);
    channels_.push_back(grpc::CreateCustomChannel(
        at.host + ":" + std::to_string(at.port),
        tls ? credentials : grpc::InsecureChannelCredentials(), arguments));
  }
}

std::string Connections::token() {
  const std::lock_guard lock(mutex_);
  if (!options_.token_file.empty() && Clock::now() >= next_look_) {
    next_look_ = Clock::now() + kLook;
    try {
      token_ = read_tokens("--token-file", options_.token_file).front();
    } catch (const InputError&) {
      // The token in memory may still be valid.
    }
  }
  return token_;
}

void Connections::add_token(grpc::ClientContext& context) {
  const std::string sent = token();
  if (!sent.empty()) context.AddMetadata("authorization", "Bearer " + sent);
}

}  // namespace yard
