// The program that serves and asks, as a child: started, stopped, killed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace yard::testing {

// Where it lies.
std::string program();

// Its standard output and error go to files in a folder.
class Child {
 public:
  // `prepare` is called in the child before the program.
  Child(const std::filesystem::path& temp, std::vector<std::string> arguments,
        const std::function<void()>& prepare = nullptr);
  ~Child();  // kills it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void signal(int number) const;

  // The exit code, or minus the signal that ended it.
  int wait();

  std::string out() const;
  std::string err() const;

  // The line with the addresses of `serve --json`, once it is there.
  nlohmann::json addresses();

 private:
  std::filesystem::path out_, err_;
  pid_t pid_;
};

}  // namespace yard::testing
