// The program that simulates: everything of Yardmaster that needs neither LibTorch nor gRPC.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "env/base/error.h"
#include "env/base/program.h"
#include "env/base/text.h"
#include "experiments/programs/sim/command.h"

namespace yard::sim {

std::vector<const Command*>& Command::all() {
  static std::vector<const Command*> commands;
  return commands;
}

Command::Command(const char* name, const char* help, int (*run)(CLI::App&, int, char**))
    : name(name), help(help), run(run) {
  all().push_back(this);
}

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

void set_trace_keys(const std::vector<std::string>& assignments, Settings& settings) {
  constexpr std::string_view kOwner = "trace.";
  for (const std::string& assignment : assignments) {
    std::string_view bare = assignment;
    if (bare.starts_with(kOwner)) bare.remove_prefix(kOwner.size());
    settings.overlay(bare, "--set " + assignment);
  }
}

namespace {

int run(int argc, char** argv) {
  std::vector<const Command*> commands = Command::all();
  std::sort(commands.begin(), commands.end(),
            [](const Command* a, const Command* b) { return std::string_view(a->name) < b->name; });
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command* command : commands) {
    if (name != command->name) continue;
    CLI::App app(command->help, command->name);
    app.option_defaults()->always_capture_default();
    return command->run(app, argc - 1, argv + 1);
  }
  std::vector<std::string> names;
  for (const Command* command : commands) names.emplace_back(command->name);
  if (name == "--help" || name == "-h") {
    std::printf("usage: yardmaster COMMAND [ARGUMENT...], COMMAND one of: %s\n",
                join(names).c_str());
    return 0;
  }
  throw InputError("yardmaster-sim", "a command, one of: " + join(names),
                   "'" + std::string(name) + "'");
}

}  // namespace
}  // namespace yard::sim

int main(int argc, char** argv) { return yard::run_main(argc, argv, yard::sim::run); }
