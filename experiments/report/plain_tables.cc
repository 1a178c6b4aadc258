#include "experiments/report/plain_tables.h"

#include <algorithm>

#include "env/base/text/csv.h"
#include "experiments/report/run_record.h"

namespace yard::report {
namespace {

// Columns are the policy and `keys`. A row for each element of the list `part` of each run, or for
// each run whose object `part` has any of `keys`.
PlainTable table_of(const Json& runs, const char* name, const char* title, const char* part,
                    const std::vector<std::string>& keys) {
  PlainTable table{name, title, {"policy"}, {}};
  table.columns.insert(table.columns.end(), keys.begin(), keys.end());
  for (const Json& run : runs) {
    const Json& value = member_or_null(run, part);
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      std::vector<Json> row = {member_or_null(run, "policy")};
      for (const std::string& key : keys) row.push_back(member_or_null(one, key.c_str()));
      const bool any =
          std::any_of(row.begin() + 1, row.end(), [](const Json& x) { return !x.is_null(); });
      if (any || value.is_array()) table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

std::string PlainTable::csv() const {
  std::string out;
  for (size_t c = 0; c < columns.size(); ++c) out += (c > 0 ? "," : "") + columns[c];
  out += '\n';
  for (const std::vector<Json>& row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out += ',';
      if (row[c].is_null()) continue;
      append_csv_cell(row[c].is_string() ? row[c].get<std::string>() : row[c].dump(), out);
    }
    out += '\n';
  }
  return out;
}

std::vector<PlainTable> plain_tables(const Json& runs) {
  const std::vector<std::string> times = {"jobs",        "finished",   "mean_jct_s",
                                          "p50_jct_s",   "p95_jct_s",  "p99_jct_s",
                                          "mean_wait_s", "max_wait_s", "mean_run_s"};
  std::vector<std::string> classes = {"gpus"};
  classes.insert(classes.end(), times.begin(), times.end());
  std::vector<PlainTable> out = {
      table_of(runs, "size_classes", "Size classes", "classes", classes),
      table_of(runs, "wait_reasons", "Why jobs waited", "waits",
               {"reason", "jobs", "intervals", "total_s", "share"}),
      table_of(runs, "fairness", "Fairness", "fairness",
               {"rho_mean", "rho_p95", "rho_max", "unfair_share", "jain_users", "jain_tenants"}),
      table_of(runs, "tenants", "Tenants", "tenants",
               {"tenant", "jobs", "finished", "mean_jct_s", "p95_jct_s", "mean_wait_s",
                "p95_wait_s", "gpu_hours", "mean_gpus", "quota_gpus", "quota_share"}),
      table_of(runs, "gpu_hours", "GPU time, in hours", "gpu_hours",
               {"all", "running", "starting", "saving", "unshared", "down", "idle", "lost"})};
  std::erase_if(out, [](const PlainTable& table) { return table.rows.empty(); });
  return out;
}

}  // namespace yard::report
