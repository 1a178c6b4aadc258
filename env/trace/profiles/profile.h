// Measured speeds of models, in one form for all published tables. Each source of measurements has
// one source file, which registers a ProfileReader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/files/lines.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"

namespace yard {

// What stays constant when the number of GPUs of a job changes.
enum class BatchScaling : uint8_t {
  kStrong,  // samples per iteration, of which each GPU takes an equal part
  kWeak,    // samples per GPU; n GPUs make n steps per iteration, one each
};

// One measured placement of a job whose GPUs work synchronously.
struct MeasuredRun {
  std::string gpu_type;            // GPU type in lower case, "v100"
  std::vector<int32_t> node_gpus;  // number of GPUs on each node used
  double local_batch = 1;          // number of samples per GPU and iteration
  double iteration_s = 0;          // 0: the job did not fit into memory
  double sync_s = -1;              // part of iteration_s that exchanges gradients; -1: not measured

  int32_t gpus() const;
  int32_t nodes() const { return static_cast<int32_t>(node_gpus.size()); }
};

// Measured speed of a number of parameter servers and of workers with one GPU each.
struct ParameterServerRun {
  std::string gpu_type;  // GPU type of the workers, in lower case
  bool asynchronous = false;
  double batch = 1;  // samples per step: of the job, or of one worker if asynchronous
  int32_t servers = 1, workers = 1;
  double steps_per_s = 0;  // of the job
};

struct ModelProfile {
  std::string model;   // model as the source names it, with one of its plans: "gpt2/zero-dp"
  std::string source;  // name of the reader, plus a suffix if needed: "elasticflow-t4"
  BatchScaling scaling = BatchScaling::kStrong;
  double gradient_bytes = 0;  // bytes of gradients that a replica exchanges; 0: unknown
  // The speed is given, not measured, and all runs use one GPU. With more GPUs, an all-reduce over
  // the cluster's links follows each iteration, without overlap.
  bool by_links = false;
  std::vector<MeasuredRun> runs;
  std::vector<ParameterServerRun> parameter_server_runs = {};  // runs with parameter servers

  // Returns the batch size that identifies the kind of job of `run`: the batch of the whole job if
  // the job scales strongly, the batch of one GPU if it scales weakly.
  double identifying_batch_size(const MeasuredRun& run) const;
};

// Two models that share one GPU, with the speed of each relative to running alone. Speeds of 0 mean
// that the models did not fit together or were not measured.
struct MeasuredColocatedPair {
  struct ColocatedModel {
    std::string model;
    int32_t batch = 0;
    double rate = 0;
  };
  std::string source, gpu_type;
  ColocatedModel one, other;
};

struct MeasuredAllReduce {
  std::string nodes;  // kind of node, "a100_dgx"
  int32_t gpus = 0, gpus_per_node = 0;
  double bytes = 0, seconds = 0;
};

// Size of a model's parameters in bytes, summed over its layers.
struct MeasuredModelSize {
  std::string model;
  double bytes = 0;
};

// Training curve measured for a model, by share of the work, from the first measurement on.
struct MeasuredTrainingCurve {
  std::string model;
  int32_t batch = 0;  // batch size of the job; 0: unknown
  std::vector<TrainingCurvePoint> points;
};

// Time to save a model and time to restore it; -1: not measured.
struct MeasuredRestart {
  std::string model;
  double save_s = -1, restore_s = -1;
};

struct Profiles {
  std::vector<ModelProfile> models;  // models in the order of the files
  std::vector<MeasuredColocatedPair> pairs;
  std::vector<MeasuredAllReduce> all_reduces;
  std::vector<MeasuredModelSize> sizes;
  std::vector<MeasuredRestart> restarts;
  std::vector<MeasuredTrainingCurve> curves;

  // Returns the profile of a source and model, which the function adds if there is none.
  ModelProfile& profile(const std::string& source, const std::string& model, BatchScaling scaling);
  // Returns the bytes of a model's parameters by plain name: the measured or given size, or else
  // the gradient size in the source of the model's speeds; 0: unknown.
  double parameter_bytes(const std::string& plain_name) const;
};

// Reads one source of measurements. At most one reader may recognise a file.
class ProfileReader {
 public:
  static constexpr const char* kKind = "measurements";
  struct Info {
    std::string help;
    std::string example_path;                    // path whose folders name models and GPU types
    std::vector<std::string_view> columns = {};  // names, in any order, that identify a file
    std::string example = {};                    // a small file of this source
  };

  virtual ~ProfileReader() = default;
  // Returns whether a file is of this source. Called only if Info::columns is empty.
  virtual bool recognises(const FileHead&) const { return false; }
  // Adds the measurements in a file to `out`. Throws InputError with file, line and column.
  virtual void read(Lines& lines, Profiles& out) const = 0;
};

// Returns whether the reader with the name `reader` recognises a file that begins with `head`.
bool is_recognised(const std::string& reader, const FileHead& head);

// Adds the measurements of a file, or of all recognised files in a folder and its subfolders.
// Throws InputError for invalid files, or if there are no measurements.
void load_profiles(const std::filesystem::path& path, Profiles& out);
Profiles load_profiles(const std::filesystem::path& path);

// Adds the measurements in the text of one file, whose path would be `path`.
void parse_profile(std::string_view text, const std::string& path, Profiles& out);

// Returns the name without differences in spelling: "ResNet-50" and "resnet50" become equal.
std::string normalised_model_name(std::string_view name);

// For "throughputs_A100/resnet50.csv.gz", file_stem is "resnet50", folder_name "throughputs_A100".
std::string file_stem(const std::filesystem::path& path);
std::string folder_name(const std::filesystem::path& path);

}  // namespace yard
