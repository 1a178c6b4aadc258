// How fast kinds of models were measured to run: one form for all published tables. A source is
// one file that enters a ProfileReader.
//
//   Profiles profiles = load_profiles("pollux-adaptdl");  // a file, or all known ones of a folder
//   for (const ModelProfile& profile : profiles.models) ...
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/lines.h"
#include "env/base/text.h"
#include "env/trace/reader.h"

namespace yard {

// What a job keeps when it gets another number of GPUs.
enum class Scaling : uint8_t {
  kStrong,  // the samples of an iteration; each GPU takes its part of them
  kWeak,    // the samples of a GPU; a step is one GPU's, so n GPUs make n steps an iteration
};

// One measured placement of a job whose GPUs work in step.
struct MeasuredRun {
  std::string gpu_type;            // in lower case, "v100"
  std::vector<int32_t> node_gpus;  // GPUs on each node that it used
  double local_batch = 1;          // samples that a GPU works on in an iteration
  double iteration_s = 0;          // 0: it did not fit
  double sync_s = -1;  // the part of it that goes to the exchange of gradients; -1: not measured

  int32_t gpus() const;
  int32_t nodes() const { return static_cast<int32_t>(node_gpus.size()); }
};

// One measured number of parameter servers and of workers, a GPU each.
struct ServerRun {
  std::string gpu_type;  // of the workers, in lower case
  bool asynchronous = false;
  double batch = 1;  // samples a step: of the job, asynchronous: of a worker
  int32_t servers = 1;
  int32_t workers = 1;
  double steps_per_s = 0;  // of the job
};

struct ModelProfile {
  std::string model;   // as its source calls it; one plan of several: "gpt2/zero-dp"
  std::string source;  // the reader's name, where it keeps several apart with more: "gavel"
  Scaling scaling = Scaling::kStrong;
  double gradient_bytes = 0;  // that a replica gives to the exchange; 0: not known
  // Told, not measured: all runs are of one GPU, and with more of them the all-reduce on the
  // cluster's links follows each iteration, overlapping with nothing.
  bool by_links = false;
  std::vector<MeasuredRun> runs;
  std::vector<ServerRun> server_runs = {};  // of jobs with parameter servers

  // Returns the batch that names a kind of job, of one of its runs: of the whole job where it
  // scales strongly, of a GPU where weakly.
  double batch_of(const MeasuredRun& run) const;
};

// Two models on one GPU: how fast each is, relative to alone. Zeros: they did not fit, or nobody
// measured them.
struct MeasuredPair {
  struct Side {
    std::string model;
    int32_t batch = 0;
    double rate = 0;
  };
  std::string source, gpu_type;
  Side one, other;
};

struct MeasuredAllReduce {
  std::string nodes;  // what kind they are, "a100_dgx"
  int32_t gpus = 0;
  int32_t gpus_per_node = 0;
  double bytes = 0;
  double seconds = 0;
};

// The parameters of a model, layer by layer added up.
struct MeasuredSize {
  std::string model;
  double bytes = 0;
};

// What a training of a model measured on its way, its shares of the work from the first row on.
struct MeasuredCurve {
  std::string model;
  int32_t batch = 0;  // of the job; 0: not told
  std::vector<CurvePoint> points;
};

// How long it takes to save a model and to let it go on. -1: not measured.
struct MeasuredRestart {
  std::string model;
  double save_s = -1;
  double restore_s = -1;
};

struct Profiles {
  std::vector<ModelProfile> models;  // in the order in which files named them
  std::vector<MeasuredPair> pairs;
  std::vector<MeasuredAllReduce> all_reduces;
  std::vector<MeasuredSize> sizes;
  std::vector<MeasuredRestart> restarts;
  std::vector<MeasuredCurve> curves;

  // Returns the profile of that source and model, a new one where there is none.
  ModelProfile& profile(const std::string& source, const std::string& model, Scaling scaling);
  // Returns the bytes of a model's parameters, of its plain name: as measured layer by layer or
  // told, else as the source of its speeds has its gradients. 0: not known.
  double parameter_bytes(const std::string& plain_name) const;
};

// How one source says what it measured. No two may recognise a file.
class ProfileReader {
 public:
  static constexpr const char* kKind = "measurements";
  struct Info {
    std::string help;
    std::string example_path;  // models and GPU types are partly said by names of folders
  };

  virtual ~ProfileReader() = default;
  virtual bool recognises(const FileHead& head) const = 0;
  // Adds what the file holds. Throws InputError with file, line and column.
  virtual void read(Lines& lines, Profiles& out) const = 0;
  virtual std::string example() const = 0;
};

// Adds the measurements of a file, or of all files of a folder, and of those in it, that any reader
// recognises. Throws InputError, also where there are none.
void load_profiles(const std::filesystem::path& path, Profiles& out);
Profiles load_profiles(const std::filesystem::path& path);

// The same for the text of a file.
void parse_profile(std::string_view text, const std::string& path, Profiles& out);

// Returns the name without what sources write differently: "ResNet-50" and "resnet50" are one.
std::string plain_model_name(std::string_view name);

// Returns "resnet50" of "throughputs_A100/resnet50.csv.gz", and "throughputs_A100".
std::string file_stem(const std::filesystem::path& path);
std::string folder_name(const std::filesystem::path& path);

}  // namespace yard
