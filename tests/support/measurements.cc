#include "tests/support/measurements.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace yard::testing {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr const char* kModel = "unit";

void add_placements(int gpus, int max_piece, const std::string& so_far,
                    std::vector<std::string>& out) {
  if (gpus == 0) out.push_back(so_far);
  for (int take = std::min(gpus, max_piece); take > 0; --take) {
    const std::string next = so_far.empty() ? "" : so_far + "+";
    add_placements(gpus - take, take, next + std::to_string(take), out);
  }
}

std::string rates_csv(const std::vector<Job>& jobs, int node_gpus) {
  std::string csv = "job,placement,epoch,goodput,next_progress,completion_epoch\n";
  for (const Job& job : jobs) {
    const std::string work = std::to_string(job.run_us / kUsPerS);
    for (const std::string& placement : placements_of(job.gpus, node_gpus)) {
      csv += job.id + "," + placement + ",0,1," + work + ",0\n";
    }
  }
  if (jobs.empty()) csv += "nobody,1,0,1,1,0\n";
  return csv;
}

std::string throughputs_json(const std::vector<Job>& jobs) {
  std::set<int> sizes = {1};
  for (const Job& job : jobs) sizes.insert(job.gpus);
  std::string kinds;
  for (const int gpus : sizes) {
    if (!kinds.empty()) kinds += ", ";
    kinds += std::string("\"('") + kModel + "', " + std::to_string(gpus) + ")\": {\"null\": 1000}";
  }
  return "{\"v100\": {" + kinds + "}}\n";
}

}  // namespace

std::vector<Job> with_work(std::vector<Job> jobs) {
  for (Job& job : jobs) {
    job.model = kModel;
    job.iterations = static_cast<double>(job.run_us / 1000);
  }
  return jobs;
}

std::vector<std::string> placements_of(int gpus, int max_piece) {
  std::vector<std::string> placements;
  add_placements(gpus, max_piece, "", placements);
  return placements;
}

std::string written(const std::string& name, const std::string& text) {
  // The folder is removed when the program exits.
  static struct Folder {
    std::filesystem::path path = std::filesystem::path(::testing::TempDir()) /
                                 ("yard_measurements_" + std::to_string(::getpid()));
    int files = 0;
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  const auto path = folder.path / (std::to_string(folder.files++) + "_" + name);
  std::ofstream(path) << text;
  return path.string();
}

Settings measurements_for(const std::vector<std::string>& needs, const std::vector<Job>& jobs,
                          int node_gpus) {
  Settings settings;
  for (const std::string& need : needs) {
    std::string path;
    if (need == "rates") path = written("rates.csv", rates_csv(jobs, node_gpus));
    if (need == "throughputs") path = written("throughputs.json", throughputs_json(jobs));
    EXPECT_FALSE(path.empty()) << "cannot make a file for '" << need << "'";
    settings.set(need, path, "test");
  }
  return settings;
}

}  // namespace yard::testing
