#include "experiments/search/explain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "experiments/run/parallel.h"

namespace yard {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class Explainer {
 public:
  Explainer(const std::vector<TuneCell>& cells, const std::string& policy, const Settings& numbers,
            const ExplainOptions& options)
      : cells_(cells), evaluator_(cells, ""), policy_(policy), options_(options) {
    for (const Field& field : PolicyRegistry::info(policy).fields()) {
      const GivenSetting* given = numbers.find(field.key);
      if (given == nullptr || same(given->value, field.value)) continue;
      terms_.push_back({field.key, given->value, field.value, field.help, 0, 1, {}});
    }
    if (terms_.empty()) {
      throw InputError("explain", "settings other than the defaults of '" + policy + "'", "none");
    }
  }

  GainExplanation run(const std::string& whole) {
    prepare(whole, {});  // reports errors in it
    defaults_ = evaluator_.evaluate(policy_, {RunOptions()}).front();
    GainExplanation out;
    out.whole = ratio(evaluator_.evaluate(whole, {RunOptions()}).front());
    if (!(out.whole < 1)) {
      throw InputError(whole, "settings that improve on the defaults of '" + policy_ + "' here",
                       "mean JCT x " + shortest_text(std::round(out.whole * 1e4) / 1e4));
    }
    std::vector<ExplainedSetting> taken, left = screened();
    while (!left.empty() && taken.size() < static_cast<size_t>(options_.terms)) {
      const std::vector<double> with = ratios_with(taken, left);
      const auto best = std::min_element(with.begin(), with.end()) - with.begin();
      if (!taken.empty() && with[static_cast<size_t>(best)] >= out.formula) break;  // none helps
      out.formula = with[static_cast<size_t>(best)];
      taken.push_back(left[static_cast<size_t>(best)]);
      left.erase(left.begin() + best);
      taken.back().gain_share = share(out.formula, out.whole);
      if (options_.progress) {
        options_.progress(std::to_string(taken.size()) + " of " + std::to_string(options_.terms) +
                          ": " + taken.back().name + ", share of gain " +
                          shortest_text(std::round(taken.back().gain_share * 1e3) / 1e3));
      }
    }
    out.gain_share = share(out.formula, out.whole);
    out.terms = std::move(taken);
    leave_out(out.terms);
    return out;
  }

 private:
  static bool same(const std::string& a, const std::string& b) {
    const auto x = parse_double(a), y = parse_double(b);
    return x && y ? *x == *y : a == b;
  }

  static double share(double part, double whole) { return std::log(part) / std::log(whole); }

  static RunOptions with(const std::vector<ExplainedSetting>& terms, size_t but = SIZE_MAX) {
    RunOptions out;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (i != but) out.policy.set(terms[i].name, terms[i].value, "explain");
    }
    return out;
  }

  // Returns the mean JCT over that of the defaults, geometric mean over cells.
  double ratio(const MeanJcts& jct_s) const {
    if (jct_s.empty()) return kNever;  // invalid combination of values
    double sum = 0;
    for (size_t c = 0; c < jct_s.size(); ++c) sum += std::log(jct_s[c] / defaults_[c]);
    return std::exp(sum / static_cast<double>(jct_s.size()));
  }

  // Returns the ratio of the selected terms together with each of the others.
  std::vector<double> ratios_with(const std::vector<ExplainedSetting>& taken,
                                  const std::vector<ExplainedSetting>& others) const {
    std::vector<RunOptions> candidates;
    for (const ExplainedSetting& other : others) {
      std::vector<ExplainedSetting> both = taken;
      both.push_back(other);
      candidates.push_back(with(both));
    }
    std::vector<double> out;
    for (const MeanJcts& jct_s : evaluator_.evaluate(policy_, candidates))
      out.push_back(ratio(jct_s));
    return out;
  }

  // Ranks settings by the loss without each: some have no effect alone.
  std::vector<ExplainedSetting> screened() const {
    std::vector<RunOptions> candidates;
    for (size_t i = 0; i < terms_.size(); ++i) candidates.push_back(with(terms_, i));
    const std::vector<MeanJcts> played = evaluator_.evaluate(policy_, candidates);
    std::vector<std::pair<double, size_t>> loss;
    for (size_t i = 0; i < terms_.size(); ++i) loss.emplace_back(-ratio(played[i]), i);
    std::sort(loss.begin(), loss.end());
    std::vector<ExplainedSetting> out;
    for (const auto& [minus, i] : loss) {
      if (out.size() < static_cast<size_t>(options_.screened)) out.push_back(terms_[i]);
    }
    return out;
  }

  struct Sums {
    double all = 0;
    std::array<double, kSizeClasses> by_class{};
  };

  // Returns JCT sums over cells and replicas, in all and by size class.
  Sums sums_of(const RunOptions& how) const {
    Sums out;
    for (const TuneCell& cell : cells_) {
      for (const Scenario& replica : cell.replicas) {
        throw_if_interrupted();
        for (const SizeClassSummary& of : run_policy(replica, policy_, how).summary.classes) {
          const double sum = of.all.mean_jct_s * static_cast<double>(of.all.jobs);
          out.all += sum;
          out.by_class[static_cast<size_t>(size_class_of(of.gpus))] += sum;
        }
      }
    }
    return out;
  }

  // Sets what the formula loses without each of its terms.
  void leave_out(std::vector<ExplainedSetting>& terms) const {
    std::vector<Sums> sums(terms.size() + 1);
    parallel_for_each_index(static_cast<int>(sums.size()), [&](int i) {
      const auto k = static_cast<size_t>(i);
      sums[k] = sums_of(with(terms, k));  // the last one: all terms
    });
    const Sums& whole = sums.back();
    for (size_t i = 0; i < terms.size(); ++i) {
      terms[i].without = sums[i].all / whole.all;
      for (size_t c = 0; c < whole.by_class.size(); ++c) {
        if (whole.by_class[c] > 0) {
          terms[i].without_by_class[c] = sums[i].by_class[c] / whole.by_class[c];
        }
      }
    }
  }

  const std::vector<TuneCell>& cells_;
  CandidateEvaluator evaluator_;
  std::string policy_;
  const ExplainOptions& options_;
  std::vector<ExplainedSetting> terms_;  // all settings that differ from their defaults
  MeanJcts defaults_;
};

}  // namespace

GainExplanation explain_gain(const std::vector<TuneCell>& cells, const std::string& tuned_policy,
                             const std::string& policy, const Settings& tuned_settings,
                             const ExplainOptions& options) {
  return Explainer(cells, policy, tuned_settings, options).run(tuned_policy);
}

}  // namespace yard
