#include "experiments/cli/arguments.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

// The command that was called, possibly a subcommand of `app`: "trace generate".
struct Called {
  const CLI::App* command;
  std::string name;
};
Called called_of(const CLI::App& app) {
  Called out{&app, app.get_name()};
  while (!out.command->get_subcommands().empty()) {
    out.command = out.command->get_subcommands().front();
    out.name += " " + out.command->get_name();
  }
  return out;
}

// Returns the option of that name of the command or its subcommands; null if there is none.
const CLI::Option* option_of(const CLI::App& command, std::string_view name) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_name() == name) return option;
  }
  for (const CLI::App* part : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (const CLI::Option* option = option_of(*part, name)) return option;
  }
  return nullptr;
}

// Returns the text between `before`, at its start, and `after`; empty if either is missing.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  if (!text.starts_with(before)) return "";
  text.remove_prefix(before.size());
  const size_t end = text.find(after);
  return end == text.npos ? "" : text.substr(0, end);
}

std::string kind_of_value(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "no value";
  const std::string type = option.get_type_name();
  if (type.starts_with("INT")) return "a whole number";
  if (type.starts_with("UINT")) return "a whole number of at least 0";
  if (type.starts_with("FLOAT")) return "a number";
  return "a value";
}

// Describes the first argument which the command does not accept; empty if there is none.
std::string text_of_unknown(const Called& called) {
  const std::vector<std::string> all = called.command->remaining(true);
  if (all.empty()) return "";
  std::vector<std::string> parts, options;
  for (const CLI::App* part : called.command->get_subcommands([](auto*) { return true; })) {
    parts.push_back(part->get_name());
  }
  if (!parts.empty() && !all.front().starts_with('-')) {
    return unknown_name(called.name, parts, all.front()).what();
  }
  const auto option =
      std::ranges::find_if(all, [](const std::string& one) { return one.starts_with('-'); });
  if (option == all.end()) {
    return InputError(called.name, "no further argument", "'" + all.front() + "'").what();
  }
  const std::string typed = option->substr(0, option->find('='));
  for (const CLI::Option* known : called.command->get_options()) {
    for (const std::string& name : known->get_lnames()) options.push_back("--" + name);
  }
  return InputError(called.name, "an option of this command",
                    "'" + typed + "'" + did_you_mean(typed, options))
      .what();
}

// CLI11 gives the option at fault only in the error's text.
std::string text_of(const CLI::ParseError& error, const Called& called) {
  const std::string_view what = error.what();
  const std::string& name = error.get_name();
  // A mistyped option name may be the reason why a required option is missing.
  const std::string unknown = text_of_unknown(called);
  if (!unknown.empty()) return unknown;
  if (name == "ArgumentMismatch") {
    const std::string option(between(what, "", ": "));
    if (what.find(" missing") != what.npos) {
      return InputError(called.name, "a value after " + option, "none").what();
    }
    if (what.find("At Most") != what.npos) {
      return InputError(called.name + ": " + option, "one value", "several").what();
    }
  }
  if (name == "ConversionError") {
    constexpr std::string_view kBefore = "Could not convert: ", kAfter = " = ";
    const std::string_view option = between(what, kBefore, kAfter);
    if (const CLI::Option* known = option_of(*called.command, option)) {
      const size_t typed = kBefore.size() + option.size() + kAfter.size();
      return InputError(called.name + ": " + std::string(option), kind_of_value(*known),
                        "'" + std::string(what.substr(typed)) + "'")
          .what();
    }
  }
  if (name == "ExcludesError") {
    const std::string option(between(what, "", " excludes "));
    const std::string other(what.substr(option.size() + std::string_view(" excludes ").size()));
    return InputError(called.name, option + " or " + other, "both").what();
  }
  return called.name + ": " + std::string(what);
}

// Throws InputError for an option followed by another option instead of its value: "--trace
// --policy". CLI11 would take the second name as the value.
void refuse_lost_values(const CLI::App& app, int argc, char** argv) {
  // Arguments without a dash are values, even if they equal a name: "log replay log".
  const auto option_at = [&](int i) {
    return argv[i][0] == '-' ? option_of(app, argv[i]) : nullptr;
  };
  for (int i = 1; i + 1 < argc; ++i) {
    const CLI::Option* option = option_at(i);
    if (option == nullptr || option->get_items_expected_min() == 0) continue;
    if (option_at(i + 1) == nullptr) continue;
    throw InputError(app.get_name(), std::string("a value after ") + argv[i],
                     std::string("the option ") + argv[i + 1] + " (see yardmaster " +
                         app.get_name() + " --help)");
  }
}

}  // namespace

bool parse_arguments(CLI::App& app, int argc, char** argv) {
  prepare_help(app);
  if (argc == 2 && std::string_view(argv[1]) == "--describe") {
    print_description(app, app.get_name());
    return false;
  }
  try {
    refuse_lost_values(app, argc, argv);
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help("yardmaster").c_str(), stdout);
    return false;
  } catch (const CLI::ParseError& error) {
    const Called called = called_of(app);
    throw InputError(text_of(error, called) + " (see yardmaster " + called.name + " --help)");
  }
  return true;
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string described = join(words);
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::ranges::find(words, text) != words.end()) return {};
    return "expected one of: " + join(words) + ", got '" + text + "'" + did_you_mean(text, words);
  };
  return {check, described};
}

}  // namespace yard
