#include "experiments/cli/command.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "env/base/core/error.h"

namespace yard::sim {

std::vector<const Command*>& Command::all() {
  static std::vector<const Command*> commands;
  return commands;
}

Command::Command(const char* name, const char* help, int (*run)(CLI::App&, int, char**))
    : name(name), help(help), run(run) {
  all().push_back(this);
}

int run_command(const Command& command, int argc, char** argv) {
  CLI::App app(command.help, command.name);
  app.option_defaults()->always_capture_default();
  return command.run(app, argc, argv);
}

namespace {

namespace fs = std::filesystem;

bool is_output(const CLI::Option& option) {
  const std::string name = option.get_name();
  return name == "--out" || name == "--report" || name == "--timeline" || name.ends_with("-out");
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  if (fs::equivalent(a, b, none)) return true;
  return fs::weakly_canonical(fs::absolute(a, none), none) ==
         fs::weakly_canonical(fs::absolute(b, none), none);
}

// Throws InputError if an output would overwrite an input of the command or another output.
void check_outputs(const CLI::App& app) {
  std::vector<const CLI::Option*> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && option->get_type_size() > 0) given.push_back(option);
  }
  for (const CLI::Option* output : given) {
    if (!is_output(*output)) continue;
    const std::string& path = output->results().back();
    if (path == "-") {
      throw InputError(output->get_name(), "a file (--json prints to standard output)", "'-'");
    }
    for (const CLI::Option* other : given) {
      if (other == output) continue;
      for (const std::string& value : other->results()) {
        for (const std::string_view part : split(value, ',')) {
          const std::string file(trim(part));
          const bool is_file = is_output(*other) || fs::exists(file);
          if (file.empty() || !is_file || !same_file(path, file)) continue;
          throw InputError(output->get_name(), "a file other than that of " + other->get_name(),
                           path);
        }
      }
    }
  }
  for (const CLI::App* command : app.get_subcommands()) check_outputs(*command);
}

}  // namespace

bool parse_arguments(CLI::App& app, int argc, char** argv) {
  if (!yard::parse_arguments(app, argc, argv)) return false;
  check_outputs(app);
  return true;
}

void set_trace_columns(const std::string& columns, Settings& settings) {
  if (!columns.empty()) settings.set("columns", columns, "--columns");
}

void set_trace_keys(const std::vector<std::string>& assignments, Settings& settings) {
  constexpr std::string_view kOwner = "trace.";
  for (const std::string& assignment : assignments) {
    std::string_view bare = assignment;
    if (bare.starts_with(kOwner)) bare.remove_prefix(kOwner.size());
    settings.overlay(bare, "--set " + assignment);
  }
}

}  // namespace yard::sim
