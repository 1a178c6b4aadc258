// Runs the real programs, as a user would.
#pragma once

#include <filesystem>
#include <string>

namespace yard::testing {

struct Result {
  int code = 0;  // 128 + signal where one ended it
  std::string out, err;
};

// A shell's command line; "yardmaster" in it is the program that was built.
Result shell(const std::string& command);

// Of a build without LibTorch there is no yardmaster-train.
bool trainer_built();

// A folder of its own that goes away, and the working directory while it is there.
class Folder {
 public:
  Folder();
  ~Folder();
  std::filesystem::path path() const { return path_; }
  void write(const std::string& name, const std::string& content) const;
  bool has(const std::string& name) const;
  // Files that a write left half done.
  int leftovers() const;

 private:
  std::filesystem::path path_, before_;
};

}  // namespace yard::testing
