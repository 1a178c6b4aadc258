// libFuzzer's entry point (-DYARD_FUZZ=ON, Clang): one program for every format of input file.
//
// fuzz_reader --format sacct CORPUS... [-max_total_time=60]
// fuzz_reader --examples DIR   # writes DIR/FORMAT/example for each format, as a first corpus
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "env/base/files/file.h"
#include "tests/fuzz/targets.h"

namespace {

yard::testing::Target& chosen() {
  static yard::testing::Target target;
  return target;
}

void write_examples(const std::filesystem::path& dir) {
  for (const yard::testing::Target& target : yard::testing::targets()) {
    std::filesystem::create_directories(dir / target.name);
    yard::write_file_atomic(dir / target.name / "example", target.example);
    std::puts(target.name.c_str());
  }
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): libFuzzer calls them so.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc < 3) {
    std::fputs("usage: fuzz_reader --format NAME CORPUS... | --examples DIR\n", stderr);
    std::exit(2);
  }
  const std::string_view option = (*argv)[1];
  if (option == "--examples") {
    write_examples((*argv)[2]);
    std::exit(0);
  }
  try {
    chosen() = yard::testing::target((*argv)[2]);
  } catch (const yard::InputError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(2);
  }
  // Hides our own options from libFuzzer.
  (*argv)[2] = (*argv)[0];
  *argv += 2;
  *argc -= 2;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
  chosen().try_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
// NOLINTEND(readability-identifier-naming)
