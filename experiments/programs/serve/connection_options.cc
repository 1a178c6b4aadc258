#include "experiments/programs/serve/connection_options.h"

namespace yard {

void add_connection_options(CLI::App& app, ConnectionOptions& options) {
  app.option_defaults()->group("Connection");
  app.add_option("--server", options.servers,
                 "servers, HOST:PORT or unix:PATH, separated by commas")
      ->delimiter(',')
      ->type_name("HOST:PORT,...");
  app.add_flag("--tls", options.tls, "use TLS, with the system's CAs unless --tls-ca is given");
  app.add_option("--tls-ca", options.files.ca,
                 "PEM file of the CAs of the servers' certificates; connections then use TLS");
  app.add_option("--tls-cert", options.files.cert,
                 "PEM file of the client's own certificate, for mutual TLS");
  app.add_option("--tls-key", options.files.key, "PEM file of the private key of --tls-cert");
  app.add_option("--tls-server-name", options.tls_server_name,
                 "name in the servers' certificates, if it is not their host");
  app.add_option("--token-file", options.token_file, "file with the token that is sent to servers");
  app.add_flag("--insecure", options.insecure,
               "send the token to other machines without TLS as well");
}

}  // namespace yard
