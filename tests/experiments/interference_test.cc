// How well learned interference predicts the rates of running jobs. ColocationModel
// (colocation_model.h) uses the co-located jobs, NodeLoadTerms (node_load.h) how full nodes are.
// Both watch the same jobs and start without data.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "env/scheduling/colocation_model.h"
#include "env/scheduling/node_load.h"
#include "experiments/replay/load_scenario.h"
#include "experiments/replay/replay.h"

namespace yard {
namespace {

// Mean relative error of predicted rates, before learning from them, weighted by running time.
struct Error {
  double sum = 0, time = 0;
  void add(double predicted_time, double true_time, double weight) {
    sum += std::abs(true_time / predicted_time - 1) * weight;
    time += weight;
  }
  double mean() const { return sum / time; }
};

// Watches all jobs with one model; `terms_of` returns the regression terms of a job.
template <class Fit>
class FitObserver {
 public:
  using Terms = typename Fit::Terms;

  // Adds to `error` by how much each job's rate since the last scan() differed from the prediction.
  // Adds to `none` the error of predicting no slowdown.
  void on_events(const View& view, const Terms& start, Error& error, Error* none = nullptr) {
    if (memory_.empty()) {
      memory_.resize(InterferenceModel<Fit>::bytes(view));
      predictions_.resize(static_cast<size_t>(view.num_slots()));
    }
    learned(view).begin(start);
    for (int32_t i = 0; i < view.num_holders(); ++i) {
      const int32_t slot = view.holder_slot(i);
      const Prediction& b = predictions_[static_cast<size_t>(slot)];
      const auto ran = static_cast<double>(view.attained_us(slot) - b.attained_us);
      const auto worked = static_cast<double>(view.work_done_in_whole_us(slot) - b.worked_us);
      if (!b.runs || b.ref != view.ref(slot) || ran < 1e6) continue;
      error.add(b.time, ran / worked, ran);
      if (none != nullptr) none->add(1, ran / worked, ran);
    }
    learned(view).on_events(view);
  }

  template <class TermsOf>
  void scan(const View& view, const TermsOf& terms_of) {
    learned(view).scan(view, terms_of);
    for (Prediction& b : predictions_) b.runs = false;
    for (int32_t i = 0; i < view.num_holders(); ++i) {
      const int32_t slot = view.holder_slot(i);
      if (view.phase(slot) != Phase::kRunning) continue;
      predictions_[static_cast<size_t>(slot)] = {
          learned(view).predicted_time_per_work(terms_of(slot)), view.attained_us(slot),
          view.work_done_in_whole_us(slot), view.ref(slot), true};
    }
  }

  InterferenceModel<Fit> learned(const View& view) {
    BumpAllocator bump(memory_.data());
    return {view, bump};
  }

 private:
  struct Prediction {
    double time;
    int64_t attained_us, worked_us;
    JobRef ref;
    bool runs;
  };
  std::vector<std::byte> memory_;
  std::vector<Prediction> predictions_;
};

// Errors over the jobs which finish between two counts of finished jobs.
struct Errors {
  Error colocation_model, load, none;  // none: predicts no slowdown
};

std::vector<Errors> errors_on(uint64_t seed, const std::string& policy,
                              const std::vector<int>& bounds) {
  ScenarioOptions options;
  options.trace = "synthetic:servers";
  options.cluster = "servers-6";
  options.seed = seed;
  options.generate_jobs = bounds.back() + 50;
  for (const char* setting :
       {"most=0", "drawn=true", "worker_cores=3", "load=0.45"}) {  // as in Harmony
    options.trace_settings.overlay(setting, "test");
  }
  const Scenario scenario = load_scenario(options);
  std::vector<Errors> out(bounds.size() - 1);
  FitObserver<LeastSquares<ColocationModel::kTerms>> colocation_model;
  FitObserver<NodeLoadTerms<false>::Fit> load;
  RunOptions run;
  run.watch = [&](const SimModel& fixed, const SimState& state) {
    const View view(fixed, state, InformationLevel::kBlind);
    Errors lost, *at = &lost;
    for (size_t k = 0; k < out.size(); ++k) {
      const bool within = view.num_finished() >= bounds[k] && view.num_finished() < bounds[k + 1];
      if (within) at = &out[k];
    }
    colocation_model.on_events(view, ColocationModel::initial_weights(), at->colocation_model,
                               &at->none);
    load.on_events(view, NodeLoadTerms<false>::kStart, at->load);
    const ThroughputModel throughput_model(view);
    const TaskPlacer placer(view);
    const ColocationModel::Learned learned = colocation_model.learned(view);
    const ColocationModel model(view, throughput_model, learned);
    colocation_model.scan(view, [&](int32_t slot) { return model.terms(slot); });
    load.scan(view, [&](int32_t slot) { return NodeLoadTerms<false>::of(view, placer, slot); });
  };
  run_policy(scenario, policy, run);
  return out;
}

// The figures of evaluations/notes.md: errors after these numbers of jobs, for three seeds.
TEST(InterferenceModel, CoLocationPredictsThroughput) {
  const std::vector<int> bounds = {0, 25, 50, 100, 450, 550};
  for (const char* policy : {"least-loaded", "tetris"}) {
    for (const uint64_t seed : {1, 2, 3}) {
      const std::vector<Errors> errors = errors_on(seed, policy, bounds);
      for (size_t k = 0; k < errors.size(); ++k) {
        SCOPED_TRACE(::testing::Message()
                     << policy << ", seed " << seed << ", jobs " << bounds[k] << " to "
                     << bounds[k + 1] << ": " << errors[k].colocation_model.mean()
                     << ", by load only " << errors[k].load.mean() << ", without a model "
                     << errors[k].none.mean());
        EXPECT_LT(errors[k].colocation_model.mean(), k < 2 ? 0.1 : 0.05);
        EXPECT_LT(errors[k].colocation_model.mean(), 0.6 * errors[k].load.mean());
        EXPECT_LT(errors[k].colocation_model.mean(), 0.6 * errors[k].none.mean());
      }
    }
  }
}

}  // namespace
}  // namespace yard
