// Scaling curves published with ElasticFlow (ASPLOS 2023): `throughputs_TYPE/MODEL.csv` has a row
// per batch size of the whole job and a column per number of GPUs, in iterations per second.
// Measured on as few nodes as possible: of 8 A100, or of 4 T4 (the latter are Pollux' times).
#include <algorithm>

#include "env/base/config/registry.h"
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/profiles/measurement_table.h"
#include "env/trace/profiles/profile.h"

namespace yard {
namespace {

constexpr std::string_view kFolder = "throughputs_";

// Bytes of fp32 gradients. Parameters: torchvision, Devlin et al. 2019 (BERT base), Radford et al.
// 2019 (GPT-2 small), Redmon and Farhadi 2018 (YOLOv3); the data do not name the sizes. The T4's
// imagenet and cifar10 are Pollux' ResNet-50 and ResNet-18.
double gradient_bytes(const std::string& model) {
  if (model == "vgg16") return 4 * 138.4e6;
  if (model == "gpt2") return 4 * 124e6;
  if (model == "bert") return 4 * 110e6;
  if (model == "yolov3") return 4 * 61.9e6;
  if (model == "inception3") return 4 * 27.2e6;
  if (model == "resnet50" || model == "imagenet") return 4 * 25.6e6;
  if (model == "resnet50_cifar10") return 4 * 23.5e6;  // ten classes
  if (model == "cifar10") return 4 * 11.2e6;
  return 0;
}

std::vector<int32_t> consolidated(int32_t gpus, int32_t node_gpus) {
  std::vector<int32_t> placement(static_cast<size_t>(gpus / node_gpus), node_gpus);
  if (gpus % node_gpus > 0) placement.push_back(gpus % node_gpus);
  return placement;
}

struct ElasticFlow final : ProfileReader {
  bool recognises(const FileHead& head) const override {
    return head.columns.front() == "global_batch_size";
  }

  void read(Lines& lines, Profiles& out) const override {
    const std::string folder = folder_name(lines.name());
    if (!folder.starts_with(kFolder)) {
      throw InputError(lines.name(), "a file in a folder 'throughputs_TYPE'", "'" + folder + "'");
    }
    const std::string type = lower_case(folder.substr(kFolder.size()));
    const int32_t node_gpus = type == "t4" ? 4 : 8;
    const std::string model = file_stem(lines.name());
    // The two types were measured with different jobs of the same names.
    ModelProfile& profile = out.profile("elasticflow-" + type, model, BatchScaling::kStrong);
    profile.gradient_bytes = gradient_bytes(model);
    MeasurementTable table(lines);
    const int batch = table.column("global_batch_size");
    std::vector<int32_t> gpus;
    for (const std::string& name : table.columns()) {
      gpus.push_back(parse_number<int32_t>(name).value_or(0));
      if (name == "global_batch_size") continue;
      if (gpus.back() < 1 || gpus.back() > MeasurementTable::kMaxGpus) {
        throw InputError(lines.name() + ":1", "columns whose names are numbers of GPUs",
                         "'" + name + "'");
      }
    }
    while (table.next()) {
      for (int c = 0; c < static_cast<int>(gpus.size()); ++c) {
        const std::string_view rate = table.text(c);
        if (c == batch || rate == "0") continue;  // 0: not measured
        const bool fits = !rate.empty() && rate != "nan";
        const int32_t n = gpus[static_cast<size_t>(c)];
        profile.runs.push_back({type, consolidated(n, node_gpus), table.positive_number(batch) / n,
                                fits ? 1 / table.positive_number(c) : 0, -1});
      }
    }
  }
};

const Registry<ProfileReader>::Add<ElasticFlow> kAdd{
    "elasticflow",
    {.help = "scaling curves by batch size, A100 and T4 (ElasticFlow, ASPLOS 2023)",
     .example_path = "throughputs_A100/resnet50.csv",
     .example = "global_batch_size,1,2,16\n"
                "64,6.8,11.8,\n"
                "128,3.7,6.6,20.2\n"}};

}  // namespace
}  // namespace yard
