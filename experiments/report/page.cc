#include "experiments/report/page.h"

#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/files/file.h"
#include "experiments/report/html.h"
#include "experiments/report/sections.h"
#include "experiments/report/style.h"
#include "experiments/run/machine.h"

namespace yard::report {
namespace {

std::string title_of(const Runs& runs) {
  std::string out;
  for (const RunRecord* run : runs) out += (out.empty() ? "" : ", ") + run->name;
  if (runs.size() > 1) return "Runs " + out;
  // Folders are often called "run", so the title does not put "run" before the name.
  const std::string agent = runs[0]->is_from_run_folder() ? runs[0]->agent() : "";
  return "Results in " + out + (agent.empty() ? "" : " (agent " + agent + ")");
}

std::string own_sections(const RunRecord& run) {
  PolicyLabels names;
  for (const JobsFile& file : run.jobs) {  // the trained policy gets the first colour
    for (const PolicyCompletionTimes& of : file.policies) {
      if (of.policy.starts_with("checkpoint:"))
        names.colour_index(PolicyLabels::label(run, of.policy));
    }
  }
  return cells_section(run) + whatif_section(run) + replays_section(run) +
         replay_tables_section(run) + completion_times_section(run, names) +
         cluster_over_time_section(run, names) + all_metrics(run) + settings(run);
}

// Results come first, provenance last.
std::string body(const Runs& runs) {
  const std::string sentence = headline(runs);
  std::string out = sentence.empty() ? "" : "<p class='headline'>" + escape(sentence) + "</p>\n";
  if (runs.size() == 1) {
    return out + comparison_section(runs) + learning_section(runs) + own_sections(*runs[0]) +
           provenance_section(*runs[0]);
  }
  out += comparison_section(runs) + learning_section(runs) + settings_diff(runs);
  for (const RunRecord* run : runs) {
    out += "<article><h1>" + escape(run->name) + "</h1>\n" + own_sections(*run) +
           provenance_section(*run) + "</article>\n";
  }
  return out + runs_table(runs);
}

}  // namespace

std::string render_page(const std::vector<RunRecord>& records) {
  YARD_CHECK(!records.empty(), "a report needs at least one run");
  Runs runs;
  for (const RunRecord& record : records) runs.push_back(&record);
  const std::string title = escape(title_of(runs));
  return "<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'/>\n"
         "<meta name='viewport' content='width=device-width, initial-scale=1'/>\n"
         // The page loads nothing from elsewhere, and browsers enforce it.
         "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src "
         "'unsafe-inline'\"/>\n<title>Yardmaster: " +
         title + "</title>\n<style>" + kStyle + "</style></head>\n<body>\n<header><h1>" + title +
         "</h1></header>\n<main>\n" + body(runs) + "</main>\n<footer>Written " + utc_now() +
         " by yardmaster " + escape(release_version()) + ", commit " + escape(source_commit()) +
         ". Definitions of the metrics: docs/reference/metrics.md.</footer>\n</body></html>\n";
}

void require_writable_page_path(const std::string& path, const std::string& option) {
  check_writable(path);
  if (!std::filesystem::is_regular_file(path)) return;
  const std::string there = read_file(path);
  if (there.empty()) return;
  if (there.starts_with("<!DOCTYPE html>") && there.find("yardmaster") != there.npos) return;
  throw InputError(
      path, "no file, or a page written by yardmaster (choose another file with " + option + ")",
      "a different file, which was not changed");
}

}  // namespace yard::report
