#include "experiments/train/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"

namespace yard {

pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out < 0) throw RunError(log.string() + ": " + std::strerror(errno));
  std::string name = "yardmaster-train";
  std::vector<std::string> argv_strings = arguments;
  std::vector<char*> argv = {name.data()};
  for (std::string& text : argv_strings) argv.push_back(text.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    // Own process group: Ctrl-C on the terminal reaches only the parent, which forwards it once.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }
  const int failed = errno;
  close(out);
  if (pid < 0) throw RunError(std::string("cannot start a process: ") + std::strerror(failed));
  return pid;
}

namespace {

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

std::string run_sibling_program(const std::string& program,
                                const std::vector<std::string>& arguments) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / program;
  if (!std::filesystem::exists(path)) {
    throw InputError(arguments.front(), "a build with " + program, "one without");
  }
  std::string name = "yardmaster";
  std::vector<std::string> argv_strings = arguments;
  std::vector<char*> argv = {name.data()};
  for (std::string& text : argv_strings) argv.push_back(text.data());
  argv.push_back(nullptr);
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    throw RunError(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  const int failed = errno;
  close(out[1]);
  close(err[1]);
  if (pid < 0) throw RunError(std::string("cannot start a process: ") + std::strerror(failed));
  std::string output, errors;
  std::thread reader([&] { errors = drain(err[0]); });
  output = drain(out[0]);
  reader.join();
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  throw_if_interrupted();
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
  if (pid <= 0) return {};
  return {pid, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace yard
