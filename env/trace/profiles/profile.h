// Measured speeds of models, in one form for all published tables. Each source is one file that
// registers a ProfileReader.
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

// What stays constant when a job gets another number of GPUs.
enum class Scaling : uint8_t {
  kStrong,  // samples per iteration; each GPU takes its part of them
  kWeak,    // samples per GPU; a step is one GPU's, so n GPUs make n steps per iteration
};

// One measured placement of a job whose GPUs work synchronously.
struct MeasuredRun {
  std::string gpu_type;            // in lower case, "v100"
  std::vector<int32_t> node_gpus;  // GPUs on each node used
  double local_batch = 1;          // samples per GPU and iteration
  double iteration_s = 0;          // 0: did not fit
  double sync_s = -1;              // part of iteration_s that exchanges gradients; -1: not measured

  int32_t gpus() const;
  int32_t nodes() const { return static_cast<int32_t>(node_gpus.size()); }
};

// One measured number of parameter servers and workers, with one GPU per worker.
struct ParameterServerRun {
  std::string gpu_type;  // of the workers, in lower case
  bool asynchronous = false;
  double batch = 1;  // samples per step: of the job, or of a worker if asynchronous
  int32_t servers = 1, workers = 1;
  double steps_per_s = 0;  // of the job
};

struct ModelProfile {
  std::string model;   // as the source calls it; one of several plans: "gpt2/zero-dp"
  std::string source;  // name of the reader, extended if it has several: "gavel"
  Scaling scaling = Scaling::kStrong;
  double gradient_bytes = 0;  // exchanged by a replica; 0: unknown
  // Given, not measured: all runs use one GPU. With more GPUs, an all-reduce on the cluster's links
  // follows each iteration, without overlap.
  bool by_links = false;
  std::vector<MeasuredRun> runs;
  std::vector<ParameterServerRun> parameter_server_runs = {};  // of jobs with parameter servers

  // Returns the batch size that identifies a kind of job, for one of its runs: of the whole job if
  // it scales strongly, of one GPU if weakly.
  double batch_size_of(const MeasuredRun& run) const;
};

// Two models on one GPU: the speed of each relative to running alone. Zeros: they did not fit, or
// were not measured.
struct MeasuredColocatedPair {
  struct Side {
    std::string model;
    int32_t batch = 0;
    double rate = 0;
  };
  std::string source, gpu_type;
  Side one, other;
};

struct MeasuredAllReduce {
  std::string nodes;  // kind of node, "a100_dgx"
  int32_t gpus = 0, gpus_per_node = 0;
  double bytes = 0, seconds = 0;
};

// Size of a model's parameters, summed over its layers.
struct MeasuredModelSize {
  std::string model;
  double bytes = 0;
};

// Training curve measured for a model, by share of the work, from its first row on.
struct MeasuredTrainingCurve {
  std::string model;
  int32_t batch = 0;  // of the job; 0: unknown
  std::vector<TrainingCurvePoint> points;
};

// Time to save a model and to restore it. -1: not measured.
struct MeasuredRestart {
  std::string model;
  double save_s = -1, restore_s = -1;
};

struct Profiles {
  std::vector<ModelProfile> models;  // in the order of the files
  std::vector<MeasuredColocatedPair> pairs;
  std::vector<MeasuredAllReduce> all_reduces;
  std::vector<MeasuredModelSize> sizes;
  std::vector<MeasuredRestart> restarts;
  std::vector<MeasuredTrainingCurve> curves;

  // Returns the profile of that source and model. Adds one if there is none.
  ModelProfile& profile(const std::string& source, const std::string& model, Scaling scaling);
  // Returns the bytes of a model's parameters by plain name: the measured or given size, else the
  // gradient size in the source of its speeds. 0: unknown.
  double parameter_bytes(const std::string& plain_name) const;
};

// Reads one source of measurements. No two readers may recognise a file.
class ProfileReader {
 public:
  static constexpr const char* kKind = "measurements";
  struct Info {
    std::string help;
    std::string example_path;                    // names of folders give models and GPU types
    std::vector<std::string_view> columns = {};  // by which files are recognised, in any order
    std::string example = {};                    // a small file of this source
  };

  virtual ~ProfileReader() = default;
  // Returns whether a file is of a source whose `columns` are not given.
  virtual bool recognises(const FileHead&) const { return false; }
  // Adds the contents of the file. Throws InputError with file, line and column.
  virtual void read(Lines& lines, Profiles& out) const = 0;
};

// Returns whether the reader of that name reads such a file.
bool is_recognised(const std::string& reader, const FileHead& head);

// Adds the measurements of a file, or of all recognised files in a folder and its subfolders.
// Throws InputError, also if there are none.
void load_profiles(const std::filesystem::path& path, Profiles& out);
Profiles load_profiles(const std::filesystem::path& path);

// Parses the text of a file in the same way.
void parse_profile(std::string_view text, const std::string& path, Profiles& out);

// Returns the name without differences in spelling: "ResNet-50" and "resnet50" become equal.
std::string normalised_model_name(std::string_view name);

// Return "resnet50" and "throughputs_A100" for "throughputs_A100/resnet50.csv.gz".
std::string file_stem(const std::filesystem::path& path);
std::string folder_name(const std::filesystem::path& path);

}  // namespace yard
