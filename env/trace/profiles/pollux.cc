// Step times published with Pollux (OSDI 2021; AdaptDL, branch osdi21-artifact), measured on AWS
// g4dn.12xlarge, 4 T4 per node: `MODEL/placements.csv` and `MODEL/scalability.csv`. The latter has
// numbers of nodes and replicas only; replicas are spread as evenly as possible.
#include "env/base/config/registry.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

// Bytes of fp32 gradients. The models are those of the paper's table 1. Parameters: torchvision
// (ResNet-18, ResNet-50), Redmon and Farhadi 2018 (YOLOv3), Devlin et al. 2019 (BERT base). By
// their sync_time over four nodes of one GPU, these four exchange 0.8 GB/s per node. The sizes of
// DeepSpeech2 and NeuMF depend on unknown settings and are derived from that rate.
double gradient_bytes(const std::string& model) {
  if (model == "cifar10") return 4 * 11.2e6;
  if (model == "imagenet") return 4 * 25.6e6;
  if (model == "yolov3") return 4 * 61.9e6;
  if (model == "bert") return 4 * 110e6;
  if (model == "deepspeech2") return 4 * 33e6;
  if (model == "ncf") return 4 * 2e6;
  return 0;
}

ModelProfile& profile_of(const Lines& lines, Profiles& out) {
  const std::string model = folder_name(lines.name());
  ModelProfile& profile = out.profile("pollux", model, BatchScaling::kStrong);
  profile.gradient_bytes = gradient_bytes(model);
  return profile;
}

struct PolluxPlacements final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    ModelProfile& profile = profile_of(lines, out);
    MeasurementTable table(lines);
    const int placement = table.column("placement"), batch = table.column("local_bsz");
    const int step = table.column("step_time"), sync = table.column("sync_time");
    while (table.next()) {
      profile.runs.push_back({"t4", table.placement(placement), table.positive_number(batch),
                              table.positive_number(step), table.nonnegative_number(sync)});
    }
  }
};

struct PolluxScalability final : ProfileReader {
  void read(Lines& lines, Profiles& out) const override {
    ModelProfile& profile = profile_of(lines, out);
    MeasurementTable table(lines);
    const int nodes = table.column("num_nodes"), gpus = table.column("num_replicas");
    const int batch = table.column("local_bsz");
    const int step = table.column("step_time"), sync = table.column("sync_time");
    while (table.next()) {
      const int32_t n = table.count(gpus), spread = table.count(nodes);
      if (spread > n) table.refuse(nodes, "num_nodes of at most num_replicas");
      std::vector<int32_t> node_gpus(static_cast<size_t>(spread), n / spread);
      for (int32_t i = 0; i < n % spread; ++i) ++node_gpus[static_cast<size_t>(i)];
      profile.runs.push_back({"t4", std::move(node_gpus), table.positive_number(batch),
                              table.positive_number(step), table.nonnegative_number(sync)});
    }
  }
};

const Registry<ProfileReader>::Add<PolluxPlacements> kAddPlacements{
    "pollux-placements",
    {.help = "step times by placement, 6 models on T4 (Pollux, OSDI 2021)",
     .example_path = "cifar10/placements.csv",
     .columns = {"placement", "local_bsz", "step_time", "sync_time"},
     .example = "placement,local_bsz,step_time,sync_time\n"
                "1,32,0.04,0.0005\n"
                "112,32,0.15,0.1\n"}};
const Registry<ProfileReader>::Add<PolluxScalability> kAddScalability{
    "pollux-scalability",
    {.help = "step times on up to 16 nodes, 6 models on T4 (Pollux, OSDI 2021)",
     .example_path = "cifar10/scalability.csv",
     .columns = {"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"},
     .example = "num_nodes,num_replicas,local_bsz,step_time,sync_time\n"
                "6,7,32,0.14,0.1\n"
                "16,64,32,0.2,0.15\n"}};

}  // namespace
}  // namespace yard
