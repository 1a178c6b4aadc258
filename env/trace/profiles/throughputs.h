// Throughputs of kinds of jobs as measured by Gavel (Narayanan et al., OSDI 2020): steps per second
// by GPU type, kind of job and number of GPUs, alone or with another job on the same GPUs. A JSON
// file, plain or gzip:
//
//   {"v100": {"('ResNet-18 (batch size 32)', 2)": {
//       "null": 20.5,                                     alone
//       "('LM (batch size 5)', 2)": [12.1, 7.9]}}}        this job, the other; 0: cannot share
//
// Types that end in "_unconsolidated" are for GPUs on several nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/trace/core/job.h"

namespace yard {

class Throughputs {
 public:
  using Kind = std::pair<std::string, int32_t>;  // kind of job, number of its GPUs

  static Kind kind_of(const Job& job);
  // Returns the text of a kind of job in files: "('ResNet-18 (batch size 32)', 2)".
  static std::string text_of(const Kind& kind);

  // Parses a kind of job written by text_of(). Returns nothing if the text is invalid.
  static std::optional<Kind> parse_kind(std::string_view text);

  // Loads a file. Throws InputError with the file, the keys of the bad value and what was expected.
  static Throughputs load(const std::string& path);

  const std::string& path() const { return path_; }
  std::vector<std::string> types() const;
  bool has_gpu_type(const std::string& type) const { return types_.contains(type); }

  // Returns steps per second, or nothing if the file has no value; 0: the job does not run there.
  std::optional<double> isolated_throughput(const std::string& type, const Kind& kind) const;
  // Returns the throughputs of `kind` and of `other`. If one is 0, these jobs cannot share GPUs.
  std::optional<std::pair<double, double>> colocated_throughputs(const std::string& type,
                                                                 const Kind& kind,
                                                                 const Kind& other) const;

 private:
  struct Entry {
    std::optional<double> alone;
    std::map<Kind, std::pair<double, double>> colocated;
  };
  const Entry* find(const std::string& type, const Kind& kind) const;

  std::string path_;
  std::map<std::string, std::map<Kind, Entry>> types_;
};

}  // namespace yard
