// The cross-validation workload: a linear congruential sequence without third-party input. Its
// results per job under the rules of published simulators are known.
#include <string>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int kPublishedJobs = 480;  // the size with the most published cases
constexpr int kMaxJobs = 10'000'000;

struct Xv final : TraceGenerator {
  explicit Xv(const Settings& settings) {
    if (settings.entries().empty()) return;
    const GivenSetting& first = settings.entries().front();
    throw InputError(first.origin, "no settings for synthetic:xv", "'" + first.key + "'");
  }

  // Seed and cluster do not change it: it is one sequence, cut at the number of jobs.
  std::vector<Job> generate(const GenerateOptions& options) const override {
    const int count = options.jobs == 0 ? kPublishedJobs : options.jobs;
    if (count < 1 || count > kMaxJobs) {
      throw InputError("synthetic:xv", "1 to " + std::to_string(kMaxJobs) + " jobs",
                       std::to_string(count));
    }
    uint64_t x = 42;
    const auto draw = [&x] {
      x = x * 6364136223846793005u + 1442695040888963407u;
      return static_cast<uint32_t>(x >> 32);
    };
    std::vector<Job> jobs(static_cast<size_t>(count));
    int64_t submit_s = 0;
    for (int i = 0; i < count; ++i) {
      if (i > 0) submit_s += 1 + draw() % 840;
      const uint32_t size = draw() % 20;
      const uint32_t kind = draw() % 10;
      const uint32_t value = draw();
      const int64_t run_s = kind < 6   ? 60 + value % 1740
                            : kind < 9 ? 1800 + value % 12600
                                       : 14400 + value % 72000;
      Job& job = jobs[i];
      job.id = std::to_string(i);
      job.submit_us = submit_s * kUsPerS;
      job.run_us = run_s * kUsPerS;
      job.gpus = size < 10 ? 1 : size < 13 ? 2 : size < 16 ? 4 : size < 19 ? 8 : 16;
      job.name = "resnet50";
    }
    return jobs;
  }

  std::string parameters_hash() const override { return sha256_hex("xv 1"); }
};

const Registry<TraceGenerator>::Add<Xv> kAdd{
    "xv", {.help = "job sequence for comparisons with published simulators, 1 to 16 GPUs per job"}};

}  // namespace
}  // namespace yard
