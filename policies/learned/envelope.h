// The envelope of an agent: the range of workloads that the agent met in its training. Far outside
// this range, the agent is untried, so a server lets a heuristic decide.
//
//   Envelope envelope;
//   envelope.add(workload_of(view));                                // at each decision in training
//   std::string why = envelope.why_outside(workload_of(later), 4);  // "": inside
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "env/sim/view/decider.h"

namespace yard {

// Figures of a cluster and its queue. Counts are divided by the cluster's GPUs, as in the inputs
// of agents, so that clusters of different sizes are comparable.
enum WorkloadFigure : uint8_t {
  kNodeGpus,       // GPUs of the largest node
  kSpeedRatio,     // speed of the fastest node's GPUs, relative to the slowest node's
  kWaitingPerGpu,  // jobs that wait, per GPU of the cluster
  kAskedPerGpu,    // GPUs that waiting, starting and running jobs ask for, per GPU of the cluster
  kGpusPerJob,     // mean number of GPUs that a waiting, starting or running job asks for
  kLongestWaitS,   // seconds for which the oldest waiting job has waited
  kLongestRunS,    // longest time, in seconds, that a starting or running job has run
  kNumWorkloadFigures,
};

// Returns the name of a figure in manifests and messages: "waiting_per_gpu".
const char* workload_figure_name(WorkloadFigure figure);

struct WorkloadFigures {
  std::array<double, kNumWorkloadFigures> values = {};
  bool has_jobs = false;  // false: there is nothing to decide
};

// Adds up a workload, job by job.
class WorkloadSums {
 public:
  // `gpus`: GPUs of the cluster that are not down.
  WorkloadSums(const SpecColumns& spec, int32_t gpus);
  void add_waiting(int32_t gpus, int64_t waited_us);
  void add_holding(int32_t gpus, int64_t ran_us);  // a starting or running job
  WorkloadFigures workload() const;

 private:
  WorkloadFigures sums_;
  double gpus_, jobs_ = 0;
};

WorkloadFigures workload_of(const View& view);

class Envelope {
 public:
  struct Range {
    double low = 0, high = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  // Widens the ranges to include a workload. Does nothing for one without jobs.
  void add(const WorkloadFigures& workload);

  bool empty() const { return decisions_ == 0; }
  int64_t decisions() const { return decisions_; }  // number of workloads added
  Range range(WorkloadFigure figure) const { return ranges_[figure]; }

  // Returns how a workload exceeds the envelope, in words, or "". A figure is outside if it exceeds
  // the top of its range times `tolerance`, or falls short of the bottom divided by `tolerance`. An
  // empty envelope and a workload without jobs are never outside. Requires: tolerance >= 1.
  std::string why_outside(const WorkloadFigures& workload, double tolerance) const;

  nlohmann::ordered_json to_json() const;  // null if empty
  // Throws nlohmann::json::exception, or InputError naming `where` for impossible ranges.
  static Envelope from_json(const nlohmann::ordered_json& json, const std::string& where);

  friend bool operator==(const Envelope&, const Envelope&) = default;

 private:
  int64_t decisions_ = 0;
  std::array<Range, kNumWorkloadFigures> ranges_ = {};
};

// A scheduler which notes the workload of each decision in an envelope.
class EnvelopeRecorder final : public Decider {
 public:
  // Requires: both arguments outlive this object.
  EnvelopeRecorder(Decider& decider, Envelope& envelope) : decider_(decider), envelope_(envelope) {}

  InformationLevel level() const override { return decider_.level(); }
  void decide(const View& view, Draft& draft) override {
    envelope_.add(workload_of(view));
    decider_.decide(view, draft);
  }

 private:
  Decider& decider_;
  Envelope& envelope_;
};

}  // namespace yard
