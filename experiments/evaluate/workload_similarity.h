// Measures how closely a generated workload matches a recorded one: by distances between
// distributions and by figures of structure. The distance between two parts of the record serves as
// the reference.
//
//   WorkloadStatistics real = workload_statistics(jobs, from_s, to_s, shift_s, classes);
//   WorkloadSimilarity f = compare(real, generated, first_part, second_part);
#pragma once

#include <map>

#include "env/trace/core/job.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

// Kolmogorov-Smirnov distance: the largest difference between the two CDFs. 0 if one is empty.
double ks_distance(std::vector<double> a, std::vector<double> b);

// Total variation: half the sum of absolute differences between shares. 0 if one is empty.
double total_variation(const std::map<int64_t, double>& a, const std::map<int64_t, double>& b);

// A workload as the quantities in which two workloads are compared.
struct WorkloadStatistics {
  std::map<std::string, std::vector<double>> values;        // compared by KS distance
  std::map<std::string, std::map<int64_t, double>> counts;  // by total variation
  std::vector<std::pair<std::string, double>>
      figures;  // figures to print side by side; NaN: unavailable

  void add_scalar_statistic(const std::string& name, double value) {
    figures.emplace_back(name, value);
  }
};

// `classes`: size classes for the distributions of run times. `shift_s`: added to submission times
// for the hour of the day. Requires: jobs by increasing submission, within [from_s, to_s).
WorkloadStatistics workload_statistics(const std::vector<Job>& jobs, double from_s, double to_s,
                                       double shift_s, const std::vector<SizeClass>& classes);

struct WorkloadSimilarity {
  struct DistanceComparison {
    std::string name;
    const char* kind;      // "KS" or "TV"
    double generated = 0;  // distance of generated samples from the record, mean over samples
    double parts = 0;      // distance between the two recorded parts
  };
  struct ScalarComparison {
    std::string name;
    double real = 0, generated = 0;  // generated: mean over samples
    double first_part = 0, second_part = 0;
  };
  std::vector<DistanceComparison> distances;
  std::vector<ScalarComparison> figures;
};

// The parts are the record's halves, or the fitted part and a later one. Requires: at least one
// generated workload.
WorkloadSimilarity compare(const WorkloadStatistics& real,
                           const std::vector<WorkloadStatistics>& generated,
                           const WorkloadStatistics& first_part,
                           const WorkloadStatistics& second_part);

}  // namespace yard
