// Checks of a fitted model beyond the syntax and ranges of a file.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/fitted/workload_model.h"

namespace yard {
namespace {

class Check {
 public:
  explicit Check(const std::string& where) : where_(where) {}

  void that(bool holds, const std::string& expected, const std::string& got) const {
    if (!holds) throw InputError(where_, expected, got);
  }
  void length(const std::string& what, size_t size, size_t expected) const {
    that(size == expected, what + " with " + std::to_string(expected) + " numbers",
         std::to_string(size));
  }
  void shares(const std::string& what, const std::vector<double>& shares) const {
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    that(std::abs(sum - 1) < 1e-3, what + " that add up to 1", shortest(sum));
  }
  void at_most_1(const std::string& what, double sum) const {
    that(sum < 1 + 1e-6, what + " that add up to at most 1", shortest(sum));
  }
  void rising(const std::string& what, const Quantiles& q, bool optional = false) const {
    that(optional || !q.knots.empty(), what + " with knots", "none");
    that(std::ranges::is_sorted(q.knots), what + " with non-decreasing knots", "falling ones");
    that(q.body > 0, what + " with a body above 0", shortest(q.body));
  }

 private:
  const std::string& where_;
};

void check_sizes(const WorkloadModel& m, const Check& check) {
  std::vector<double> of_sizes;
  check.that(!m.classes.empty(), "at least one of 'classes'", "none");
  for (size_t c = 0; c < m.classes.size(); ++c) {
    const std::string what = "classes " + std::to_string(c + 1) + ": ";
    const SizeClass& one = m.classes[c];
    check.that(c == 0 || m.classes[c - 1].most_gpus < one.most_gpus, what + "rising most_gpus",
               std::to_string(one.most_gpus));
    check.at_most_1(what + "owner and batch", one.together.owner + one.together.batch);
    check.length(what + "apart", one.together.apart.size(), WorkloadModel::kRepeatSd.size());
    check.shares(what + "apart", one.together.apart);
    check.rising(what + "run_s", one.run_s);
    check.rising(what + "batch_jobs", one.batch_jobs);
    check.rising(what + "limit_s", one.limit_s, true);
  }
  for (const SizeShare& size : m.sizes) {
    of_sizes.push_back(size.share);
    check.that(size.gpus <= m.classes.back().most_gpus,
               "sizes of at most the last class's most_gpus, " +
                   std::to_string(m.classes.back().most_gpus),
               std::to_string(size.gpus));
  }
  check.shares("sizes", of_sizes);
}

}  // namespace

void check_workload_model(const WorkloadModel& m, const std::string& where) {
  const Check check(where);
  check.that(m.owner == "user" || m.owner == "tenant" || m.owner == "nobody",
             "owner 'user', 'tenant' or 'nobody'", "'" + m.owner + "'");
  check.that(m.to_s > m.from_s, "from_s below to_s", shortest(m.to_s));
  check.length("week", m.week.size(), WorkloadModel::kWeekHours);
  check.that(std::ranges::any_of(m.week, [](double w) { return w > 0; }),
             "arrivals in at least one hour of week", "none");
  check.that(m.newcomers > 0, "newcomers above 0", shortest(m.newcomers));
  check.length("memory", m.memory.size(), WorkloadModel::kMemory.size());
  check.at_most_1("memory", std::accumulate(m.memory.begin(), m.memory.end(), 0.0));
  if (!m.tenants.empty()) check.shares("tenants", m.tenants);
  check_sizes(m, check);
  check.at_most_1("size_habit's last and own", m.size_habit.last + m.size_habit.own);
  check.at_most_1("kind_habit's last and own", m.kind_habit.last + m.kind_habit.own);
  check.at_most_1("jobs_owner and jobs_level", m.batch_jobs_owner + m.batch_jobs_level);
  check.rising("gap_s", m.gap_s);
  check.that(std::ranges::is_sorted(m.limits_s), "usual_s in non-decreasing order",
             "falling values");
  if (!m.timeouts.empty()) check.length("timeouts", m.timeouts.size(), WorkloadModel::kLengths);
  check.length("statuses' shares", m.status_shares.size(),
               m.statuses.size() * WorkloadModel::kLengths);
}

}  // namespace yard
