#include "experiments/programs/serve/credential_options.h"

#include <map>

namespace yard {

void add_credential_options(CLI::App& app, CredentialOptions& options) {
  app.option_defaults()->group("Security");
  app.add_option("--tls-cert", options.tls.cert,
                 "PEM file of the server's certificate and those between it and the root: TLS on "
                 "all ports except Unix sockets");
  app.add_option("--tls-key", options.tls.key, "PEM file of the private key of --tls-cert");
  app.add_option("--tls-client-ca", options.tls.ca,
                 "PEM file of CAs: callers need a certificate of one of them");
  static const std::map<std::string, ProbesTls> kProbesTls = {
      {"same", ProbesTls::kSame}, {"server", ProbesTls::kServer}, {"off", ProbesTls::kOff}};
  app.add_option_function<std::string>(
         "--probes-tls",
         [&options](const std::string& word) { options.probes_tls = kProbesTls.at(word); },
         "TLS on --probes: 'same' as on the other ports, 'server' without client certificates, "
         "or 'off', on any address")
      ->default_str("same")
      ->check(CLI::IsMember(std::vector<std::string>{"same", "server", "off"}));
  app.add_option("--token-file", options.token_file,
                 "file of tokens, one per line: decisions need one of them");
  app.add_option("--admin-token-file", options.admin_token_file,
                 "file of tokens, of which each call to --admin needs one");
  app.add_option("--admin-read-token-file", options.admin_read_token_file,
                 "file of tokens that suffice for calls to --admin which change nothing");
  app.add_option("--metrics-token-file", options.metrics_token_file,
                 "file of tokens, of which /metrics needs one; without it, /metrics needs none");
  app.add_flag("--insecure", options.insecure,
               "allow plain text also on addresses that other machines reach");
}

}  // namespace yard
