// yardmaster-train: all commands which need LibTorch.
//
// LibTorch's BLAS selects kernels at load time. On many virtual machines it falls back to kernels
// of 2004 although the processor has AVX2. Therefore the program sets the kernel in its environment
// and executes itself again.

#include <unistd.h>

#include <cstdlib>

#include "env/base/os/program.h"
#include "env/base/text/nearest_name.h"
#include "experiments/programs/train/commands.h"

namespace {

void choose_blas_kernels(char** argv) {
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  const char* core = __builtin_cpu_supports("avx512vl") ? "SkylakeX"
                     : __builtin_cpu_supports("avx2")   ? "Haswell"
                                                        : nullptr;
  if (core == nullptr) return;
  setenv("OPENBLAS_CORETYPE", core, 1);
  setenv("ATEN_CPU_CAPABILITY", __builtin_cpu_supports("avx512vl") ? "avx512" : "avx2", 0);
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  execv("/proc/self/exe", argv);  // on failure the program continues with slow kernels
#else
  (void)argv;
#endif
}

int run(int argc, char** argv) {
  const std::string_view name = argc > 1 ? argv[1] : "";
  if (name == "train") return yard::run_train(argc - 1, argv + 1);
  if (name == "sweep") return yard::run_sweep(argc - 1, argv + 1);
  if (name == "verify") return yard::run_verify_inference(argc - 1, argv + 1);
  if (name == "list") return yard::run_list_training_components(argc - 1, argv + 1);
  if (name == "bench-ppo") return yard::run_bench_ppo(argc - 1, argv + 1);
  if (name == "--describe") {
    for (const auto command : {yard::run_train, yard::run_sweep, yard::run_verify_inference}) {
      command(argc, argv);
    }
    return 0;
  }
  throw yard::unknown_name("yardmaster-train: command",
                           {"train", "sweep", "verify", "list", "bench-ppo"}, name);
}

}  // namespace

int main(int argc, char** argv) {
  choose_blas_kernels(argv);
  return yard::run_main(argc, argv, run);
}
