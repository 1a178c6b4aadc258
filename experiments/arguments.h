// Command lines of all programs: what cannot be read is said as every other error is, by the name
// of the option at fault and with what to do.
//
//   CLI::App app("serve a policy", "serve");
//   app.add_option("--policy", policy);
//   if (!yard::parse_arguments(app, argc, argv)) return 0;
#pragma once

#include <CLI/CLI.hpp>

namespace yard {

// Parses into what was added to `app`, whose name is the command's; argv[0] is the command. Returns
// false when only the help was asked for, which is then printed. Throws InputError.
bool parse_arguments(CLI::App& app, int argc, char** argv);

}  // namespace yard
