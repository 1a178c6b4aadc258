// The commands of all programs of this build, and the texts generated from their descriptions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace yard {

struct Command {
  std::string_view name;
  const char* program;
  const char* help;
};

using Description = nlohmann::ordered_json;  // a line of print_description(), describe.h

// Returns the descriptions of commands and subcommands which this build has. Throws RunError if a
// program cannot be run.
std::vector<Description> describe(std::span<const Command> commands);

// Returns the names which `yardmaster list KIND` prints. Throws RunError.
std::vector<std::string> listed_names(const std::string& kind);

// Returns the text as one word of a shell.
std::string quote_for_shell(std::string_view text);

// Returns a script which completes command lines. `shell`: bash or zsh.
std::string completion_script(const std::string& shell, std::span<const Command> commands);

// Returns a page in roff, with all commands or one and its subcommands.
std::string manual_page(std::span<const Command> commands);

}  // namespace yard
