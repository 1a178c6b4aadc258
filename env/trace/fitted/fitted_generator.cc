// The generator `synthetic:like`, which generates jobs from the file of a fitted model.
#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"
#include "env/trace/fitted/workload_model.h"
#include "env/trace/fitted/workload_model_file.h"

namespace yard {
namespace {

struct Config {
  std::string model;
  double days = 0, load = 0;
  void fields(FieldList& f) {
    f("model", model, "file that `trace generate --like TRACE --model-out FILE` wrote");
    f("days", days, 0.0, 36'500.0, "how long, where no number of jobs is given; 0: as the model");
    f("load", load, 0.0, 1000.0, "GPU time asked for over that of the cluster; 0: as the model");
  }
};

class Like final : public TraceGenerator {
 public:
  explicit Like(const Settings& settings) : config_(parse<Config>(settings)) {
    if (config_.model.empty()) {
      throw InputError("synthetic:like", "trace.model = a fitted model's file", "none");
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
    return sha256_hex(std::string("revision=") + kSamplerRevision +
                      "\ndays=" + shortest(config_.days) + "\nload=" + shortest(config_.load) +
                      "\nmodel=" + sha256_hex(text_) + "\n");
  }

 private:
  Config config_;
  std::string text_;
  WorkloadModel model_;
};

const Registry<TraceGenerator>::Add<Like> kAdd{
    "like",
    {.help = "a recorded trace's likeness, from a model fitted to a part of it",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
