// yardmaster COMMAND: executes the program which implements the command, so that each program links
// only what it needs. The programs are in the folder of this one, or in ../libexec/yardmaster if
// installed. kCommands lists every command. This program itself has the commands which describe the
// others.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "env/base/core/version.h"
#include "env/base/os/program.h"
#include "env/base/text/nearest_name.h"
#include "experiments/cli/arguments.h"
#include "experiments/programs/yardmaster/catalogue.h"

namespace yard {
namespace {

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
    {"status", "yardmaster-serve", "print the state of running servers"},
    {"reload", "yardmaster-serve", "have running servers check their files now"},
    {"models", "yardmaster-serve", "try, promote and switch off models of running servers"},
    {"drift", "yardmaster-serve", "check whether the served policy still is the best one"},
    {"why", "yardmaster-serve", "ask a running server why it decided so and why jobs wait"},
    {"log", "yardmaster-serve", "inspect a server's decision log"},
    {"slurm", "yardmaster-serve", "let a policy server decide when jobs of a live Slurm start"},
    {"bench", "yardmaster-bench", "run benchmarks, with ratios within one run"},
    {"completion", "yardmaster", "print a script which completes command lines in bash or zsh"},
    {"man", "yardmaster", "print the manual page"},
    {"version", "yardmaster", "print the version and how this program was built"},
};

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kBadInput = 2;

std::vector<std::string> command_names() {
  std::vector<std::string> out;
  for (const Command& command : kCommands) out.emplace_back(command.name);
  return out;
}

void print_help(std::FILE* out) {
  std::fputs(
      "yardmaster simulates GPU clusters, and trains and serves schedulers for them.\n\n"
      "usage: yardmaster COMMAND [ARGUMENT...]\n       yardmaster COMMAND --help\n\ncommands:\n",
      out);
  for (const Command& command : kCommands) {
    const bool built = std::filesystem::exists(path_of_yardmaster_program(command.program));
    std::fprintf(out, "  %-10s %s%s\n", command.name.data(), command.help,
                 built ? "" : " (not in this build)");
  }
}

int run_completion(int argc, char** argv) {
  std::string shell;
  CLI::App app(
      "Print a script which completes command lines. Bash evaluates it; for zsh, write it to the "
      "file _yardmaster in a folder of $fpath.",
      "completion");
  app.add_option("shell", shell, "shell which reads the script")
      ->required()
      ->check(one_of({"bash", "zsh"}));
  set_examples(app, {"eval \"$(yardmaster completion bash)\"",
                     "yardmaster completion zsh >~/.zfunc/_yardmaster"});
  if (!parse_arguments(app, argc, argv)) return kDone;
  std::fputs(completion_script(shell, kCommands).c_str(), stdout);
  return kDone;
}

int run_man(int argc, char** argv) {
  std::string name;
  CLI::App app("Print the manual page in roff.", "man");
  app.add_option("command", name, "command to describe (default: all)")
      ->check(one_of(command_names()));
  set_examples(app, {"yardmaster man simulate | man -l -"});
  if (!parse_arguments(app, argc, argv)) return kDone;
  std::span<const Command> commands = kCommands;
  for (size_t i = 0; i < std::size(kCommands); ++i) {
    if (kCommands[i].name == name) commands = commands.subspan(i, 1);
  }
  std::fputs(manual_page(commands).c_str(), stdout);
  return kDone;
}

int run_version(int argc, char** argv) {
  bool json = false;
  CLI::App app("Print the version and how this program was built.", "version");
  app.option_defaults()->group("Output");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster version --json"});
  if (!parse_arguments(app, argc, argv)) return kDone;
  const std::string number(release_version()), built_from(source_commit());
  std::printf(json ? "{\"yardmaster\":\"%s\",\"commit\":\"%s\"" : "yardmaster %s (commit %s)\n",
              number.c_str(), built_from.c_str());
  for (const BuildFact& fact : build_facts()) {
    std::printf(json ? ",\"%s\":\"%s\"" : "  %-14s %s\n", fact.name.data(), fact.value.data());
  }
  if (json) std::puts("}");
  return kDone;
}

int run_own(int argc, char** argv) {
  const std::string_view name = argv[1];
  if (name == "--describe") {
    for (const auto command : {run_completion, run_man, run_version}) command(argc, argv);
    return kDone;
  }
  const auto command = name == "completion" ? run_completion
                       : name == "man"      ? run_man
                                            : run_version;
  return command(argc - 1, argv + 1);
}

// Replaces this process by the command's program, with argv as the user typed it. Returns an exit
// code only if the program cannot be started.
int run_program(const Command& command, char** argv) {
  const std::string program = path_of_yardmaster_program(command.program);
  execv(program.c_str(), argv);
  std::fprintf(stderr, "yardmaster: %s: cannot start %s: %s\n", argv[1], program.c_str(),
               std::strerror(errno));
  return kFailed;
}

int run(int argc, char** argv) {
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
  if (name == "--describe") return run_main(argc, argv, run_own);
  for (const Command& command : kCommands) {
    if (command.name != name && !(name == "--version" && command.name == "version")) continue;
    if (std::string_view(command.program) != "yardmaster") return run_program(command, argv);
    return run_main(argc, argv, run_own);
  }
  std::fprintf(stderr, "yardmaster: expected a command (see yardmaster --help), got '%s'%s\n",
               argv[1], did_you_mean(name, command_names()).c_str());
  return kBadInput;
}

}  // namespace
}  // namespace yard

int main(int argc, char** argv) { return yard::run(argc, argv); }
