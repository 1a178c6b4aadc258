// report: writes a static HTML page about run folders or files of simulate, evaluate and whatif.
#include <cstdio>

#include "env/base/files/file.h"
#include "experiments/cli/command.h"
#include "experiments/report/page.h"

namespace yard::sim {
namespace {

int run_report(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> paths;
  std::string out;
  bool json = false;
  app.option_defaults()->group("Output");
  app.add_option("path", paths,
                 "run folders, and files written by --json-out, --jobs-out and --series-out (JSON)")
      ->required();
  app.add_option(
      "--out", out,
      "page to write (default: report.html in the folder of a single run, else in the current "
      "folder)");
  app.add_flag("--json", json, "print one JSON document");
  set_examples(app, {"yardmaster simulate --trace synthetic:habits --generate-jobs 300 "
                     "--cluster 2x8 --policy fifo,las --json-out result.json",
                     "yardmaster report result.json --out report.html"});
  if (!parse_arguments(app, argc, argv)) return 0;
  const std::vector<report::RunRecord> runs = report::read_all(paths);
  if (out.empty()) {
    const std::filesystem::path folder =
        runs.size() == 1 && runs[0].is_from_run_folder() ? paths[0] : "";
    out = (folder / "report.html").string();
  }
  const std::string page = report::render_page(runs);
  report::require_writable_page_path(out, "--out");
  write_file_atomic(out, page);
  if (json) {
    std::puts(nlohmann::ordered_json{{"report", out}, {"bytes", page.size()}}.dump(2).c_str());
  } else {
    std::puts(out.c_str());
  }
  return 0;
}

const Command kReport{
    "report", "Write a static page about runs, or about results of simulate, evaluate and whatif.",
    run_report};

}  // namespace
}  // namespace yard::sim
