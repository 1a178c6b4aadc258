// Certificates that a server's ports show, and certificates and tokens that they ask callers for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "serving/net/certificates.h"
#include "serving/net/tokens.h"

namespace yard {

// TLS on the port for probes: as on the other ports, without client certificates, or no TLS.
enum class ProbesTls { kSame, kServer, kOff };

struct CredentialOptions {
  TlsFiles tls = {};  // empty: no TLS; ports on Unix sockets never use TLS
  ProbesTls probes_tls = ProbesTls::kSame;
  // Files of tokens by what the tokens allow; empty: callers need no token.
  std::string token_file = {};             // tokens for decisions
  std::string admin_token_file = {};       // tokens for all calls of the admin service
  std::string admin_read_token_file = {};  // tokens for admin calls that change nothing
  std::string metrics_token_file = {};
  bool insecure = false;  // allows plain text on addresses which other machines can reach
};

enum class Access { kAllowed, kUnauthenticated, kForbidden };

class Credentials {
 public:
  // Throws InputError if a file cannot be used or the options contradict each other.
  explicit Credentials(const CredentialOptions& options);

  // Throws InputError if callers on other machines could reach a port in plain text without
  // `insecure`.
  void require_tls_unless_local(const std::string& option, const std::string& address) const;
  void require_protected_probes_address(const std::string& address) const;

  // Null: no TLS.
  std::shared_ptr<const Certificates> certificates_for(const std::string& address) const;
  std::shared_ptr<const Certificates> certificates_for_probes(const std::string& address) const;
  bool verifies_probe_clients() const;

  // `authorization` is the value of the Authorization header. All functions below are thread-safe.
  Access decide(std::string_view authorization) const;
  Access allow_metrics_read(std::string_view authorization) const;
  Access allow_admin_read(std::string_view authorization) const;
  Access allow_admin_write(std::string_view authorization) const;

  // Reads changed files again. `at_once`: do not wait until a changed file has settled.
  void reload_if_changed(bool at_once);

  struct Status {
    int64_t certificate_expires_s = 0;  // Unix time of the certificate's end; 0: no TLS
    ReloadCounts certificates, tokens;
    std::string trouble;  // why files on disk are not used; empty: they are used
  };
  Status status() const;

 private:
  std::vector<Tokens*> all_tokens() const;

  std::mutex reloading_;

  const CredentialOptions options_;
  const std::shared_ptr<Certificates> certificates_;
  const std::unique_ptr<Tokens> decide_, admin_, admin_read_, metrics_;
};

}  // namespace yard
