// The generator `synthetic:like`, which generates jobs from the file of a fitted model.
#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {
namespace {

struct Config {
  std::string model;
  double days = 0, load = 0;
  void fields(FieldList& f) {
    f("model", model,
      "workload model file, written by `trace generate --like TRACE --model-out FILE`");
    f("days", days, 0.0, 36'500.0,
      "length of the trace if no number of jobs is given, in days; 0: as in the model");
    f("load", load, 0.0, 1000.0,
      "GPU time asked for divided by GPU time offered; 0: as in the model");
  }
};

class Like final : public TraceGenerator {
 public:
  explicit Like(const Settings& settings) : config_(parse<Config>(settings)) {
    if (config_.model.empty()) {
      throw InputError("synthetic:like", "trace.model = FILE, a workload model", "none");
    }
    text_ = read_file(config_.model);
    model_ = parse_workload_model(text_, config_.model);
  }

  std::vector<Job> generate(const GenerateOptions& options) const override {
    return sample_workload(model_, {.seed = options.seed,
                                    .jobs = options.jobs,
                                    .days = options.jobs > 0 ? 0 : config_.days,
                                    .load = config_.load,
                                    .cluster_gpus = options.cluster_gpus});
  }

  // Hashes the model's text, not its path: a copy elsewhere makes the same trace.
  std::string parameters_hash() const override {
    return sha256_hex(
        std::string("revision=") + kSamplerRevision + "\ndays=" + shortest_text(config_.days) +
        "\nload=" + shortest_text(config_.load) + "\nmodel=" + sha256_hex(text_) + "\n");
  }

 private:
  Config config_;
  std::string text_;
  WorkloadModel model_;
};

const Registry<TraceGenerator>::Add<Like> kAdd{
    "like",
    {.help = "jobs drawn from a workload model that was fitted to a part of a recorded trace",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
