#include "tests/cli/program.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "env/base/files/file.h"

namespace yard::testing {

namespace fs = std::filesystem;

namespace {

std::string programs() {
  const char* bin = std::getenv("YARD_BIN");
  return bin != nullptr ? bin : "build/bin";
}

}  // namespace

Result shell(const std::string& command) {
  static int count = 0;
  const fs::path base = fs::path(::testing::TempDir()) /
                        ("yard_cli_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
  const std::string out = base.string() + ".out", err = base.string() + ".err";
  const std::string line = "PATH='" + programs() + "':\"$PATH\"; (" + command + "\n) >'" + out +
                           "' 2>'" + err + "' </dev/null";
  const int status = std::system(line.c_str());
  Result result;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = read_file(out);
  result.err = read_file(err);
  fs::remove(out);
  fs::remove(err);
  return result;
}

bool trainer_built() { return fs::exists(fs::path(programs()) / "yardmaster-train"); }

bool server_built() { return fs::exists(fs::path(programs()) / "yardmaster-serve"); }

Folder::Folder()
    : path_(fs::path(::testing::TempDir()) / ("yard_folder_" + std::to_string(::getpid()))),
      before_(fs::current_path()) {
  fs::remove_all(path_);
  fs::create_directories(path_);
  fs::current_path(path_);
}

Folder::~Folder() {
  fs::current_path(before_);
  fs::remove_all(path_);
}

void Folder::write(const std::string& name, const std::string& content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
}

bool Folder::has(const std::string& name) const { return fs::exists(path_ / name); }

int Folder::leftovers() const {
  int count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_)) {
    count += entry.path().filename().string().starts_with(".yard-");
  }
  return count;
}

}  // namespace yard::testing
