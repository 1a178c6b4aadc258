// Gittins index of run times by size, fitted beforehand on the training part of a trace by
// `yardmaster predict --fit`. Nothing is learned during a run. Without a fit, each quarter octave
// of time has the same hazard.
#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/predict/hazard.h"
#include "env/predict/job_size.h"
#include "policies/index_order.h"

namespace yard {
namespace {

constexpr size_t kNumbers = size_t{kJobSizes} * TimeBins::kBins;

struct FittedConfig : PriorityIndexConfig {
  std::vector<double> hazards;
  void fields(FieldList& f) {
    PriorityIndexConfig::fields(f);
    f("hazards", hazards,
      "hazards per quarter octave of run time, one size class after the other, as written by "
      "`predict --fit`");
  }
};

struct Fitted {
  using Config = FittedConfig;
  static constexpr InformationLevel kLevel = InformationLevel::kDistribution;

  explicit Fitted(const Config& config)
      : hazards(kNumbers, 0.075F), ends_within_bin(EndPositionsInBins::uniform()) {
    if (config.hazards.empty()) return;
    if (config.hazards.size() != kNumbers) {
      throw InputError("gittins-fitted.hazards", std::to_string(kNumbers) + " numbers",
                       std::to_string(config.hazards.size()));
    }
    for (size_t i = 0; i < kNumbers; ++i) {
      const double chance = config.hazards[i];
      if (!(chance >= 0 && chance <= 1)) {
        throw InputError("gittins-fitted.hazards", "numbers from 0 to 1", shortest_text(chance));
      }
      hazards[i] = static_cast<float>(chance);
    }
  }
  static size_t bytes(const View&) { return 0; }

  struct Evaluator {
    Evaluator(const Fitted& source, const View& view, BumpAllocator&)
        : source(source), view(view) {}
    double seconds(int32_t slot) const {
      const float* of_size =
          source.hazards.data() + size_t{TimeBins::kBins} * gpu_size_bucket(view.gpus(slot));
      return predict_remaining(source.edges, view.attained_us(slot), kUnlimitedUs, of_size,
                               source.ends_within_bin)
          .gittins_s;
    }
    const Fitted& source;
    const View& view;
  };

  BinEdges edges;
  std::vector<float> hazards;  // (size classes, bins)
  EndPositionsInBins ends_within_bin;
};

const AddPolicy<PriorityIndexPolicy<Fitted>> kFitted{
    "gittins-fitted", "Gittins index of run times by size, fitted beforehand",
    "Gittins 1979; Tiresias, NSDI 2019", "no queues; margin and timer are ours"};

}  // namespace
}  // namespace yard
