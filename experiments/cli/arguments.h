// Parses the command lines of all programs. Errors name the option at fault and say what was
// expected, like every other input error.
//
//   CLI::App app("serve a policy", "serve");
//   app.add_option("--policy", policy);
//   if (!yard::parse_arguments(app, argc, argv)) return 0;
#pragma once

#include <CLI/CLI.hpp>

namespace yard {

// Parses argv into the options of `app`, whose name is the command; argv[0] is the command. Returns
// false if only help was requested, after printing it. Throws InputError.
bool parse_arguments(CLI::App& app, int argc, char** argv);

}  // namespace yard
