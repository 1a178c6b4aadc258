// Parses the command lines of all programs. Errors name the option at fault and say what was
// expected.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "experiments/cli/describe.h"

namespace yard {

// Types of values which shell completion knows, for type_name(). Values of other types are
// completed as files.
inline constexpr const char *kPolicyType = "POLICY", *kPoliciesType = "POLICY,...",
                            *kClusterType = "CLUSTER", *kRulesType = "RULES",
                            *kFormatType = "FORMAT", *kTraceType = "TRACE";

// Parses argv into the options of `app`, whose name is the command; argv[0] is the command. Returns
// false if only help or, by --describe alone, a description was requested, after printing it.
// Throws InputError.
bool parse_arguments(CLI::App& app, int argc, char** argv);

// Accepts one of these words.
CLI::Validator one_of(std::vector<std::string> words);

}  // namespace yard
