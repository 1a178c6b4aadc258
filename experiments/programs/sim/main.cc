// yardmaster-sim: all commands of Yardmaster which need neither LibTorch nor gRPC.
#include <algorithm>
#include <cstdio>

#include "env/base/os/program.h"
#include "env/base/text/nearest_name.h"
#include "experiments/cli/command.h"

namespace yard::sim {

namespace {

int run(int argc, char** argv) {
  std::vector<const Command*> commands = Command::all();
  std::sort(commands.begin(), commands.end(),
            [](const Command* a, const Command* b) { return std::string_view(a->name) < b->name; });
  const std::string_view name = argc > 1 ? argv[1] : "";
  for (const Command* command : commands) {
    if (name == command->name) return run_command(*command, argc - 1, argv + 1);
    if (name == "--describe") run_command(*command, argc, argv);
  }
  if (name == "--describe") return 0;
  std::vector<std::string> names;
  for (const Command* command : commands) names.emplace_back(command->name);
  if (name == "--help" || name == "-h") {
    std::printf("usage: yardmaster COMMAND [ARGUMENT...], COMMAND one of: %s\n",
                join(names).c_str());
    return 0;
  }
  throw unknown_name("yardmaster-sim: command", names, name);
}

}  // namespace
}  // namespace yard::sim

int main(int argc, char** argv) { return yard::run_main(argc, argv, yard::sim::run); }
