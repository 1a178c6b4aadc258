// Fair shares: tenants have a right to their quota and, beyond it, to GPUs by weight; the users of
// a tenant have equal shares (max-min fairness). A job's position follows from the GPUs of its
// tenant and its user before it:
//   1. jobs within their tenant's quota, before those that borrow
//   2. jobs of tenants of higher priority
//   3. jobs whose tenant has fewest such GPUs before them (within quota, or borrowed), per weight
//   4. submitted first
// Within a tenant, the job whose user has fewest GPUs before it goes first. Among the jobs of a
// user, running ones go first, then waiting ones in order of arrival.
// A job preempts jobs that come after it, so that a large job does not wait forever. It preempts
// jobs of other tenants only to get the tenant's quota, if the tenant may preempt them.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "env/sim/placement/owners.h"
#include "policies/order.h"

namespace yard {
namespace {

constexpr double kAfterAll = 1e15;

struct Config : PlacementConfig {
  std::string share = "tree";
  bool preempt = true;
  double hold_s = 600;
  Config() { placement = "best-fit"; }
  void fields(FieldList& f) {
    PlacementConfig::fields(f);
    f("share", share, fair_share_among_names(),
      "owners of shares; tree: tenants, and users within each; user: users only; tenant: tenants "
      "only, first come, first served within each");
    f("preempt", preempt, "allow waiting jobs to preempt running jobs");
    f("hold_s", hold_s, 0.0, 1e6, "minimum run time before a job can be preempted, in seconds");
  }
};

class FairShare final : public PlacementRulePolicy<Config> {
 public:
  explicit FairShare(const Settings& settings)
      : PlacementRulePolicy(settings), owners_(parse_fair_share_among(config_.share)) {}

  size_t memory_bytes(const View& view) const override {
    return RankedQueue::bytes(view, lanes(view));
  }
  size_t kept_memory_bytes(const View&) const override { return 0; }

  void decide(const View& view, Memory& memory, Draft& draft) const override {
    if (view.num_waiting() == 0) return;
    BumpAllocator bump(memory.data());
    RankedQueue ranked(view, bump, lanes(view));
    const std::vector<Entry> order = in_order(view);
    std::vector<uint8_t> guaranteed(static_cast<size_t>(view.num_slots()), 0);
    for (const Entry& job : order) guaranteed[static_cast<size_t>(job.slot)] = job.borrows ? 0 : 1;
    PreemptionRule rule{placement_};
    if (by_tenant(view)) {
      rule.placement_lane_of = [&](int32_t slot) {
        const int32_t t = view.tenant(slot) == kNone ? view.num_tenants() : view.tenant(slot);
        return 2 * t + guaranteed[static_cast<size_t>(slot)];
      };
      rule.may_preempt = [&](int32_t waiting, int32_t holder) {
        return may_preempt(view, waiting, holder, guaranteed);
      };
    }
    ranked.clear();
    for (size_t i = 0; i < order.size(); ++i) {
      const Entry& job = order[i];
      if (job.held) continue;
      const Key key{static_cast<double>(i), view.serial(job.slot)};
      ranked.push(class_in_ranked_queue(view, ranked, rule, job.slot), job.slot, key);
    }
    if (!config_.preempt) {
      start_in_order(view, ranked, placement_, draft);
      return;
    }
    std::vector<RankedJob> preemptible_jobs;
    const auto hold_us = static_cast<int64_t>(config_.hold_s * 1e6);
    int64_t next_us = kNever;
    for (size_t i = 0; i < order.size(); ++i) {
      const int32_t slot = order[i].slot;
      if (!order[i].held || !view.preemptible(slot)) continue;
      // Counted from the start of running; later changes of its rate do not matter.
      const int64_t protected_until_us = view.transition_end_us(slot) + hold_us;
      if (protected_until_us <= view.now_us()) {
        preemptible_jobs.push_back({{static_cast<double>(i), view.serial(slot)}, slot});
      } else {
        next_us = std::min(next_us, protected_until_us);
      }
    }
    HeapGpuHolderIterator holders(std::move(preemptible_jobs));
    const auto stopped_now = [](int32_t) { return kAfterAll; };  // preempts nothing in turn
    start_or_preempt_in_order(view, ranked, holders, rule, stopped_now, draft);
    if (view.num_waiting() > 0 && next_us != kNever) draft.wake_at(next_us);
  }

 private:
  // A job with the values that decide its position.
  struct Entry {
    int32_t slot;
    bool held;
    double of_user;  // GPUs of its user's jobs before it
    bool borrows = false;
    int32_t priority = 0;  // of its tenant
    double of_tenant = 0;  // GPUs of its tenant's jobs before it, over the tenant's weight
    int32_t serial = 0;
  };

  bool by_tenant(const View& view) const { return yard::charges_tenants(view, owners_); }

  // Jobs of one size differ in what they may preempt.
  int32_t lanes(const View& view) const {
    return by_tenant(view) ? 2 * (view.num_tenants() + 1) : 1;
  }

  // Returns jobs that hold GPUs, then waiting ones, each with the GPUs of its user before it.
  std::vector<Entry> with_users(const View& view) const {
    std::vector<Entry> out;
    for (const int32_t slot : view.holder_slots()) out.push_back({slot, true, 0});
    std::ranges::sort(out, {}, [&](const Entry& job) { return view.serial(job.slot); });
    for (int32_t slot = view.queue_head(); slot != kNone; slot = view.queue_next(slot)) {
      out.push_back({slot, false, 0});
    }
    std::map<std::pair<int32_t, int32_t>, double> taken;  // GPUs, by tenant and user
    for (Entry& job : out) {
      double& before =
          taken[{charged_tenant(view, owners_, job.slot), charged_user(view, owners_, job.slot)}];
      job.of_user = before;
      job.serial = view.serial(job.slot);
      before += gpus(view, job.slot);
    }
    return out;
  }

  static double gpus(const View& view, int32_t slot) {
    return static_cast<double>(view.requested_gpu_milli(slot)) / kWholeGpu;
  }

  std::vector<Entry> in_order(const View& view) const {
    std::vector<Entry> jobs = with_users(view);
    std::ranges::sort(jobs, {}, [](const Entry& a) { return std::tuple(a.of_user, a.serial); });
    if (!by_tenant(view)) return jobs;
    struct Taken {
      double guaranteed = 0, borrowed = 0;  // GPUs
    };
    std::vector<Taken> taken(static_cast<size_t>(view.num_tenants()) + 1);  // last: no tenant
    for (Entry& job : jobs) {
      const int32_t t = view.tenant(job.slot);
      Taken& of = t == kNone ? taken.back() : taken[static_cast<size_t>(t)];
      const double quota = t == kNone ? 0 : view.tenant_quota_gpus(t), more = gpus(view, job.slot);
      job.priority = t == kNone ? 0 : view.tenant_priority(t);
      job.borrows = of.guaranteed + more > quota;
      double& before = job.borrows ? of.borrowed : of.guaranteed;
      job.of_tenant = before / (t == kNone ? 1 : view.tenant_weight(t));
      before += more;
    }
    // Stable, so that jobs without GPUs keep their position within their tenant.
    std::ranges::stable_sort(jobs, {}, [](const Entry& a) {
      return std::tuple(a.borrows, -a.priority, a.of_tenant, a.serial);
    });
    return jobs;
  }

  // Returns whether a waiting job may preempt a holder that comes after it.
  static bool may_preempt(const View& view, int32_t waiting, int32_t holder,
                          const std::vector<uint8_t>& guaranteed) {
    const int32_t mine = view.tenant(waiting), other = view.tenant(holder);
    if (mine == other) return true;
    if (mine == kNone || guaranteed[static_cast<size_t>(waiting)] == 0) return false;
    switch (view.jobs_tenant_may_preempt(mine)) {
      case Preempts::kBorrowers:
        return guaranteed[static_cast<size_t>(holder)] == 0;
      case Preempts::kLower:
        return (other == kNone ? 0 : view.tenant_priority(other)) < view.tenant_priority(mine);
      case Preempts::kAnyJob:
        return true;
      default:
        return false;
    }
  }

  FairShareAmong owners_;
};

const PolicyRegistry::Add<FairShare> kFairShare{
    "fair-share",
    {.about = "quotas first, then GPUs by tenants' weights; equal shares for users of a tenant",
     .source = "our own, after YARN's fair scheduler and Slurm's fair tree",
     .fidelity = "counts GPUs held, not decayed use, and no CPUs; Slurm: nearest is "
                 "PriorityType=priority/multifactor, whose fair tree uses decayed use, with "
                 "PreemptType=preempt/qos",
     .preemptive = true,
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
