// Options of a command in a YAML file, whose keys are the names of the options without "--".
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace yard {

// Returns the arguments "--key=value" which say the same as the file. An empty value leaves the
// option's default. Throws InputError if the file is no YAML map of plain values or lists, or if a
// key is no option of the command, or is `file_option`, the option that names the file.
std::vector<std::string> arguments_of_file(const CLI::App& command, const std::string& file,
                                           const std::string& file_option);

// Returns the file's arguments and then those given on the command line, which win: options that
// they name, or exclude, are left out of the file's.
std::vector<std::string> merge_file_and_given_arguments(const CLI::App& command,
                                                        const std::vector<std::string>& of_file,
                                                        const std::vector<std::string>& given);

// Returns the value of an option among arguments: "--config FILE" or "--config=FILE"; of several
// the last. Empty: the option is not given.
std::string last_value_of_option(const std::vector<std::string>& arguments,
                                 const std::string& option);

}  // namespace yard
