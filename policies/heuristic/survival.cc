// Orders by an index of the run times observed for similar jobs (env/predict/survival.h). `gittins`
// uses all jobs of the same size, as Tiresias does with its history. `survival` also uses the
// latest of these, and the job's user, name and siblings.
#include "env/predict/survival.h"

#include "env/predict/survival_index.h"
#include "policies/index_order.h"

namespace yard {
namespace {

struct BySize {
  struct Config : PriorityIndexConfig {
    Config() { margin_log2 = 0.5; }
  };
  static constexpr InformationLevel kLevel = InformationLevel::kHistory;

  explicit BySize(const Config&) {}
  static size_t bytes(const View& view) { return Survival::bytes(view); }

  struct Evaluator {
    Evaluator(const BySize& source, const View& view, BumpAllocator& bump)
        : source(source), view(view), survival(view, bump) {
      survival.on_events(view);
    }
    double seconds(int32_t slot) const {
      return predict_remaining(source.edges, view.attained_us(slot), kUnlimitedUs,
                               survival.size_hazards(view, slot),
                               survival.ends_within_bin(view, slot))
          .gittins_s;
    }
    const BySize& source;
    const View& view;
    Survival survival;
  };

  BinEdges edges;
};

// Preempts with a wider margin, since our own predictions are less certain.
struct Careful : PriorityIndexConfig {
  Careful() { margin_log2 = 2; }
};

template <InformationLevel kMaxLevel>
using ByAll = SurvivalPriorityIndex<kMaxLevel, Careful>;

const AddPolicy<PriorityIndexPolicy<BySize>> kGittins{
    "gittins", "Gittins index of the run times observed so far, by size",
    "Gittins 1979; Tiresias, NSDI 2019",
    "learned online, with running jobs as censored; no queues; margin and timer are ours"};
const AddPolicy<PriorityIndexPolicy<ByAll<InformationLevel::kHistory>>> kSurvival{
    "survival", "mean time left or Gittins index, by size, user, name and siblings", "our own",
    "our own predictor"};
const AddPolicy<PriorityIndexPolicy<ByAll<InformationLevel::kEstimate>>> kSurvivalEstimate{
    "survival-estimate", "as survival, with run times bounded by the users' limits", "our own",
    "our own predictor"};

}  // namespace
}  // namespace yard
