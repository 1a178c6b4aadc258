#include "env/base/os/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "env/base/core/check.h"

namespace yard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxBytes = size_t{1} << 30;

// A descriptor that is closed once.
struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  void close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }
};

struct Pipe {
  Descriptor read, write;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read.fd = ends[0];
    write.fd = ends[1];
    return ::fcntl(read.fd, F_SETFL, O_NONBLOCK) == 0;
  }
};

// Reads what is there. Closes the descriptor at the end of the file.
void drain(Descriptor& from, std::string& into) {
  std::array<char, 65536> buffer;
  while (from.fd >= 0) {
    const ssize_t got = ::read(from.fd, buffer.data(), buffer.size());
    if (got > 0) {
      into.append(buffer.data(), static_cast<size_t>(got));
      if (into.size() > kMaxBytes) return;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      from.close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

int spawn(const std::vector<std::string>& argv, const Pipe& out, const Pipe& err, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write.fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.write.fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, so that all of it can be killed, and Ctrl-C does not reach it.
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, usual;
  sigemptyset(&none);
  sigfillset(&usual);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& one : argv) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  const int error =
      posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

// Waits until the process ends. Returns false at the time given.
bool wait_for_exit(int process, Clock::time_point until) {
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd one{process, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(left)) > 0) return true;
  }
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& argv, std::chrono::milliseconds limit) {
  YARD_CHECK(!argv.empty(), "a command without a name");
  CommandResult result;
  const auto begin = Clock::now();
  const auto until = begin + limit;
  const auto failed = [&](const char* what, int error) {
    result.err = std::string(what) + " " + argv[0] + ": " + std::strerror(error);
    return result;
  };
  Pipe out, err;
  if (!out.open() || !err.open()) return failed("no pipe for", errno);
  pid_t pid = -1;
  if (const int error = spawn(argv, out, err, pid); error != 0) {
    return failed("could not run", error);
  }
  out.write.close();
  err.write.close();
  Descriptor process;
  process.fd =
      static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));  // has no C++ prototype in glibc 2.36
  bool ended = false;
  while (!ended && process.fd >= 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0 || result.out.size() > kMaxBytes || result.err.size() > kMaxBytes) break;
    pollfd watched[] = {
        {process.fd, POLLIN, 0}, {out.read.fd, POLLIN, 0}, {err.read.fd, POLLIN, 0}};
    if (::poll(watched, 3, static_cast<int>(left)) < 0 && errno != EINTR) break;
    ended = (watched[0].revents & POLLIN) != 0;
    drain(out.read, result.out);
    drain(err.read, result.err);
  }
  int status = 0;
  if (ended) {
    ::kill(-pid, SIGKILL);  // what it left running
    ::waitpid(pid, &status, 0);
    if (WIFEXITED(status)) {
      result.exit_code = WEXITSTATUS(status);
    } else {
      result.err += argv[0] + " was killed by signal " + std::to_string(WTERMSIG(status));
    }
  } else {
    ::kill(-pid, SIGKILL);
    // A process in an uninterruptible call outlives the kill; it is then left behind.
    if (process.fd < 0 || wait_for_exit(process.fd, Clock::now() + std::chrono::seconds(1))) {
      ::waitpid(pid, &status, 0);
    }
    result.timed_out = Clock::now() >= until;
    result.err += argv[0] + (result.timed_out ? " ran past its time limit" : " was given up");
  }
  result.elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace yard
