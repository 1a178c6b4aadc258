// Decision time of the policy pilot: its rule alone, and the rule with a network, on nodes of two
// GPU types. The goals for the median are 1 ms with 64 waiting jobs and 64 nodes, and 20 ms with
// 1,000 waiting jobs and 2,048 nodes.
#include <fmt/format.h>

#include <algorithm>

#include "env/base/core/check.h"
#include "env/sim/rulesets/rule_set.h"
#include "experiments/programs/bench/random_weights.h"
#include "policies/learned/learned_policy.h"

namespace yard::bench {
namespace {

constexpr int kHidden = 32;
constexpr size_t kDecisions = 400;

Scenario crowded(int nodes, int jobs) {
  return generated_habit_scenario(fmt::format("{0}x8:v100+{0}x8:k80", nodes / 2), jobs,
                                  {fmt::format("users={}", std::max(40, nodes / 2)), "load=2"});
}

std::unique_ptr<Policy> pilot(bool with_network) {
  Checkpoint out = expert_checkpoint("pilot", {});
  if (with_network) out.network = "job-scorer";
  out.weights = random_weights(kHidden, make_agent("pilot", {})->shape(), 1, 0.02);
  return policy_of(out, "bench");
}

struct DoneMeasuring {};

// Times decisions while about `waiting` jobs (10 %) wait. Throws DoneMeasuring after kDecisions of
// them.
class Timed final : public Decider {
 public:
  Timed(const Policy& policy, int waiting) : inner_(policy), waiting_(waiting) {}
  InformationLevel level() const override { return inner_.level(); }

  void decide(const View& view, Draft& draft) override {
    const bool counts =
        view.num_waiting() >= waiting_ * 9 / 10 && view.num_waiting() <= waiting_ * 11 / 10;
    const double s = seconds([&] { inner_.decide(view, draft); });
    if (counts) took_s.push_back(s);
    if (took_s.size() >= kDecisions || view.num_waiting() > waiting_ * 2) throw DoneMeasuring();
  }

  std::vector<double> took_s;

 private:
  PolicyDecider inner_;
  int waiting_;
};

void add(Json& results, const char* name, const Scenario& scenario, bool with_network, int nodes,
         int waiting, double goal_ms) {
  const auto policy = pilot(with_network);
  Timed decider(*policy, waiting);
  Replay replay{.fixed = scenario.fixed,
                .workload = scenario.workload,
                .first_job = 0,
                .end_job = scenario.workload.size(),
                .policy = name,
                .placement = "",
                .settings = {},
                .decider = &decider,
                .watch = {}};
  try {
    RuleSetRegistry::make("default", {})->replay(replay);
  } catch (const DoneMeasuring&) {
  }
  std::vector<double>& took = decider.took_s;
  YARD_CHECK(!took.empty(), "the queue never reached the length to be measured");
  std::ranges::sort(took);
  const double p50_ms = 1e3 * took[took.size() / 2];
  add_result(results, fmt::format("decide_{}_{}_jobs_{}_nodes", name, waiting, nodes), p50_ms, "ms",
             p50_ms / goal_ms, fmt::format("the goal of {} ms", goal_ms))["detail"] = {
      {"decisions", took.size()},
      {"p99_ms", 1e3 * took[took.size() * 99 / 100]},
      {"most_ms", 1e3 * took.back()}};
}

}  // namespace

void bench_pilot_decision_time(Json& results) {
  const Scenario small = crowded(64, 4'000), large = crowded(2'048, 40'000);
  for (const bool with_network : {false, true}) {
    const char* name = with_network ? "pilot" : "rule";
    add(results, name, small, with_network, 64, 64, 1);
    add(results, name, large, with_network, 2'048, 1'000, 20);
  }
}

}  // namespace yard::bench
