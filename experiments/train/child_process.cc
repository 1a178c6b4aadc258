#include "experiments/train/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;

// Starts `program`, named `what` in errors, in a child, which calls prepare() first and receives
// SIGTERM when this process ends. Throws RunError.
template <class Prepare>
pid_t start(const char* what, const char* program, const char* name, std::vector<std::string> argv,
            Prepare prepare) {
  argv.insert(argv.begin(), name);
  std::vector<char*> pointers;
  for (std::string& text : argv) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw RunError(std::string("cannot start a ") + what + ": " + std::strerror(errno));
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  prepare();
  execv(program, pointers.data());
  _exit(127);
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Reads a pipe to its end and closes it.
std::string drain(int fd) {
  std::string out;
  char piece[4096];
  for (ssize_t n = 0; (n = read(fd, piece, sizeof piece)) != 0;) {
    if (n > 0) out.append(piece, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR) break;
  }
  close(fd);
  return out;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "yardmaster-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw RunError(name + ": " + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out < 0) throw RunError(log.string() + ": " + std::strerror(errno));
  const pid_t pid = start("process", "/proc/self/exe", "yardmaster-train", arguments, [&] {
    // Own process group: Ctrl-C on the terminal reaches only the parent, which forwards it once.
    setpgid(0, 0);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
  });
  close(out);
  return pid;
}

std::string run_sibling_program(const std::string& program,
                                const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / program;
  if (!std::filesystem::exists(path)) {
    throw InputError(arguments.front(), "a build with " + program, "one without");
  }
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    throw RunError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const pid_t pid = start("process", path.c_str(), "yardmaster", arguments, [&] {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
  });
  close(out[1]);
  close(err[1]);
  std::string errors;
  std::thread reader([&] { errors = drain(err[0]); });
  std::string output = drain(out[0]);
  reader.join();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  throw_if_interrupted();
  const int code = exit_code(status);
  if (code == 0) {
    std::fputs(errors.c_str(), stderr);  // notes, such as skipped records
    return output;
  }
  constexpr std::string_view kName = "yardmaster: ";  // the top-level handler prints it again
  while (!errors.empty() && errors.back() == '\n') errors.pop_back();
  if (errors.starts_with(kName)) errors.erase(0, kName.size());
  if (errors.empty()) errors = program + " ended with exit code " + std::to_string(code);
  if (code == 2) throw InputError(errors);
  throw RunError(errors);
}

ExitedChild poll_exited_child() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, WNOHANG);
  return pid <= 0 ? ExitedChild{} : ExitedChild{pid, exit_code(status)};
}

int launch_ranks(int n, char** argv) {
  constexpr auto kGrace = std::chrono::seconds(20);
  const TemporaryFolder rendezvous;
  std::vector<std::string> arguments;
  for (char** a = argv + 1; *a != nullptr; ++a) arguments.emplace_back(*a);
  std::vector<pid_t> alive;
  for (int rank = 0; rank < n; ++rank) {
    alive.push_back(start("rank", "/proc/self/exe", argv[0], arguments, [&] {
      setenv("YARD_RANK_FILE", (rendezvous.path() / "ranks").c_str(), 1);
      setenv("RANK", std::to_string(rank).c_str(), 1);
      setenv("WORLD_SIZE", std::to_string(n).c_str(), 1);
    }));
  }
  const auto signal_all = [&](int signal) {
    for (const pid_t pid : alive) kill(pid, signal);
  };
  int code = 0;
  bool signalled = false;
  Clock::time_point kill_at = Clock::time_point::max();
  while (!alive.empty()) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      std::erase(alive, pid);
      if (status != 0 && code == 0) {
        code = exit_code(status);
        kill_at = Clock::now() + kGrace;
        if (WIFSIGNALED(status)) {
          std::fprintf(stderr, "yardmaster: a rank was killed by signal %d\n", WTERMSIG(status));
          code = 1;
        }
      }
      continue;
    }
    if (interrupted() && !signalled) {
      signal_all(SIGTERM);
      signalled = true;
    }
    if (Clock::now() > kill_at) {
      signal_all(SIGKILL);
      kill_at = Clock::time_point::max();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return code;
}

}  // namespace yard
