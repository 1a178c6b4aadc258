#include "experiments/programs/train/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "env/base/error.h"

namespace yard {

pid_t start_child(const std::vector<std::string>& arguments, const std::filesystem::path& log) {
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (out < 0) throw RunError(log.string() + ": " + std::strerror(errno));
  std::string name = "yardmaster-train";
  std::vector<std::string> texts = arguments;
  std::vector<char*> argv = {name.data()};
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    // A Ctrl-C on the terminal is the parent's: it hands it on once.
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

Ended any_ended() {
  int status = 0;
  const pid_t pid = waitpid(-1, &status, WNOHANG);
  if (pid <= 0) return {};
  return {pid, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

}  // namespace yard
