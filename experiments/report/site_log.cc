// What `whatif` says about a site's log beyond the replays: its verdicts, the limitations of the
// log, and waits by job size, partition and user.
#include <algorithm>

#include "experiments/report/html.h"
#include "experiments/report/html_table.h"
#include "experiments/report/sections.h"

namespace yard::report {
namespace {

constexpr size_t kMaxRows = 200;  // sizes, partitions or users, so that the page stays small

std::string items(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& one : texts) out += "<li>" + escape(one) + "</li>\n";
  return out.empty() ? "" : "<ul>" + out + "</ul>\n";
}

std::string verdicts(const Json& document) {
  std::vector<std::string> texts;
  for (const Json& verdict : list_or_empty(document, "verdicts"))
    texts.push_back(text(verdict, "text"));
  return section("Verdict", items(texts));
}

std::string limitations(const Json& document) {
  std::vector<std::string> texts;
  for (const Json& lack : list_or_empty(document, "lacks")) {
    if (lack.is_string()) texts.push_back(lack.get<std::string>());
  }
  return section("Limitations of the log, and assumptions", items(texts));
}

// Policies which may preempt jobs, and how often they did.
std::string checkpointing(const Json& document) {
  std::vector<std::string> texts;
  for (const Json& row : list_or_empty(document, "runs")) {
    const Json& needs = member_or_null(row, "needs_checkpointing");
    if (!needs.is_boolean() || !needs.get<bool>()) continue;
    texts.push_back(PolicyLabels::short_label(text(row, "policy")) + ": " +
                    cell(row, "preemptions", 0) + " preemptions of " +
                    cell(row, "preempted_jobs", 0) + " jobs");
  }
  return section("Policies that preempt: jobs need checkpointing", items(texts));
}

std::string interval_text(const Json& row) {
  const Json& conclusive = member_or_null(row, "conclusive");
  if (!conclusive.is_boolean() || member_or_null(row, "same") == true) return std::string(kAbsent);
  if (!conclusive.get<bool>()) return "inconclusive";
  return cell(row, "lo", 3) + " to " + cell(row, "hi", 3);
}

std::string by(const Json& document, const char* key, const char* name, const char* title) {
  const std::vector<Json> rows = list_or_empty(document, key);
  if (rows.empty()) return "";
  Table table({"<policy", "mean wait s", "p99 wait s", "longest wait s", "ratio to first policy",
               "95 % interval"});
  for (size_t r = 0; r < std::min(rows.size(), kMaxRows); ++r) {
    const std::string of = text(rows[r], name);
    const bool part = member_or_null(rows[r], "part_of_range") == true;
    table.group_heading((part ? "of these, exactly " : "") + (of.empty() ? "(none)" : of) +
                        (std::string_view(name) == "gpus" ? (of == "1" ? " GPU" : " GPUs") : "") +
                        ", " + cell(rows[r], "jobs", 0) + " jobs");
    for (const Json& row : list_or_empty(rows[r], "policies")) {
      table.row({escape(PolicyLabels::short_label(text(row, "policy"))),
                 cell(row, "mean_wait_s", 0), cell(row, "p99_wait_s", 0),
                 cell(row, "max_wait_s", 0),
                 member_or_null(row, "same") == true ? "the same" : cell(row, "ratio", 3),
                 interval_text(row)});
    }
  }
  std::string out = table.html();
  if (rows.size() > kMaxRows) out += "<p>The others are in the JSON document.</p>\n";
  return section(title, out);
}

}  // namespace

std::string whatif_section(const RunRecord& run) {
  std::string out;
  for (const JsonFile& document : run.replays) {
    const Json& json = document.json;
    if (!json.contains("by_size")) continue;  // no output of whatif
    out += verdicts(json) + limitations(json) + checkpointing(json) +
           by(json, "by_size", "gpus", "By job size") +
           by(json, "by_partition", "partition", "By partition") +
           by(json, "by_user", "user", "By user");
  }
  return out;
}

}  // namespace yard::report
