// yardmaster COMMAND: executes the program which implements the command, so that each program links
// only what it needs. All programs are in one folder. kCommands lists every command.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/core/version.h"
#include "env/base/text/nearest_name.h"

namespace {

struct Command {
  std::string_view name;
  const char* program;  // in the folder of this one
  const char* help;
};

constexpr Command kCommands[] = {
    {"simulate", "yardmaster-sim", "replay a workload under one or more policies"},
    {"evaluate", "yardmaster-sim", "compare policies with heuristics, with confidence intervals"},
    {"tune", "yardmaster-sim", "search the numeric settings of policies"},
    {"evolve", "yardmaster-sim", "learn the numeric settings of a policy from many short episodes"},
    {"explain", "yardmaster-sim", "express the rule of a policy as a formula of few named terms"},
    {"picture", "yardmaster-sim", "draw a recorded decision of a trained policy"},
    {"pack", "yardmaster-sim", "make a checkpoint from a policy file"},
    {"list", "yardmaster-sim",
     "list what is registered: policies, agents, traces, clusters, rules"},
    {"whatif", "yardmaster-sim", "replay a site's own log under other policies"},
    {"gap", "yardmaster-sim",
     "measure how far policies are from the optimal schedules of tiny instances"},
    {"predict", "yardmaster-sim", "measure the accuracy of predicted remaining times"},
    {"trace", "yardmaster-sim", "describe, convert and generate workloads"},
    {"cluster", "yardmaster-sim", "describe clusters"},
    {"report", "yardmaster-sim", "write a static report of one run or a comparison"},
    {"train", "yardmaster-train", "train an agent and write a run folder"},
    {"sweep", "yardmaster-train", "search training settings at random, with successive halving"},
    {"verify", "yardmaster-train", "compare native inference with LibTorch and ONNX Runtime"},
    {"serve", "yardmaster-serve", "serve a policy to a cluster manager"},
    {"decide", "yardmaster-serve", "ask a running server for a decision"},
    {"log", "yardmaster-serve", "inspect a server's decision log"},
    {"bench", "yardmaster-bench", "run benchmarks, with ratios within one run"},
};

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;

std::filesystem::path program_folder() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(".") : self.parent_path();
}

void print_help(std::FILE* out) {
  std::fputs(
      "yardmaster simulates GPU clusters, and trains and serves schedulers for them.\n\n"
      "usage: yardmaster COMMAND [ARGUMENT...]\n       yardmaster COMMAND --help\n\ncommands:\n",
      out);
  const auto folder = program_folder();
  for (const Command& command : kCommands) {
    const bool built = std::filesystem::exists(folder / command.program);
    std::fprintf(out, "  %-10s %s%s\n", command.name.data(), command.help,
                 built ? "" : " (not in this build)");
  }
  std::fputs("  version    print the version and how this program was built (--json)\n", out);
}

int print_version(bool json) {
  const std::string release(yard::release());
  const std::string commit(yard::commit());
  std::printf(json ? "{\"yardmaster\":\"%s\",\"commit\":\"%s\"" : "yardmaster %s (commit %s)\n",
              release.c_str(), commit.c_str());
  for (const yard::BuildFact& fact : yard::build_facts()) {
    std::printf(json ? ",\"%s\":\"%s\"" : "  %-14s %s\n", fact.name.data(), fact.value.data());
  }
  if (json) std::puts("}");
  return std::fflush(stdout) == 0 ? kDone : kFailed;
}

int run_version(int argc, char** argv) {
  bool json = false;
  for (int i = 2; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      json = true;
    } else if (argument == "--help" || argument == "-h") {
      std::puts("usage: yardmaster version [--json]");
      return std::fflush(stdout) == 0 ? kDone : kFailed;
    } else {
      std::fprintf(stderr, "yardmaster: version: expected --json, got '%s'\n", argv[i]);
      return kBadInput;
    }
  }
  return print_version(json);
}

// Replaces this process by the command's program, with argv as the user typed it. Returns an exit
// code only if the program cannot be started.
int run_program(const Command& command, char** argv) {
  const std::string program = program_folder() / command.program;
  execv(program.c_str(), argv);
  std::fprintf(stderr, "yardmaster: %s: cannot start %s: %s\n", argv[1], program.c_str(),
               std::strerror(errno));
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    print_help(stderr);
    return kBadInput;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help(stdout);
    return std::fflush(stdout) == 0 ? kDone : kFailed;
  }
  // Usually an unset shell variable. Treating it as "not given" would silently lose output.
  for (int i = 2; i < argc; ++i) {
    if (argv[i][0] != '\0') continue;
    std::fprintf(stderr, "yardmaster: %s: expected a value after '%s', got an empty argument\n",
                 argv[1], argv[i - 1]);
    return kBadInput;
  }
  if (name == "version" || name == "--version") return run_version(argc, argv);
  for (const Command& command : kCommands) {
    if (command.name == name) return run_program(command, argv);
  }
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  std::fprintf(stderr, "yardmaster: expected a command (see yardmaster --help), got '%s'%s\n",
               argv[1], yard::did_you_mean(name, names).c_str());
  return kBadInput;
}
