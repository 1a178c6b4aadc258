#include "experiments/cli/option_file.h"

#include <algorithm>
#include <set>

#include "env/base/config/settings.h"
#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"

namespace yard {
namespace {

std::string name_of(const std::string& argument) { return argument.substr(0, argument.find('=')); }

const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  if (!name.starts_with("--") || name == "--help") return nullptr;
  for (const CLI::Option* option : command.get_options()) {
    if (option->check_lname(name.substr(2))) return option;
  }
  return nullptr;
}

std::vector<std::string> keys_of(const CLI::App& command, const std::string& file_option) {
  std::vector<std::string> out;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (name != "help" && "--" + name != file_option) out.push_back(name);
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> arguments_of_file(const CLI::App& command, const std::string& file,
                                           const std::string& file_option) {
  const std::vector<std::string> keys = keys_of(command, file_option);
  std::vector<std::string> out;
  const Settings read = Settings::from_yaml(file);
  for (const GivenSetting& one : read.entries()) {
    const std::string name = "--" + one.key;
    if (std::ranges::find(keys, one.key) == keys.end()) {
      throw InputError(one.origin,
                       "an option of `yardmaster " + command.get_name() + "` without --",
                       in_quotes(one.key) + did_you_mean(one.key, keys));
    }
    if (one.value.empty()) continue;
    const bool is_flag = option_named(command, name)->get_items_expected_max() == 0;
    if (!is_flag) {
      out.push_back(name + "=" + one.value);
    } else if (one.value == "true") {
      out.push_back(name);
    } else if (one.value != "false") {
      throw InputError(one.origin, "true or false for " + in_quotes(one.key), in_quotes(one.value));
    }
  }
  return out;
}

std::vector<std::string> merge_file_and_given_arguments(const CLI::App& command,
                                                        const std::vector<std::string>& of_file,
                                                        const std::vector<std::string>& given) {
  std::set<const CLI::Option*> overridden;
  for (const std::string& argument : given) {
    const CLI::Option* option = option_named(command, name_of(argument));
    if (option == nullptr) continue;
    overridden.insert(option);
    for (const CLI::Option* other : option->get_excludes()) overridden.insert(other);
  }
  std::vector<std::string> out;
  for (const std::string& argument : of_file) {
    if (!overridden.contains(option_named(command, name_of(argument)))) out.push_back(argument);
  }
  out.insert(out.end(), given.begin(), given.end());
  return out;
}

std::string last_value_of_option(const std::vector<std::string>& arguments,
                                 const std::string& option) {
  std::string out;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with(option + "=")) out = arguments[i].substr(option.size() + 1);
    if (arguments[i] == option && i + 1 < arguments.size()) out = arguments[i + 1];
  }
  return out;
}

}  // namespace yard
