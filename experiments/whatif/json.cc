#include "experiments/whatif/json.h"

#include <cmath>

#include "env/sim/rulesets/speed_estimator.h"
#include "policies/policy.h"

namespace yard::whatif {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json figures_json(const WaitFigures& f) {
  return {{"jobs", f.jobs},
          {"unfinished", f.unfinished},
          {"mean_wait_s", f.mean_wait_s},
          {"p50_wait_s", f.p50_wait_s},
          {"p90_wait_s", f.p90_wait_s},
          {"p99_wait_s", f.p99_wait_s},
          {"max_wait_s", f.max_wait_s},
          {"mean_jct_s", f.mean_jct_s}};
}

// The change of a candidate against the baseline.
Json change_json(const Change& change) {
  return {{"ratio", number(change.ratio)},
          {"lo", number(change.interval.lo)},
          {"hi", number(change.interval.hi)},
          {"blocks", change.blocks},
          {"conclusive", change.conclusive},
          {"same", change.same},
          {"mean_wait_grows", change.mean_grows},
          {"max_wait_ratio", number(change.longest_wait_ratio())},
          {"max_wait_grows", change.longest_wait_grows}};
}

Json row_json(const Row& row, const std::vector<Candidate>& candidates, const char* key) {
  Json out = {{key, row.name}, {"jobs", row.jobs}, {"logged", figures_json(row.logged)}};
  if (row.single_size) out["part_of_range"] = true;
  out["policies"] = Json::array();
  for (size_t c = 0; c < candidates.size(); ++c) {
    Json one = {{"policy", candidates[c].name}};
    one.update(figures_json(row.by[c]));
    if (c > 0) one.update(change_json(row.changes[c]));
    out["policies"].push_back(one);
  }
  return out;
}

Json table_json(const Table& table, const std::vector<Candidate>& candidates, const char* key) {
  Json out = Json::array();
  for (const Row& row : table.rows) out.push_back(row_json(row, candidates, key));
  return out;
}

Json names_json(const std::vector<const Row*>& rows) {
  Json out = Json::array();
  for (const Row* row : rows) out.push_back(row->name);
  return out;
}

}  // namespace

void add_json(const Comparison& comparison, const std::vector<Verdict>& verdicts,
              const std::vector<std::string>& limitations, Json& out) {
  const std::vector<Candidate>& candidates = comparison.candidates;
  out["lacks"] = limitations;
  out["no_bound"] = comparison.no_bound.empty() ? Json(nullptr) : Json(comparison.no_bound);
  out["logged"] = figures_json(comparison.all.logged);
  out["baseline"] = candidates[0].name;
  out["runs"] = Json::array();
  for (size_t c = 0; c < candidates.size(); ++c) {
    const Candidate& policy = candidates[c];
    Json one = {{"policy", policy.name},
                {"information", information_level_name(policy.level)},
                {"speeds", speed_information_name(policy.speeds)}};
    one.update(figures_json(comparison.all.by[c]));
    one["utilisation"] = policy.utilisation;
    one["preemptions"] = policy.preemptions;
    one["preempted_jobs"] = policy.preempted_jobs;
    one["needs_checkpointing"] = policy.needs_checkpointing;
    one["knows_run_times"] = policy.knows_run_times;
    one["bound"] = policy.knows_run_times && comparison.no_bound.empty();
    const double logged_s = comparison.all.logged.mean_wait_s;
    one["wait_ratio_to_logged"] =
        c == 0 ? number(comparison.logged_ratio)
               : number(logged_s > 0 ? comparison.all.by[c].mean_wait_s / logged_s : NAN);
    if (c > 0) one.update(change_json(comparison.all.changes[c]));
    out["runs"].push_back(one);
  }
  out["verdicts"] = Json::array();
  for (const Verdict& verdict : verdicts) {
    out["verdicts"].push_back({{"policy", candidates[verdict.candidate].name},
                               {"headline", verdict.headline},
                               {"text", verdict.text()},
                               {"longer_sizes", names_json(verdict.sizes)},
                               {"longer_users", verdict.users},
                               {"users", comparison.by_user.rows.size()},
                               {"longer_partitions", names_json(verdict.partitions)},
                               {"partitions", comparison.by_partition.rows.size()},
                               {"longer_small_classes", verdict.small_classes},
                               {"longer_longest_wait", verdict.longest},
                               {"unfinished", verdict.unfinished}});
  }
  out["by_size"] = table_json(comparison.by_size, candidates, "gpus");
  out["by_user"] = table_json(comparison.by_user, candidates, "user");
  out["by_partition"] = table_json(comparison.by_partition, candidates, "partition");
}

}  // namespace yard::whatif
