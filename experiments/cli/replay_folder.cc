#include "experiments/cli/replay_folder.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "env/base/files/file.h"
#include "experiments/report/page.h"
#include "experiments/report/plain_tables.h"

namespace yard::sim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// All options with their values, given or default.
RunFolder::Config config_of(const CLI::App& app) {
  RunFolder::Config config;
  for (const CLI::Option* option : app.get_options()) {
    std::string name = option->get_name();
    if (name == "--help" || name == "-h,--help") continue;
    name.erase(0, name.find_first_not_of('-'));
    std::string value;
    for (const std::string& one : option->results()) value += (value.empty() ? "" : ",") + one;
    if (option->count() == 0) value = option->get_default_str();
    config.emplace_back(name, value);
  }
  return config;
}

}  // namespace

ReplayFolder::ReplayFolder(std::string out, std::string page)
    : out_(std::move(out)), page_(std::move(page)) {
  if (!out_.empty()) RunFolder::require_unoccupied_path(out_);
  if (!page_.empty()) report::require_writable_page_path(page_, "--report");
}

ReplayFolder::~ReplayFolder() {
  if (!run_ || done_) return;
  std::error_code error;
  fs::remove_all(out_, error);
}

void ReplayFolder::begin(const CLI::App& app, const Scenario& scenario, const std::string& command,
                         uint64_t seed) {
  if (out_.empty()) return;
  run_.emplace(
      RunFolder::create(out_, config_of(app),
                        {.command = command,
                         .seed = seed,
                         .traces = {{scenario.trace.source, scenario.trace.sha256, command}}}));
}

void ReplayFolder::finish(const Json& document, const SimulationRecorder& recording) {
  if (!enabled()) return;
  report::RunRecord record;
  record.name = fs::path(document["trace"]["source"].get<std::string>()).filename().string();
  AtomicFiles files;
  const bool has_series = !recording.series()["series"].empty();
  if (run_) {
    const fs::path tables = fs::path(out_) / "tables";
    fs::create_directories(tables);
    files.add(run_->evaluations() / "simulate.json", json_text(document));
    files.add(run_->evaluations() / "jobs.csv", recording.rows());
    if (has_series) {
      files.add(run_->evaluations() / "series.json", json_text(recording.series(), -1));
      files.add(tables / "waits.csv", recording.wait_rows());
    }
    for (const report::PlainTable& table : report::plain_tables(document["runs"])) {
      files.add(tables / (table.name + ".csv"), table.csv());
    }
    files.commit();
    run_->set_state(RunState::kDone);
    record = report::read_run(out_);
  } else {
    report::add_json_file(page_, document, record);
    report::add_json_file(page_, recording.series(), record);
    report::add_jobs(page_, recording.rows(), record);
    report::assign_labels(record);
  }
  std::vector<report::RunRecord> records;
  records.push_back(std::move(record));
  write_pages(report::render_page(records));
}

void ReplayFolder::finish(const Json& document, const std::string& rows, const std::string& page) {
  if (run_) {
    AtomicFiles files;
    files.add(run_->evaluations() / "whatif.json", json_text(document));
    files.add(run_->evaluations() / "jobs.csv", rows);
    files.commit();
    run_->set_state(RunState::kDone);
  }
  write_pages(page);
}

void ReplayFolder::write_pages(const std::string& html) {
  if (run_) write_file_atomic(fs::path(out_) / "report.html", html);
  if (!page_.empty()) write_file_atomic(page_, html);
  done_ = true;
}

void ReplayFolder::print_page_paths() const {
  for (const std::string& file : {page_, out_.empty() ? "" : out_ + "/report.html"}) {
    if (!file.empty()) std::fprintf(stderr, "report: %s\n", file.c_str());
  }
}

}  // namespace yard::sim
