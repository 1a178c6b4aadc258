#include "env/base/os/program.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>
#include <system_error>

#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/os/interrupt.h"

namespace yard {

namespace {

int report(const std::exception& error, int code) {
  std::fprintf(stderr, "yardmaster: %s\n", error.what());
  return code;
}

// Returns whether the reader of standard output has closed it: `yardmaster ... | head`.
bool reader_gone() {
  pollfd out{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace

std::filesystem::path path_of_yardmaster_program(std::string_view program) {
  namespace fs = std::filesystem;
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  const fs::path folder = error ? fs::path(".") : self.parent_path();
  const fs::path installed = folder.parent_path() / "libexec/yardmaster" / program;
  const bool in_same_folder = fs::exists(folder / program);
  return in_same_folder || !fs::exists(installed) ? folder / program : installed;
}

int run_main(int argc, char** argv, int (*fn)(int argc, char** argv)) {
  install_interrupt_handler();
  std::signal(SIGXFSZ, SIG_IGN);  // file size limits become failed writes, like a full disk
  std::signal(SIGPIPE, SIG_IGN);  // without a reader, files must still be written
  try {
    const bool version = argc > 1 && std::string_view(argv[1]) == "--version";
    const int code = version ? 0 : fn(argc, argv);
    if (version) std::puts(version_line().c_str());
    // Output truncated by a full disk must not look like success.
    std::cout.flush();
    const bool written = std::fflush(stdout) == 0 && std::cout && std::ferror(stdout) == 0;
    if (!written && !reader_gone()) throw RunError("cannot write to standard output");
    return code;
  } catch (const InputError& error) {
    return report(error, 2);
  } catch (const Interrupted& error) {
    return report(error, kInterruptedExit);
  } catch (const std::exception& error) {
    return report(error, 1);
  }
}

}  // namespace yard
