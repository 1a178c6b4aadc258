// Iteration times published with Rubick (MLSys 2025; Morphling in its repository):
// `MODEL/placements.csv`, large models under parallel plans on nodes of 8 A800. "MODEL/PLAN" is a
// separate profile. All plans of three degrees (data, tensor, pipeline) are in "MODEL/3d", since
// each fits one number of GPUs only. "MODEL" has the fastest plan of each placement.
#include <algorithm>

#include "env/base/config/registry.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

// Bytes of fp32 gradients. Parameters in units of 2^20 from the same repository,
// artifact/71_performance_model/model/profile/*/config.csv; LLaMA-30B: Touvron et al. 2023.
double gradient_bytes(const std::string& model) {
  constexpr double kMi = 1 << 20;
  if (model == "vit") return 4 * 81.97 * kMi;
  if (model == "bert") return 4 * 320.72 * kMi;
  if (model == "roberta") return 4 * 338.95 * kMi;
  if (model == "t5") return 4 * 1183.33 * kMi;
  if (model == "gpt2") return 4 * 1485.53 * kMi;
  if (model.starts_with("llama7")) return 4 * 6426.26 * kMi;
  if (model == "llama30") return 4 * 32.5e9;
  return 0;
}

void keep_fastest(ModelProfile& profile, const MeasuredRun& run) {
  for (MeasuredRun& known : profile.runs) {
    if (known.node_gpus != run.node_gpus) continue;
    if (known.iteration_s == 0 || (run.iteration_s > 0 && run.iteration_s < known.iteration_s)) {
      known = run;
    }
    return;
  }
  profile.runs.push_back(run);
}

struct Morphling final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    const std::string model = folder_name(lines.name());
    MeasurementTable table(lines);
    const int plan = table.column("exec_plan"), placement = table.column("placement");
    const int time = table.column("iter_time");
    while (table.next()) {
      // The batch size is unknown: one iteration of a job is one batch.
      MeasuredRun run{"a800", table.placement(placement), 0, table.nonnegative_number(time), -1};
      run.local_batch = 1.0 / run.gpus();
      const std::string name(table.text(plan));
      const bool degrees = name.find_first_not_of("0123456789") == std::string::npos;
      for (const std::string& key : {model + "/" + (degrees ? "3d" : name), model}) {
        ModelProfile& profile = out.profile("morphling", key, BatchScaling::kStrong);
        profile.gradient_bytes = gradient_bytes(model);
        keep_fastest(profile, run);
      }
    }
  }
};

const Registry<ProfileReader>::Add<Morphling> kAdd{
    "morphling",
    {.help = "iteration times of large models under parallel plans, A800 (Rubick, MLSys 2025)",
     .example_path = "gpt2/placements.csv",
     .columns = {"exec_plan", "placement", "iter_time"},
     .example = "exec_plan,placement,iter_time,forward,overlap_sync,optimize\n"
                "ga,44,0.21,41.4,123.3,24.9\n"
                "281,88,1.57,0,1549.2,12.7\n"}};

}  // namespace
}  // namespace yard
