// Runs the real programs as a user would, for tests of the command line.
#pragma once

#include <filesystem>
#include <string>

namespace yard::testing {

struct Result {
  int code = 0;  // 128 + signal if a signal ended the process
  std::string out, err;
};

// Runs a shell command line. "yardmaster" in it is the program in the build folder.
Result shell(const std::string& command);

// Returns whether yardmaster-train was built. A build without LibTorch lacks it.
bool trainer_built();

// Returns whether yardmaster-serve was built. A build without gRPC lacks it.
bool server_built();

// A temporary working directory. Removed, and the previous one restored, on destruction.
class Folder {
 public:
  Folder();
  ~Folder();
  std::filesystem::path path() const { return path_; }
  void write(const std::string& name, const std::string& content) const;
  bool has(const std::string& name) const;
  // Returns the number of temporary files which unfinished writes left.
  int leftovers() const;

 private:
  std::filesystem::path path_, before_;
};

}  // namespace yard::testing
