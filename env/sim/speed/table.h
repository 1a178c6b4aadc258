// Makes the columns of speed.h: for every kind of job that a trace holds, its speed on each GPU
// type, with each number of GPUs and over each span.
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
#include "env/trace/profile.h"

namespace yard {

struct SpeedOptions {
  std::vector<GpuType> types = {};  // of the cluster
  int32_t max_gpus = 0;             // the most that any job may get
  int32_t island_gpus = 0;          // that NVLink joins; 0: those of the node
  int32_t node_gpus = 8;
  TierLinks links = {};
  // The type that asked-for speeds are those of, where the model fits on it as asked for. Empty, or
  // else: of the cluster's types that were measured one of speed 1, else the fastest; of several
  // that on which the model was measured to be fastest.
  std::string reference_type = {};
  // Time slices of equal length, and nothing gained or lost.
  double unmeasured_pair = 0.5;
};

class SpeedTable {
 public:
  // `profiles` outlives this. The order of the types makes no difference to any speed.
  SpeedTable(const Profiles& profiles, SpeedOptions options);

  // Returns the class of jobs that ask for so many GPUs; 0, the neutral one, where no profile has
  // the model, or it fits on no type as asked for. A batch of 0 is the middle one of those
  // measured; where the profile tells none, the job's does not count. Between profiles of one name
  // the one that measured the batch is taken, else the first. Requires: gpus <= max_gpus.
  int32_t class_of(const std::string& model, int32_t batch, int32_t gpus,
                   Pattern pattern = Pattern::kNone);

  // The same of jobs with so many parameter servers and workers of one GPU each: by the form of
  // Optimus, where jobs of that model were measured with servers; 0 where not.
  int32_t class_of_servers(const std::string& model, int32_t batch, int32_t servers,
                           int32_t workers);

  // Lets jobs of a class of class_of_servers() have from 1 to `most` servers.
  void vary_servers(int32_t job_class, int32_t most);

  // Lets jobs of the class be told how their all-reduce runs, if it is one, of which the size and
  // the links are known: else nothing changes.
  void choose_all_reduce(int32_t job_class);

  // Holds until the next call of what stands above.
  SpeedColumns columns();

 private:
  struct Kind {
    const ModelProfile* profile;
    double batch;
    double gradient_bytes;
    Pattern pattern;
    Pattern measured;  // of which `profile` tells the time
    int32_t servers;   // 0: the rates of `profile` are those of its runs
  };

  struct Cell {
    double steps_per_s;
    double share;
  };

  const ModelProfile* find(const std::string& model, int32_t batch) const;
  // With the one that asked-for speeds are those of in front.
  std::vector<std::string> measured_types(const ModelProfile& profile, double batch);
  double type_speed(const std::string& name) const;
  double gradient_bytes(const ModelProfile& profile) const;
  const SpeedCurve* curve_of(const ModelProfile& profile, const std::string& type);
  // By how much longer its exchange takes over `tier` than the one that was measured.
  double longer_on(const Kind& kind, Tier tier, int32_t gpus, int32_t nodes) const;
  Cell cell(const SpeedCurve& curve, const SpeedCurve::Rates& rates, const Kind& kind, Tier tier,
            int32_t gpus, int32_t nodes) const;
  int32_t kind_of(const ModelProfile& profile, double batch, Pattern pattern, int32_t servers,
                  Pattern measured);
  void add_rates(const Kind& kind);
  void add_server_rates(const Kind& kind);
  int32_t enter_class(int32_t kind, double reference);
  std::string server_reference(const ModelProfile& profile) const;
  double reference_rate(const Kind& kind, const std::string& type, int32_t gpus);
  void fill_servers();
  void fill_all_reduces();
  void fill_pairs();

  const Profiles* profiles_;
  SpeedOptions options_;
  std::map<std::pair<const ModelProfile*, std::string>, SpeedCurve> curves_;
  std::map<std::tuple<const ModelProfile*, double, Pattern, int32_t, Pattern>, int32_t> kind_index_;
  std::map<std::pair<int32_t, int32_t>, int32_t> class_index_;  // kind, GPUs
  std::vector<Kind> kinds_;
  std::vector<double> type_speed_, class_reference_, steps_per_s_, exchange_share_, pair_rate_,
      gradient_bytes_;
  std::vector<uint8_t> worker_steps_, server_exchange_, tree_exchange_;
  std::vector<int32_t> class_kind_;
  std::map<int32_t, int32_t> most_servers_;                          // by class
  std::vector<int32_t> kind_with_;                                   // (C, the most of them + 1)
  std::map<int32_t, std::array<int32_t, kAllReduces>> all_reduces_;  // by class, its kinds
  std::vector<int32_t> kind_by_;                                     // (C, kAllReduces)
};

}  // namespace yard
