#include "serving/net/credentials.h"

#include <algorithm>

#include "env/base/core/error.h"
#include "serving/net/listener.h"

namespace yard {
namespace {

std::shared_ptr<Certificates> open_certificates(const CredentialOptions& given) {
  const TlsFiles& tls = given.tls;
  if (tls.cert.empty() != tls.key.empty()) {
    throw InputError(tls.cert.empty() ? "--tls-key" : "--tls-cert", "both --tls-cert and --tls-key",
                     "one of them");
  }
  if (tls.cert.empty() && !tls.ca.empty()) {
    throw InputError("--tls-client-ca", "--tls-cert and --tls-key as well", "neither");
  }
  if (tls.cert.empty() && given.probes_tls == ProbesTls::kServer) {
    throw InputError("--probes-tls server", "--tls-cert and --tls-key as well", "neither");
  }
  return tls.cert.empty() ? nullptr : std::make_shared<Certificates>(tls);
}

std::unique_ptr<Tokens> open_tokens(const char* option, const std::string& path) {
  return path.empty() ? nullptr : std::make_unique<Tokens>(option, path);
}

Access access_by(const Tokens* tokens, std::string_view authorization) {
  return tokens == nullptr || tokens->accept(authorization) ? Access::kAllowed
                                                            : Access::kUnauthenticated;
}

}  // namespace

Credentials::Credentials(const CredentialOptions& options)
    : options_(options),
      certificates_(open_certificates(options)),
      decide_(open_tokens("--token-file", options.token_file)),
      admin_(open_tokens("--admin-token-file", options.admin_token_file)),
      admin_read_(open_tokens("--admin-read-token-file", options.admin_read_token_file)),
      metrics_(open_tokens("--metrics-token-file", options.metrics_token_file)) {}

void Credentials::require_tls_unless_local(const std::string& option,
                                           const std::string& address) const {
  if (certificates_ != nullptr || options_.insecure || is_local(option, address)) return;
  throw InputError(option, "a loopback address, a Unix socket, or TLS by --tls-cert and --tls-key",
                   "'" + address + "' without TLS (--insecure allows it)");
}

void Credentials::require_protected_probes_address(const std::string& address) const {
  if (options_.probes_tls != ProbesTls::kOff) return require_tls_unless_local("--probes", address);
  if (metrics_ == nullptr || options_.insecure || is_local("--probes", address)) return;
  throw InputError("--probes", "TLS for the tokens of --metrics-token-file",
                   "'" + address + "' with --probes-tls off (--insecure allows it)");
}

std::shared_ptr<const Certificates> Credentials::certificates_for(
    const std::string& address) const {
  return is_unix_socket(address) ? nullptr : certificates_;
}

std::shared_ptr<const Certificates> Credentials::certificates_for_probes(
    const std::string& address) const {
  return options_.probes_tls == ProbesTls::kOff ? nullptr : certificates_for(address);
}

bool Credentials::verifies_probe_clients() const {
  return certificates_ != nullptr && certificates_->verifies_clients() &&
         options_.probes_tls == ProbesTls::kSame;
}

Access Credentials::decide(std::string_view authorization) const {
  return access_by(decide_.get(), authorization);
}

Access Credentials::allow_metrics_read(std::string_view authorization) const {
  return access_by(metrics_.get(), authorization);
}

Access Credentials::allow_admin_read(std::string_view authorization) const {
  if (admin_ == nullptr) return access_by(admin_read_.get(), authorization);
  const bool allowed = admin_->accept(authorization) ||
                       (admin_read_ != nullptr && admin_read_->accept(authorization));
  return allowed ? Access::kAllowed : Access::kUnauthenticated;
}

Access Credentials::allow_admin_write(std::string_view authorization) const {
  if (admin_read_ == nullptr) return access_by(admin_.get(), authorization);
  if (admin_ != nullptr && admin_->accept(authorization)) return Access::kAllowed;
  return admin_read_->accept(authorization) ? Access::kForbidden : Access::kUnauthenticated;
}

std::vector<Tokens*> Credentials::all_tokens() const {
  std::vector<Tokens*> out = {decide_.get(), admin_.get(), admin_read_.get(), metrics_.get()};
  std::erase(out, nullptr);
  return out;
}

void Credentials::reload_if_changed(bool at_once) {
  const std::lock_guard lock(reloading_);
  if (certificates_ != nullptr) certificates_->reload_if_changed(at_once);
  for (Tokens* tokens : all_tokens()) tokens->reload_if_changed(at_once);
}

Credentials::Status Credentials::status() const {
  Status out;
  if (certificates_ != nullptr) {
    out.certificate_expires_s = certificates_->current()->expires_s;
    out.certificates = certificates_->counts();
    out.trouble = certificates_->reload_error();
  }
  for (const Tokens* tokens : all_tokens()) {
    const ReloadCounts counts = tokens->counts();
    out.tokens.loaded += counts.loaded;
    out.tokens.refused += counts.refused;
    const std::string trouble = tokens->reload_error();
    if (!trouble.empty()) out.trouble += (out.trouble.empty() ? "" : "; ") + trouble;
  }
  return out;
}

}  // namespace yard
