// report: a static page about one run folder, or several side by side.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env/base/file.h"
#include "experiments/programs/sim/command.h"
#include "experiments/report/page.h"

namespace yard::sim {
namespace {

int run_report(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> folders;
  std::string out;
  bool json = false;
  app.add_option("run", folders, "run folders")->required();
  app.add_option("--out", out,
                 "the page; by default report.html in the run's folder, for several runs here");
  app.add_flag("--json", json, "print one JSON document");
  if (!parse_arguments(app, argc, argv)) return 0;
  std::vector<report::RunRecord> runs;
  runs.reserve(folders.size());
  for (const std::string& folder : folders) runs.push_back(report::read_run(folder));
  if (out.empty()) {
    const std::filesystem::path beside = runs.size() == 1 ? folders[0] : "";
    out = (beside / "report.html").string();
  }
  const std::string page = report::render_page(runs);
  write_file_atomic(out, page);
  if (json) {
    std::puts(nlohmann::ordered_json{{"report", out}, {"bytes", page.size()}}.dump(2).c_str());
  } else {
    std::puts(out.c_str());
  }
  return 0;
}

const Command kReport{"report", "Writes a static page about one run or several.", run_report};

}  // namespace
}  // namespace yard::sim
