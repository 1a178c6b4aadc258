// The program that serves and asks: what needs gRPC.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "env/base/error.h"
#include "env/base/program.h"
#include "experiments/programs/serve/commands.h"

namespace yard {

bool parse_arguments(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return false;
  } catch (const CLI::ParseError& error) {
    throw InputError(app.get_name() + ": " + error.what() + " (see yardmaster " + app.get_name() +
                     " --help)");
  }
  return true;
}

namespace {

int run(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "serve") return run_serve(argc - 1, argv + 1);
  if (name == "decide") return run_decide(argc - 1, argv + 1);
  if (name == "log") return run_log(argc - 1, argv + 1);
  if (name == "bench-served") return run_bench_served(argc - 1, argv + 1);
  throw InputError("yardmaster-serve", "a command: serve, decide, log or bench-served",
                   "'" + std::string(name) + "'");
}

}  // namespace
}  // namespace yard

int main(int argc, char** argv) {
  // What gRPC would print about a port in use is said once, by us. Whoever debugs it sets the
  // variable.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  return yard::run_main(argc, argv, yard::run);
}
