#include "experiments/train/launch_ranks.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "experiments/train/rendezvous_dir.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;

pid_t start(int rank, int n, const std::string& file, char** argv) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) throw RunError(std::string("cannot start a rank: ") + std::strerror(errno));
  if (pid > 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(1);
  setenv("YARD_RANK_FILE", file.c_str(), 1);
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", std::to_string(n).c_str(), 1);
  execv("/proc/self/exe", argv);
  _exit(127);
}

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int launch_ranks(int n, char** argv) {
  constexpr auto kGrace = std::chrono::seconds(20);
  const RendezvousDir rendezvous;
  std::vector<pid_t> alive;
  for (int rank = 0; rank < n; ++rank) alive.push_back(start(rank, n, rendezvous.file(), argv));
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
          std::fputs(
              fmt::format("yardmaster: a rank was killed by signal {}\n", WTERMSIG(status)).c_str(),
              stderr);
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
