#include "tests/serving/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "env/base/files/file.h"

namespace yard::testing {
namespace {

int count = 0;

}  // namespace

std::string program() {
  const char* folder = std::getenv("YARD_BIN");
  return (std::filesystem::path(folder != nullptr ? folder : "build/bin") / "yardmaster-serve")
      .string();
}

Child::Child(const std::filesystem::path& temp, std::vector<std::string> arguments,
             const std::function<void()>& prepare)
    : out_(temp / ("out" + std::to_string(++count))), err_(out_.string() + ".err") {
  arguments.insert(arguments.begin(), program());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    for (const auto& [fd, file] : {std::pair{1, out_}, std::pair{2, err_}}) {
      dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), fd);
    }
    if (prepare) prepare();
    execv(argv[0], argv.data());
    _exit(127);
  }
}

Child::~Child() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    wait();
  }
}

void Child::signal(int number) const { kill(pid_, number); }

int Child::wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string Child::out() const { return read_file(out_); }
std::string Child::err() const { return read_file(err_); }

nlohmann::json Child::addresses() {
  for (;;) {
    if (std::filesystem::exists(out_) && out().ends_with("\n")) {
      return nlohmann::json::parse(out());
    }
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      ADD_FAILURE() << "the server ended: " << err();
      return {};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace yard::testing
