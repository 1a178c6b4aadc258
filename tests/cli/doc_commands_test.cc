// Commands in README.md, tutorials and guides run as printed, from a folder which looks like the
// source root after `make build`. Blocks whose first line is "# needs: ..." run apart from these:
// on the public traces, beside a running Slurm or another program, or, where they take minutes, in
// a copy of the sources (check_deep.sh).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "tests/cli/program.h"
#include "tests/support/markdown.h"
#include "tests/support/require.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

// Line 1 of each script, where a page has its heading. Stops at the first command that fails,
// except one whose pipe `head` closed (141), and writes the command to $YARD_FAILED. Hides public
// traces, and `yardmaster` without its path. Ends servers in the background.
constexpr const char* kPrelude =
    "set -E -o pipefail; unset YARD_TRACES; PATH=${PATH#*:}; YARD_FAILED=$PWD/failed; "
    "trap 'trap - ERR; kill $(jobs -p) 2>/dev/null; wait' EXIT; "
    "trap 'c=$?; [[ $c == 141 ]] || { echo \"$LINENO: $BASH_COMMAND\" >$YARD_FAILED; exit $c; }' "
    "ERR";

constexpr int kTimeLimitS = 500, kMinutesTimeLimitS = 3600;

// What a block may need, as its first line says.
constexpr const char *kTraces = "traces", *kSlurm = "slurm", *kMinutes = "minutes";

std::vector<std::string> pages() {
  std::vector<std::string> out = {"README.md"};
  for (const char* folder : {"docs/tutorials", "docs/guides"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".md") out.push_back(entry.path().generic_string());
    }
  }
  std::ranges::sort(out);
  return out;
}

std::set<std::string> make_targets() {
  static const std::regex rule("^([A-Za-z][A-Za-z0-9_-]*):([^=].*)?$");
  std::set<std::string> out;
  std::istringstream lines(read_file("Makefile"));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, rule)) out.insert(found[1]);
  }
  return out;
}

// Returns the first word of "make ..." which is no target of the Makefile, if there is one.
std::optional<std::string> unknown_target(const std::string& line) {
  const std::set<std::string> targets = make_targets();
  std::istringstream words(line.substr(0, line.find('#')));
  std::string word;
  words >> word;  // make
  while (words >> word) {
    const bool is_option = word.starts_with('-') || word.find('=') != word.npos;
    if (!is_option && !targets.contains(word)) return word;
  }
  return {};
}

// Returns what a block needs: "" for "ninja", "minutes" for "# needs: minutes". Nothing if the
// block has no commands.
std::optional<std::string> need_of(const CodeBlock& block) {
  if (block.language != "sh" || block.lines.empty()) return {};
  constexpr std::string_view kNeeds = "# needs:";
  const std::string_view first = trim(block.lines.front().text);
  return std::string(first.starts_with(kNeeds) ? trim(first.substr(kNeeds.size())) : "");
}

std::vector<std::string> pages_that_need(const std::string& need) {
  std::vector<std::string> out = pages();
  std::erase_if(out, [&](const std::string& page) {
    const auto blocks = read_markdown(page).blocks;
    return std::ranges::none_of(blocks, [&](const CodeBlock& b) { return need_of(b) == need; });
  });
  return out;
}

// A Bash script with the commands of a page, each on the line which it has in the page.
struct Script {
  std::vector<std::string> lines = {kPrelude};
  std::vector<std::string> skipped;  // "12: # needs: minutes"
  std::vector<std::string> invalid;

  // With the blocks that need one of `needs`. `makes`: calls of make run, too; otherwise only their
  // targets are checked.
  explicit Script(const std::string& page, const std::set<std::string>& needs = {""},
                  bool makes = false) {
    for (const CodeBlock& block : read_markdown(page).blocks) {
      const std::optional<std::string> need = need_of(block);
      if (!need) continue;
      const MarkdownLine& first = block.lines.front();
      if (!needs.contains(*need)) {
        skipped.push_back(std::to_string(first.number) + ": " + std::string(trim(first.text)));
        continue;
      }
      for (const MarkdownLine& line : block.lines) add(page, line, makes);
    }
  }

  std::string text() const {
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
  }

 private:
  void add(const std::string& page, const MarkdownLine& line, bool makes) {
    lines.resize(static_cast<size_t>(line.number));
    if (makes || !trim(line.text).starts_with("make ")) {
      lines.back() = line.text;
    } else if (const auto unknown = unknown_target(line.text)) {
      invalid.push_back(page + ":" + std::to_string(line.number) + ": the Makefile has no target " +
                        *unknown);
    }
  }
};

// Makes the current folder look like the source root after `make build`.
void link_source_root(const fs::path& root) {
  for (const auto& entry : fs::directory_iterator(root)) {
    const std::string name = entry.path().filename();
    if (name.starts_with('.') || name == "build" || name == "runs") continue;
    fs::create_symlink(entry.path(), name);
  }
  const char* bin = std::getenv("YARD_BIN");
  const fs::path programs = fs::absolute(bin != nullptr ? fs::path(bin) : root / "build/bin");
  fs::create_directory("build");
  fs::create_directory_symlink(programs, "build/bin");
  fs::create_directory_symlink(programs.parent_path() / "lib", "build/lib");
}

std::string end_of(const std::string& text) {
  constexpr size_t kLength = 4000;
  return text.size() <= kLength ? text : "...\n" + text.substr(text.size() - kLength);
}

// Waits until no connection of another program holds a port which pages print.
constexpr const char* kWaitForPorts = R"sh(
free='
import socket
for port in 50051, 50052, 50053, 50361:
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", port))
'
for i in $(seq 90); do
  python3 --version >/dev/null 2>&1 && ! python3 -c "$free" 2>/dev/null || break
  sleep 1
done
)sh";

// Runs the script in the current folder. Returns what it printed.
std::string expect_runs(const std::string& page, const Script& script, int limit_s = kTimeLimitS) {
  for (const std::string& invalid : script.invalid) ADD_FAILURE() << invalid;
  const std::string text = script.text();
  write_file_atomic("page.sh", text);
  // Pages which start a server use the same port: one at a time.
  const bool serves = text.find("yardmaster serve") != text.npos;
  const std::string lock =
      serves ? "flock -o /tmp/yard-doc-server-" + std::to_string(::getuid()) + " " : "";
  write_file_atomic("wait.sh", serves ? kWaitForPorts : "");
  const Result ran = shell(lock + "bash -c '. ./wait.sh; exec timeout -k 10 " +
                           std::to_string(limit_s) + " bash page.sh' 2>&1");
  if (ran.code == 0) return ran.out;
  const std::string place = fs::exists("failed") ? read_file("failed") : " no command failed\n";
  ADD_FAILURE() << page << ":" << place << "exit code " << ran.code << ", output:\n"
                << end_of(ran.out);
  return ran.out;
}

class DocCommands : public ::testing::TestWithParam<std::string> {};

TEST_P(DocCommands, RunAsPrinted) {
  if (!trainer_built() || !server_built()) GTEST_SKIP() << "built without LibTorch or gRPC";
  const Script script(GetParam());
  for (const std::string& skipped : script.skipped) {
    std::cout << "not here: " << GetParam() << ":" << skipped << "\n";
  }
  const fs::path root = fs::current_path();
  const Folder folder;
  link_source_root(root);
  expect_runs(GetParam(), script);
}

class DocCommandsOnTraces : public ::testing::TestWithParam<std::string> {};

TEST_P(DocCommandsOnTraces, RunAsPrinted) {
  YARD_NEEDS_TRACES();
  const fs::path root = fs::current_path(), traces = fs::absolute(traces_dir());
  Script script(GetParam(), {kTraces});
  script.lines[0] += "; export YARD_TRACES='" + traces.string() + "'";
  const Folder folder;
  link_source_root(root);
  // scripts/fetch_traces.sh keeps the files that are there, so that nothing is downloaded.
  const std::string text = script.text();
  for (const auto& entry : fs::directory_iterator(traces)) {
    const std::string name = entry.path().filename();
    if (text.find("fetch_traces.sh traces " + name) == text.npos) continue;
    fs::create_directory("traces");
    fs::copy(entry.path(), fs::path("traces") / name, fs::copy_options::recursive);
  }
  expect_runs(GetParam(), script);
}

// Their commands of Slurm only list jobs.
const std::vector<std::string> kPagesOnSlurmLogs = {"docs/guides/bring-a-trace.md",
                                                    "docs/guides/what-if.md"};

class DocCommandsOnSlurmLogs : public ::testing::TestWithParam<std::string> {};

TEST_P(DocCommandsOnSlurmLogs, RunAsPrinted) {
  const fs::path root = fs::current_path();
  const std::string log = fs::absolute("tests/data/field/08k-exclusive-realistic/in.txt");
  Script script(GetParam(), {kSlurm});
  script.lines[0] += "; export PATH=\"$PWD/slurm:$PATH\"";
  const Folder folder;
  link_source_root(root);
  // Lists the jobs of a recorded log with the columns that are asked for.
  fs::create_directory("slurm");
  write_file_atomic("slurm/sacct",
                    "#!/usr/bin/env python3\n"
                    "import csv, sys\n"
                    "assert '--parsable2' in sys.argv and '--allusers' in sys.argv\n"
                    "named = [a for a in sys.argv if a.startswith('--format=')]\n"
                    "columns = named[0].removeprefix('--format=').split(',')\n"
                    "print('|'.join(columns))\n"
                    "for job in csv.DictReader(open('" +
                        log +
                        "'), delimiter='|'):\n"
                        "    print('|'.join(job.get(c, '') for c in columns))\n");
  fs::permissions("slurm/sacct", fs::perms::owner_all);
  expect_runs(GetParam(), script);
}

// Files that a page tells its reader to save: "Save this file as `PATH`:", then a block of code.
void save_files(const MarkdownPage& page) {
  static const std::regex names("Save this file as `([^`]+)`:");
  for (const MarkdownLine& line : page.prose) {
    std::smatch found;
    if (!std::regex_match(line.text, found, names)) continue;
    const auto block = std::ranges::find_if(page.blocks, [&](const CodeBlock& b) {
      return !b.lines.empty() && b.lines.front().number > line.number;
    });
    ASSERT_NE(block, page.blocks.end()) << line.text;
    std::string code;
    for (const MarkdownLine& of : block->lines) code += of.text + "\n";
    write_file_atomic(found[1].str(), code);
  }
}

// These build, and add files to the sources. $YARD_DOC_TREE is a copy of the sources, built.
class DocCommandsOfMinutes : public ::testing::TestWithParam<std::string> {};

TEST_P(DocCommandsOfMinutes, RunAsPrinted) {
  const char* tree = std::getenv("YARD_DOC_TREE");
  YARD_NEEDS(minutes, tree != nullptr, "scripts/check_deep.sh runs it (YARD_DOC_TREE)");
  const fs::path root = fs::current_path();
  fs::current_path(tree);
  fs::remove("failed");
  fs::remove_all("runs");  // of another page
  save_files(read_markdown(GetParam()));
  expect_runs(GetParam(), Script(GetParam(), {"", kMinutes}, true), kMinutesTimeLimitS);
  fs::current_path(root);
}

// Returns a test's name: "docs/guides/slurm.md" -> "docs_guides_slurm_md".
std::string as_name(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

std::string case_name(const ::testing::TestParamInfo<std::string>& page) {
  return as_name(fs::path(page.param).replace_extension().string());
}

INSTANTIATE_TEST_SUITE_P(Pages, DocCommands, ::testing::ValuesIn(pages()), case_name);
INSTANTIATE_TEST_SUITE_P(Pages, DocCommandsOnTraces, ::testing::ValuesIn(pages_that_need(kTraces)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Pages, DocCommandsOfMinutes,
                         ::testing::ValuesIn(pages_that_need(kMinutes)), case_name);

INSTANTIATE_TEST_SUITE_P(Pages, DocCommandsOnSlurmLogs, ::testing::ValuesIn(kPagesOnSlurmLogs),
                         case_name);

// Blocks of a page that need another program or the files of an installation.
struct PageBeside {
  std::string page, need;
  std::string expected;               // the output has it
  std::set<std::string> blocks = {};  // needs of further blocks of the page which run
};

void PrintTo(const PageBeside& beside, std::ostream* out) {
  *out << beside.page << ", needs " << beside.need;
}

// What stands beside such pages.
struct Surroundings {
  std::string present;          // a command that succeeds if the machine can run the blocks
  std::string before = "true";  // runs before the page, in its folder
  std::string prelude = "";     // goes in front of the page's commands
  std::string after = "true";   // runs after the page
};

// An installed program, with files in folders of its own instead of /etc and /var/lib.
constexpr const char* kInstalled =
    "mkdir etc && sed \"s,/var/lib/yardmaster/,$PWD/lib/,\" serving/slurm/agent.yaml "
    ">etc/agent.yaml";
constexpr const char* kInstalledPath = "PATH=$PWD/build/bin:$PATH";

// A training in seconds.
constexpr const char* kShortTraining =
    "sed -e 's/^updates:.*/updates: 2/' -e 's/^validate_every:.*/validate_every: 2/' "
    "-e 's/^validate_windows:.*/validate_windows: 2/' experiments/configs/demo.yaml >CONFIG.yaml";

const std::map<std::string, Surroundings>& surroundings() {
  // A cluster of 4 nodes with the lease gate, and three jobs that wait.
  static const std::string slurm_port = std::to_string(12000 + ::getpid() % 1000 * 8);
  // Another port than torchrun's, which the page prints.
  static const std::string other_port = " MASTER_PORT=" + std::to_string(21000 + ::getpid() % 1000);
  static const std::map<std::string, Surroundings> all = {
      {"slurm",
       {.present = "command -v slurmctld slurmd munged && [ $(id -u) = 0 ]",
        .before =
            std::string(kInstalled) + " && " + kShortTraining +
            " && chmod go+x . && YARD_SLURM_PORT=" + slurm_port +
            " tests/live/slurm_cluster.sh start slurm 4 30 && "
            "export SLURM_CONF=$PWD/slurm/etc/slurm.conf && for gpus in 8 4 4; do "
            "sbatch -p gpu --gres=gpu:$gpus --output=/dev/null --wrap 'sleep 1' || exit 1; done",
        // The nodes of this cluster are not in any name service.
        .prelude = std::string(kInstalledPath) +
                   "; export SLURM_CONF=$PWD/slurm/etc/slurm.conf MASTER_ADDR=127.0.0.1" +
                   other_port,
        .after = "tests/live/slurm_cluster.sh stop slurm"}},
      {"torchrun",
       {.present = "torchrun --help",
        .before = kShortTraining,
        // The page is that of host 0 and starts itself as host 1.
        .prelude = "export PET_REDIRECTS=1 PET_TEE=1; "
                   "[[ -n ${NODE:-} ]] || { NODE=1 bash page.sh & export NODE=0; }"}},
      {"mpirun",
       {.present = "mpirun --version | grep 'Open MPI'",
        .before = kShortTraining,
        .prelude = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                   "OMPI_MCA_rmaps_base_oversubscribe=1" +
                   other_port}},
      {"certificates",
       {.present = "openssl version",
        .before = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key "
                  "-out ca.pem && "
                  "for name in server manager; do "
                  "openssl req -newkey rsa:2048 -nodes -subj /CN=$name -keyout $name.key -out "
                  "$name.csr && "
                  "echo subjectAltName=DNS:localhost >names && openssl x509 -req -in $name.csr -CA "
                  "ca.pem "
                  "-CAkey ca.key -CAcreateserial -days 2 -extfile names -out $name.pem || exit 1; "
                  "done && "
                  "chmod 600 *.key && cp ca.pem clients.pem"}},
      // A service that has decided for five hours. Its log has the jobs of the snapshots that
      // docs/guides/learn-from-a-log.md sends.
      {"decision log",
       {.present = "true",
        .prelude = std::string(kInstalledPath) +
                   "; mkdir lib; yardmaster serve --policy fifo --listen 127.0.0.1:50361 --admin "
                   "127.0.0.1:50052 --decision-log lib/decisions & sleep 1; "
                   "sed -n '/^for i/,/^done/p' docs/guides/learn-from-a-log.md | "
                   "sed 's/10000 +/$(date +%s) - 18000 +/' >send.sh; source send.sh"}},
      {"grpcio",
       {.present = "/usr/bin/python3 -c 'import grpc, google.protobuf'",
        .prelude = "PATH=/usr/bin:$PATH"}},
  };
  return all;
}

// Returns the commands with names of hosts and paths that this machine has.
std::string in_short_form(std::string text) {
  for (const auto& [from, to] : std::map<std::string, std::string>{{"--for 3600", "--for 5"},
                                                                   {"/etc/yardmaster/", "etc/"},
                                                                   {"/var/lib/yardmaster/", "lib/"},
                                                                   {"HOST0", "localhost"},
                                                                   {"a.example", "localhost"},
                                                                   {"b.example", "localhost"}}) {
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

const std::vector<PageBeside>& pages_beside() {
  static const std::vector<PageBeside> all = {
      {"docs/guides/slurm.md", "slurm", "released jobs=3 refused=0"},
      {"docs/guides/scale-out.md", "slurm", "runs/srun/checkpoints/best"},
      {"docs/guides/scale-out.md", "torchrun", "runs/torchrun/checkpoints/best"},
      {"docs/guides/scale-out.md", "mpirun", "runs/mpirun/checkpoints/best"},
      {"docs/guides/secure-the-server.md", "certificates", "source POLICY"},
      {"docs/guides/operate.md", "decision log", "fifo"},
      {"docs/guides/serve.md", "grpcio", "source POLICY", {""}},
  };
  return all;
}

class DocCommandsBeside : public ::testing::TestWithParam<PageBeside> {};

TEST_P(DocCommandsBeside, RunAsPrinted) {
  if (!trainer_built() || !server_built()) GTEST_SKIP() << "built without LibTorch or gRPC";
  const PageBeside& beside = GetParam();
  const Surroundings& around = surroundings().at(beside.need);
  if (shell(around.present).code != 0) {
    const std::string reason = "needs " + beside.need + ": no success of " + around.present;
    if (required(beside.need)) FAIL() << reason;
    GTEST_SKIP() << reason;
  }
  std::set<std::string> needs = beside.blocks;
  needs.insert(beside.need);
  Script script(beside.page, needs);
  for (std::string& line : script.lines) line = in_short_form(line);
  if (!around.prelude.empty()) script.lines[0] += "; " + around.prelude;
  const fs::path root = fs::current_path();
  const Folder folder;
  link_source_root(root);
  const Result before = shell(around.before);
  EXPECT_EQ(before.code, 0) << before.out << before.err;
  if (before.code == 0) {
    const std::string printed = expect_runs(beside.page, script);
    EXPECT_NE(printed.find(beside.expected), printed.npos) << printed;
  }
  shell(around.after);
}

INSTANTIATE_TEST_SUITE_P(Pages, DocCommandsBeside, ::testing::ValuesIn(pages_beside()),
                         [](const ::testing::TestParamInfo<PageBeside>& of) {
                           return as_name(of.param.page + "_" + of.param.need);
                         });

TEST(DocCommandsScript, EveryBlockIsRun) {
  for (const std::string& page : pages()) {
    for (const CodeBlock& block : read_markdown(page).blocks) {
      EXPECT_NE(block.language, "console") << page;
      const std::string need = need_of(block).value_or("");
      if (need.empty() || need == kTraces || need == kMinutes) continue;
      const bool is_run = std::ranges::any_of(pages_beside(),
                                              [&](const PageBeside& one) {
                                                return one.page == page && one.need == need;
                                              }) ||
                          (need == kSlurm && std::ranges::count(kPagesOnSlurmLogs, page) > 0);
      EXPECT_TRUE(is_run) << page << ": # needs: " << need;
    }
  }
}

TEST(DocCommandsScript, KeepsTheLinesOfThePage) {
  const Folder folder;
  folder.write("Makefile", "build: all\n\techo\nX := 1\n");
  folder.write(
      "page.md",
      "# Title\n\n```sh\nmake build  # first\nmake nosuch -j2 A=1\ntrue\n```\n```sh\n"
      "# needs: minutes\nfalse\n```\n```text\nfalse\n```\n  ```sh\n  echo a | false\n  ```\n");
  const Script script("page.md");
  EXPECT_EQ(script.text(), std::string(kPrelude) + std::string(5, '\n') + "true\n" +
                               std::string(9, '\n') + "  echo a | false\n");
  EXPECT_EQ(script.skipped, (std::vector<std::string>{"9: # needs: minutes"}));
  EXPECT_EQ(script.invalid,
            (std::vector<std::string>{"page.md:5: the Makefile has no target nosuch"}));
  folder.write("page.sh", script.text());
  EXPECT_EQ(shell("bash page.sh").code, 1);
  EXPECT_EQ(read_file("failed"), "16: false\n");
}

TEST(Reference, PagesAreWhatTheProgramsPrint) {
  if (!trainer_built() || !server_built()) GTEST_SKIP() << "built without LibTorch or gRPC";
  if (shell("python3 --version").code != 0) GTEST_SKIP() << "no python3";
  const Result check = shell("scripts/reference.sh --check 2>&1");
  EXPECT_EQ(check.code, 0) << end_of(check.out);
}

}  // namespace
}  // namespace yard::testing
