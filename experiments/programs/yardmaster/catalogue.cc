#include "experiments/programs/yardmaster/catalogue.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>

#include "env/base/core/error.h"
#include "env/base/os/program.h"
#include "env/base/text/text.h"

namespace yard {
namespace {

namespace fs = std::filesystem;

std::string output_of(const std::string& program, const std::string& arguments) {
  const std::string command =
      quote_for_shell(path_of_yardmaster_program(program).string()) + " " + arguments;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw RunError("cannot start " + program);
  std::string out;
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    out.append(buffer.data(), n);
  }
  if (pclose(pipe) != 0) throw RunError(program + " " + arguments + " failed");
  return out;
}

}  // namespace

std::vector<Description> describe(std::span<const Command> commands) {
  std::map<std::string_view, std::string> outputs;  // by program
  std::vector<Description> out;
  for (const Command& command : commands) {
    if (!fs::exists(path_of_yardmaster_program(command.program))) continue;
    std::string& lines = outputs[command.program];
    if (lines.empty()) lines = output_of(command.program, "--describe");
    for (const std::string_view line : split(lines, '\n')) {
      if (line.empty()) continue;
      Description one = Description::parse(line);
      const std::string name = one["name"];
      if (name.substr(0, name.find(' ')) == command.name) out.push_back(std::move(one));
    }
  }
  return out;
}

std::vector<std::string> listed_names(const std::string& kind) {
  std::vector<std::string> out;
  const auto document = Description::parse(output_of("yardmaster-sim", "list " + kind + " --json"));
  for (const auto& row : document.at(kind)) out.push_back(row.at("name").get<std::string>());
  return out;
}

std::string quote_for_shell(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace yard
