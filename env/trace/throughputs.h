// How fast kinds of jobs run, as Gavel measured it (Narayanan et al., OSDI 2020): steps a second by
// GPU type, kind of job and number of GPUs, alone or beside another job on the same GPUs. A JSON
// file, plain or gzip:
//
//   {"v100": {"('ResNet-18 (batch size 32)', 2)": {
//       "null": 20.5,                                     alone
//       "('LM (batch size 5)', 2)": [12.1, 7.9]}}}        this one, the other; 0: not together
//
// Types that end in "_unconsolidated" are for GPUs of several nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/trace/job.h"

namespace yard {

class Throughputs {
 public:
  using Kind = std::pair<std::string, int32_t>;  // "ResNet-18 (batch size 32)", GPUs

  // What a job is in such files.
  static Kind kind_of(const Job& job);
  // As files write it: "('ResNet-18 (batch size 32)', 2)".
  static std::string text_of(const Kind& kind);

  // Throws InputError: the file, the keys that lead to the place, what was expected there.
  static Throughputs load(const std::string& path);

  const std::string& path() const { return path_; }
  std::vector<std::string> types() const;
  bool has_type(const std::string& type) const { return types_.contains(type); }

  // Nothing where the file says nothing. A 0 was measured: it does not run there.
  std::optional<double> alone(const std::string& type, const Kind& kind) const;
  // Of `kind` and of `other`; where one is 0 they cannot share GPUs.
  std::optional<std::pair<double, double>> together(const std::string& type, const Kind& kind,
                                                    const Kind& other) const;

 private:
  struct Entry {
    std::optional<double> alone;
    std::map<Kind, std::pair<double, double>> beside;
  };
  const Entry* find(const std::string& type, const Kind& kind) const;

  std::string path_;
  std::map<std::string, std::map<Kind, Entry>> types_;
};

}  // namespace yard
