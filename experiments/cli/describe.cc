#include "experiments/cli/describe.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "env/base/text/text.h"

namespace yard {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kWidth = 80, kColumn = 28;  // of lines, and where descriptions start

// CLI11 prints the type and the descriptions of validators: "TEXT:a, b", "INT:INT in [1 - 9]".
std::string value_of(const CLI::Option& option) {
  if (option.get_type_size() == 0) return "";
  std::string text = option.get_type_name();
  text.erase(0, text.find(':') + 1);
  return CLI::detail::find_and_replace(text, ", ", "|");
}

std::string wrapped(const std::string& text) {
  std::string out;
  size_t length = 0;
  for (const std::string_view word : split(text, ' ')) {
    if (length > 0 && length + 1 + word.size() > kWidth - kColumn) {
      out += "\n";
      length = 0;
    } else if (length > 0) {
      out += ' ';
      ++length;
    }
    out += word;
    length += word.size();
  }
  return out;
}

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kColumn); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    return CLI::detail::find_and_replace(text, "\n\n\n", "\n\n");
  }
  std::string make_subcommand(const CLI::App* app) const override {
    std::string name = "  " + app->get_name();
    name.resize(kColumn, ' ');
    return name + wrapped(app->get_description()) + "\n";
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string type = option->get_type_name();
    const size_t at = text.find(type);
    return at == text.npos ? text : text.replace(at, type.size(), value_of(*option));
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(option->get_description());
  }
};

Json json_of(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  if (names.empty()) names.push_back(option.get_name());
  return {{"names", names},
          {"value", value_of(option)},
          {"several", option.get_items_expected_max() > 1},
          {"required", option.get_required()},
          {"default", option.get_default_str()},
          {"group", option.get_group()},
          {"help", option.get_description()}};
}

}  // namespace

void set_examples(CLI::App& app, const std::vector<std::string>& lines) {
  app.footer("Example:\n  " + join(lines, "\n  "));
}

void prepare_help(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_default_str() == "[]") option->default_str("");
  }
  app.formatter(std::make_shared<HelpFormatter>());
  app.option_defaults()->group("Help");
  app.set_help_flag("-h,--help", "print this help");
  for (CLI::App* part : app.get_subcommands([](CLI::App*) { return true; })) prepare_help(*part);
}

void print_description(const CLI::App& app, const std::string& name) {
  Json options = Json::array();
  for (const CLI::Option* option : app.get_options()) options.push_back(json_of(*option));
  const Json line = {{"name", name},
                     {"about", app.get_description()},
                     {"options", options},
                     {"footer", app.get_footer()}};
  std::puts(line.dump().c_str());
  for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; })) {
    print_description(*part, name + " " + part->get_name());
  }
}

}  // namespace yard
