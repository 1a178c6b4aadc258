// The options of `serve`, on the command line and in a file.
#pragma once

#include <string>
#include <vector>

#include "experiments/programs/serve/server_log.h"
#include "serving/net/server.h"

namespace yard {

struct ServeOptions {
  ServerOptions server;
  std::string config;  // path of the YAML file of options; empty: none is given
  std::string checkpoint;
  std::vector<std::string> models;  // further models, as NAME=POLICY
  LogFormat log_format = LogFormat::kText;
  bool json = false;  // print the addresses as JSON
};

// Parses the arguments of `serve`, the first of which is the program's name, and the options in the
// file given by --config. Returns false if only help was wanted, after printing it. Throws
// InputError.
bool parse_serve_options(const std::vector<std::string>& arguments, ServeOptions& out);

}  // namespace yard
