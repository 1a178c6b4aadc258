// Parses the command lines of all programs. Error messages name the option at fault and say what
// was expected.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "experiments/cli/describe.h"

namespace yard {

// Types of option values that shell completion knows. Values of unknown types complete as files.
inline constexpr const char *kPolicyType = "POLICY", *kPoliciesType = "POLICY,...",
                            *kClusterType = "CLUSTER", *kRulesType = "RULES",
                            *kFormatType = "FORMAT", *kTraceType = "TRACE";

// Parses argv into the options of `app`, named after the command in argv[0]. If --help or
// --describe is given, prints the help or the description of the options and returns false. Throws
// InputError for invalid arguments.
bool parse_arguments(CLI::App& app, int argc, char** argv);

// Returns a validator which accepts an option's value if it is one of `words`.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace yard
