// The rules are written once for CPU and GPU: all files in tests/cuda must compile for a GPU. Needs
// the CUDA toolkit, but no GPU.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/require.h"

namespace yard::testing {
namespace {

namespace fs = std::filesystem;

// Returns nvcc of the PATH, of $CUDA_HOME or of the usual folder. Empty if there is none.
std::string find_nvcc() {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  if (const char* home = std::getenv("CUDA_HOME")) folders += std::string(":") + home + "/bin";
  folders += ":/usr/local/cuda/bin:";
  for (size_t at = 0, end; (end = folders.find(':', at)) != std::string::npos; at = end + 1) {
    const std::string candidate = folders.substr(at, end - at) + "/nvcc";
    if (end > at && access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

struct Outcome {
  int exit_code;
  std::string output;
};

Outcome run(const std::string& command) {
  Outcome outcome{-1, ""};
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return outcome;
  char chunk[4096];
  for (size_t n; (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;) outcome.output.append(chunk, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  return outcome;
}

TEST(Cuda, RulesCompileForTheGpu) {
  const std::string nvcc = find_nvcc();
  YARD_NEEDS(cuda, !nvcc.empty(), "no nvcc on the PATH, in $CUDA_HOME or in /usr/local/cuda");
  // A fused multiply-add rounds once where the CPU rounds twice. nvcc only warns about a device
  // call into host code, which is always a mistake here.
  const std::string flags =
      " -std=c++20 --fmad=false -arch=sm_90 --expt-relaxed-constexpr"
      " --Werror cross-execution-space-call -I. -c ";
  ASSERT_TRUE(fs::is_directory("tests/cuda")) << "nothing to compile in tests/cuda";
  int compiled = 0;
  for (const auto& entry : fs::directory_iterator("tests/cuda")) {
    if (entry.path().extension() != ".cu") continue;
    const fs::path object = fs::temp_directory_path() / ("yard-" + std::to_string(getpid()) + ".o");
    const Outcome outcome =
        run("'" + nvcc + "'" + flags + entry.path().string() + " -o '" + object.string() + "'");
    EXPECT_EQ(outcome.exit_code, 0) << entry.path() << ":\n" << outcome.output;
    EXPECT_TRUE(fs::exists(object)) << outcome.output;
    fs::remove(object);
    ++compiled;
  }
  EXPECT_GT(compiled, 0) << "tests/cuda holds no .cu file";
}

}  // namespace
}  // namespace yard::testing
