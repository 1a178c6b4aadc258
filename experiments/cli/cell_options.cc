#include "experiments/cli/cell_options.h"

#include "env/base/core/error.h"
#include "experiments/cli/common_options.h"

namespace yard::sim {

void CellOptions::add_to(CLI::App& app) {
  app.get_option("--trace")->required(false);
  app.get_option("--cluster")->required(false);
  app.option_defaults()->group("Workload");
  app.add_option(
      "--cells", file,
      "YAML file of cells, such as experiments/cells.yaml, instead of --trace, --cluster "
      "and a window");
  app.add_option("--only", only,
                 "cells of --cells to use, comma-separated: GROUP, GROUP/TRACE or "
                 "GROUP/TRACE/xCONGESTION (default: all)");
}

std::optional<CellFile> CellOptions::read(const CLI::App& app,
                                          const std::vector<std::string>& also_excluded) const {
  if (file.empty()) {
    for (const char* needed : {"--trace", "--cluster"}) {
      if (app.count(needed) == 0) throw InputError(needed, "this option or --cells", "neither");
    }
    if (!only.empty()) throw InputError("--only", "--cells as well", "none");
    return std::nullopt;
  }
  std::vector<std::string> excluded_options = {
      "--trace",       "--format",        "--cluster",      "--rates",
      "--throughputs", "--jobs-from",     "--jobs-count",   "--from",
      "--to",          "--warmup",        "--congestion",   "--cost-scale",
      "--allow",       "--cluster-scale", "--load-scale",   "--profiles",
      "--faults",      "--skip-unusable", "--generate-jobs"};
  excluded_options.insert(excluded_options.end(), also_excluded.begin(), also_excluded.end());
  for (const std::string& option : excluded_options) {
    if (app.count(option) == 0) continue;
    throw InputError(option, "no --cells, because its file sets this", "--cells " + file);
  }
  return read_cells(file);
}

std::vector<CellSpec> CellOptions::selected(const CellFile& cells) const {
  std::vector<CellSpec> out =
      select_cells(cells, only.empty() ? std::vector<std::string>{} : split_list(only, "--only"));
  check_input_sha256(out);
  return out;
}

}  // namespace yard::sim
