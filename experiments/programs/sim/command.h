// The commands of this program: one file each, which enters itself.
//
//   const Command kList{"list", "what is registered", run_list};
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace yard::sim {

struct Command {
  Command(const char* name, const char* help, int (*run)(CLI::App& app, int argc, char** argv));

  const char* name;
  const char* help;
  int (*run)(CLI::App& app, int argc, char** argv);  // argv[0] is the command

  static std::vector<const Command*>& all();
};

// Parses the command's arguments into what was added to `app`. Returns false when only the help was
// asked for, which is then printed. Throws InputError for anything that the command does not know.
bool parse_arguments(CLI::App& app, int argc, char** argv);

}  // namespace yard::sim
