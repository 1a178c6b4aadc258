// Measures how closely a generated workload matches a recorded workload: by distances between
// distributions and by scalar statistics. The distance between two parts of the recorded workload
// serves as the reference.
//
//   WorkloadStatistics real = workload_statistics(jobs, from_s, to_s, shift_s, classes);
//   WorkloadSimilarity f = compare_workloads(real, generated, first_part, second_part);
#pragma once

#include <map>

#include "env/trace/core/job.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {

// Returns the Kolmogorov-Smirnov distance, the largest difference of two CDFs; 0 if one is empty.
double ks_distance(std::vector<double> a, std::vector<double> b);

// Returns the total variation: half the summed absolute differences of shares; 0 if one is empty.
double total_variation(const std::map<int64_t, double>& a, const std::map<int64_t, double>& b);

// Statistics of one workload, by which two workloads are compared.
struct WorkloadStatistics {
  std::map<std::string, std::vector<double>> values;        // samples, compared by KS distance
  std::map<std::string, std::map<int64_t, double>> counts;  // compared by total variation
  std::vector<std::pair<std::string, double>> figures;      // scalars; NaN: unavailable

  void add_scalar_statistic(const std::string& name, double value) {
    figures.emplace_back(name, value);
  }
};

// Returns a workload's statistics. `shift_s`: added to submission times to get hours of the day.
// `classes`: size classes for run times. Requires: jobs sorted by submission in [from_s, to_s).
WorkloadStatistics workload_statistics(const std::vector<Job>& jobs, double from_s, double to_s,
                                       double shift_s, const std::vector<SizeClass>& classes);

struct WorkloadSimilarity {
  struct DistanceComparison {
    std::string name;
    const char* kind;      // "KS" or "TV"
    double generated = 0;  // distance to the recorded workload, mean over samples
    double parts = 0;      // distance between the two recorded parts
  };
  struct ScalarComparison {
    std::string name;
    double real = 0, generated = 0;  // `generated`: mean over samples
    double first_part = 0, second_part = 0;
  };
  std::vector<DistanceComparison> distances;
  std::vector<ScalarComparison> figures;
};

// Compares a recorded workload `real` with generated workloads. The two parts are halves of `real`,
// or the fitted part and a later part. Requires: at least one generated workload.
WorkloadSimilarity compare_workloads(const WorkloadStatistics& real,
                                     const std::vector<WorkloadStatistics>& generated,
                                     const WorkloadStatistics& first_part,
                                     const WorkloadStatistics& second_part);

}  // namespace yard
