// `yardmaster man`: the manual page, in roff with the macros of man(7).
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <map>

#include "env/base/core/version.h"
#include "env/base/text/text.h"
#include "experiments/programs/yardmaster/catalogue.h"

namespace yard {
namespace {

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool first = out.empty() || out.back() == '\n';
    if (first && (c == '.' || c == '\'')) out += "\\&";
    out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

// The date of the build's sources if its tools set it, so that packages are reproducible.
std::string date() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch != nullptr ? std::atoll(epoch) : std::time(nullptr);
  char text[11] = "";
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

std::string option_text(const Description& option) {
  const std::vector<std::string> names = option["names"];
  const std::string preset = option["default"];
  std::string value = option["value"];
  for (size_t i = 0; (i = value.find('|', i)) != value.npos; i += 3) value.replace(i, 1, " | ");
  std::string out = ".TP\n" + bold(join(names));
  if (!value.empty()) out += " " + italic(value);
  if (option["several"].get<bool>()) out += " ...";
  out += "\n" + roff(option["help"].get<std::string>());
  if (option["required"].get<bool>()) out += " (required)";
  if (!value.empty() && !preset.empty()) out += " (default: " + roff(preset) + ")";
  return out + "\n";
}

std::string command_text(const Description& command) {
  const std::string name = command["name"];
  std::string usage = bold("yardmaster " + name) + " [" + italic("OPTION") + "...]";
  std::vector<std::string> groups;  // in order of appearance
  std::map<std::string, std::string> by_group;
  for (const auto& option : command["options"]) {
    const std::string spelling = option["names"][0];
    const bool positional = !spelling.starts_with('-');
    if (positional) usage += " " + italic(spelling);
    const std::string group = positional ? "Arguments" : option["group"].get<std::string>();
    std::string& text = by_group[group];
    if (text.empty()) groups.insert(positional ? groups.begin() : groups.end(), group);
    text += option_text(option);
  }
  std::string out = ".SS yardmaster " + name + "\n" + usage + "\n.PP\n" +
                    roff(command["about"].get<std::string>()) + "\n";
  for (const std::string& group : groups) out += ".PP\n" + italic(group) + "\n" + by_group[group];
  const std::string footer = command["footer"];
  return out + ".PP\n.EX\n" + roff(footer) + "\n.EE\n";
}

}  // namespace

std::string manual_page(std::span<const Command> commands) {
  std::string name = "yardmaster", arguments = " " + italic("COMMAND");
  std::string about = "simulate GPU clusters, and train and serve schedulers for them";
  if (commands.size() == 1) {
    about = commands[0].help;
    name += "-" + std::string(commands[0].name);
    arguments = " " + bold(std::string(commands[0].name));
  }
  std::string title = name;
  for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out = ".TH " + title + " 1 " + date() + " \"Yardmaster " +
                    std::string(release_version()) + "\" \"User Commands\"\n.SH NAME\n" +
                    roff(name) + " \\- " + roff(about) + "\n.SH SYNOPSIS\n" + bold("yardmaster") +
                    arguments + " [" + italic("ARGUMENT") + "...]\n.SH COMMANDS\n";
  for (const Description& command : describe(commands)) out += command_text(command);
  return out +
         ".SH EXIT STATUS\n.TP\n0\nsuccess\n.TP\n1\nthe run failed\n.TP\n2\nthe command line or an "
         "input is wrong\n.TP\n130\ninterrupted\n";
}

}  // namespace yard
