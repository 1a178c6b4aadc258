// The entry of libFuzzer (-DYARD_FUZZ=ON, Clang): one program for every trace format.
//
//   fuzz_trace --format sacct CORPUS... [-max_total_time=60]
//   fuzz_trace --examples DIR   # writes DIR/FORMAT/example for each, to begin with
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "env/base/file.h"
#include "env/base/registry.h"
#include "env/trace/reader.h"
#include "tests/fuzz/trace_target.h"

namespace {

std::string& format() {
  static std::string name;
  return name;
}

void write_examples(const std::filesystem::path& dir) {
  using Readers = yard::Registry<yard::TraceReader>;
  for (const std::string& name : Readers::names()) {
    std::filesystem::create_directories(dir / name);
    yard::write_file_atomic(dir / name / "example", Readers::make(name, {})->example());
    std::puts(name.c_str());
  }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer calls them so.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc < 3) {
    std::fputs("usage: fuzz_trace --format NAME CORPUS... | --examples DIR\n", stderr);
    std::exit(2);
  }
  const std::string_view option = (*argv)[1];
  if (option == "--examples") {
    write_examples((*argv)[2]);
    std::exit(0);
  }
  format() = (*argv)[2];
  // libFuzzer shall not take them for its own.
  (*argv)[2] = (*argv)[0];
  *argv += 2;
  *argc -= 2;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  yard::testing::try_trace(format(), {reinterpret_cast<const char*>(data), size});
  return 0;
}
// NOLINTEND(readability-identifier-naming)
