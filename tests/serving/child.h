// Runs yardmaster-serve as a child process: starts, signals and kills it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace yard::testing {

// The program's path: in the folder $YARD_BIN, or in build/bin.
std::string program();

// A child process. Its standard output and error go to files.
class Child {
 public:
  // Starts the program with its output in `temp`. Calls `prepare` in the child before it.
  Child(const std::filesystem::path& temp, std::vector<std::string> arguments,
        const std::function<void()>& prepare = nullptr);
  ~Child();  // kills it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const;
  pid_t pid() const { return pid_; }

  // Waits for the end. Returns the exit code, or minus the signal that ended it.
  int wait();

  bool has_begun() const { return std::filesystem::exists(out_); }
  std::string out() const;  // requires: it has begun, or ended
  std::string err() const;

  // Waits for the addresses that `serve --json` prints. Fails the test if the server ends first.
  nlohmann::json addresses();

 private:
  std::filesystem::path out_, err_;
  pid_t pid_;
};

}  // namespace yard::testing
