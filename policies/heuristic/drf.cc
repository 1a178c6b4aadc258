// Dominant resource fairness (Ghodsi et al., NSDI 2011) over GPUs, CPUs and host memory. The next
// job is from the tenant with the least dominant share per weight and, within it, from the user
// with the least dominant share. It gets its request or, if elastic, its minimum; jobs that fit
// nowhere are skipped. Then elastic jobs grow: the next task goes to the job with the least
// dominant share, in its role group that is furthest behind the request, as in DL2's comparison.
#include <optional>

#include "env/sim/placement/owners.h"
#include "env/sim/placement/sizes.h"
#include "policies/policy.h"

namespace yard {
namespace {

struct Config {
  std::string share = "tree";
  double timer_s = 1200;
  void fields(FieldList& f) {
    f("share", share, {"tree", "user", "tenant", "job"},
      "owners of shares; tree: tenants, and users within each; user: users only; tenant: tenants "
      "only; job: each job, first come, first served, as in DL2's comparison");
    f("timer_s", timer_s, 10.0, 1e6, "interval at which running jobs may change size, in seconds");
  }
};

class Drf final : public ConfiguredPolicy<Config> {
 public:
  explicit Drf(const Settings& settings) : ConfiguredPolicy(settings) {
    if (config_.share != "job") owners_ = parse_fair_share_among(config_.share);
  }

  void decide(const View& view, Memory&, Draft& draft) const override {
    const ClusterShares shares(view);
    const auto slot_us = static_cast<int64_t>(config_.timer_s * 1e6);
    ElasticSizes::size_and_place_jobs(view, slot_us, {.owners = owners_},
                                      ElasticSizes::by(dominant_share_gain(view, shares)), draft);
  }

 private:
  std::optional<FairShareAmong> owners_;  // none: each job by itself
};

const PolicyRegistry::Add<Drf> kDrf{
    "drf",
    {.about = "dominant resource fairness among tenants and users; then elastic jobs grow by the "
              "same rule",
     .source = "DRF, NSDI 2011; as a rival in DL2, TPDS 2021",
     .fidelity = "its progressive filling by whole jobs instead of tasks, skipping jobs that do "
                 "not fit; elastic jobs change size at intervals, others are never preempted",
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
