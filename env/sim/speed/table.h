// Builds the tables of speed.h: for each kind of job in a trace, its speed by GPU type, number of
// GPUs and span.
//
//   SpeedTable table(profiles, {.types = spec.types, .max_gpus = 64, .node_gpus = 8});
//   const int32_t job_class = table.class_of(job.model, job.batch_size, job.gpus);
//   double speed = speed_of(table.columns(), job_class, type, gpus, Tier::kRack, 2);
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "env/cluster/spec.h"
#include "env/sim/speed/curve.h"
#include "env/sim/speed/speed.h"
#include "env/trace/profiles/profile.h"

namespace yard {

struct SpeedOptions {
  std::vector<GpuType> types = {};  // GPU types of the cluster
  int32_t max_gpus = 0;             // largest demand of any job
  int32_t island_gpus = 0;          // GPUs joined by NVLink; 0: all GPUs of a node
  int32_t node_gpus = 8;
  TierLinks links = {};
  // GPU type with throughput 1. If empty, or if a model does not fit on it: a measured type with
  // speed 1, or else the fastest measured type; of several, the type where the model is fastest.
  std::string reference_type = {};
  // pair_rate() of unmeasured pairs; 0.5 means equal time slices without gain or loss.
  double unmeasured_pair = 0.5;
};

class SpeedTable {
 public:
  // Requires: `profiles` outlives this object. The order of GPU types does not affect any speed.
  SpeedTable(const Profiles& profiles, SpeedOptions options);

  // Returns the class of jobs of a model which request `gpus` GPUs. Returns 0, the neutral class,
  // if no profile has the model or the model fits on no type. Batch 0 means the median of measured
  // batch sizes. A profile without batch sizes ignores `batch`. Of several profiles of one model,
  // the first with this batch size is used, or else the first. Requires: gpus <= max_gpus.
  int32_t class_of(const std::string& model, int32_t batch, int32_t gpus,
                   Pattern pattern = Pattern::kNone);

  // Returns the class of jobs with parameter servers and workers of one GPU each, with the speed of
  // Optimus. Returns 0 if the model was not measured with parameter servers.
  int32_t parameter_server_class_of(const std::string& model, int32_t batch, int32_t servers,
                                    int32_t workers);

  // Adds kinds with 1 to `most` parameter servers for a result of parameter_server_class_of().
  void allow_parameter_servers_up_to(int32_t job_class, int32_t most);

  // Lets schedulers choose the all-reduce of the class's jobs. Does nothing if the jobs do not
  // exchange by all-reduce, or if the gradient size or links are unknown.
  void allow_all_reduce_choice(int32_t job_class);

  // Returns the tables, which are valid until the next call of a non-const member function.
  SpeedColumns columns();

 private:
  struct ModelVariant {
    const ModelProfile* profile;
    double batch;
    double gradient_bytes;
    Pattern pattern;
    Pattern measured;  // pattern of the exchange in the profile's runs
    int32_t servers;   // 0: no parameter servers
  };

  struct Cell {
    double steps_per_s;
    double share;
  };

  const ModelProfile* find(const std::string& model, int32_t batch) const;
  // Returns the measured GPU types, in order of preference as the reference type.
  std::vector<std::string> ranked_reference_gpu_types(const ModelProfile& profile, double batch);
  double type_speed(const std::string& name) const;
  double gradient_bytes(const ModelProfile& profile) const;
  const SpeedCurve* curve_of(const ModelProfile& profile, const std::string& type);
  // Returns the duration of the kind's exchange over `tier`, divided by the measured exchange's.
  double exchange_time_ratio_to_measured(const ModelVariant& kind, Tier tier, int32_t gpus,
                                         int32_t nodes) const;
  Cell cell(const SpeedCurve& curve, const SpeedCurve::Rates& rates, const ModelVariant& kind,
            Tier tier, int32_t gpus, int32_t nodes) const;
  int32_t model_variant_of(const ModelProfile& profile, double batch, Pattern pattern,
                           int32_t servers, Pattern measured);
  void add_synchronous_rates(const ModelVariant& kind);
  void add_parameter_server_rates(const ModelVariant& kind);
  // Returns the kind that equals `kind` except for its number of parameter servers.
  int32_t variant_with_servers(int32_t kind, int32_t servers);
  int32_t add_job_class(int32_t kind, double reference);
  std::string parameter_server_reference_type(const ModelProfile& profile) const;
  double reference_steps_per_s(const ModelVariant& kind, const std::string& type, int32_t gpus);
  void build_table_of_variants_by_servers();
  void build_table_of_variants_by_all_reduce();
  void build_pair_rate_table();

  const Profiles* profiles_;
  SpeedOptions options_;
  std::map<std::pair<const ModelProfile*, std::string>, SpeedCurve> curves_;
  std::map<std::tuple<const ModelProfile*, double, Pattern, int32_t, Pattern>, int32_t> kind_index_;
  std::map<std::pair<int32_t, int32_t>, int32_t> class_index_;  // kind, GPUs
  std::vector<ModelVariant> kinds_;
  std::vector<double> type_speed_, class_reference_, steps_per_s_, exchange_share_, pair_rate_,
      gradient_bytes_;
  std::vector<uint8_t> worker_steps_, server_exchange_, tree_exchange_;
  std::vector<int32_t> class_kind_;
  std::map<int32_t, int32_t> max_servers_;                                   // by class
  std::vector<int32_t> kind_with_;                                           // (C, max_servers + 1)
  std::map<int32_t, std::array<int32_t, kAllReduces>> kinds_by_all_reduce_;  // kinds by class
  std::vector<int32_t> kind_by_all_reduce_;                                  // (C, kAllReduces)
};

}  // namespace yard
