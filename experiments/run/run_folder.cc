#include "experiments/run/run_folder.h"

#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "env/base/config/settings.h"
#include "env/base/core/check.h"
#include "env/base/core/error.h"
#include "env/base/core/version.h"
#include "env/base/files/file.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/json_flaw.h"
#include "experiments/run/append_file.h"
#include "experiments/run/machine.h"
#include "experiments/run/metrics_csv.h"
#include "experiments/run/tensorboard.h"

namespace yard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;

// One dotted key per line, which Settings::from_yaml() reads.
std::string yaml_of(const RunFolder::Config& config) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  for (const auto& [key, value] : config) out << YAML::Key << key << YAML::Value << value;
  out << YAML::EndMap;
  YARD_CHECK(out.good(), out.GetLastError());
  return std::string(out.c_str()) + "\n";
}

Json version_json() {
  Json out = {{"release", release_version()}, {"commit", source_commit()}};
  for (const BuildFact& fact : build_facts()) out[std::string(fact.name)] = fact.value;
  return out;
}

// Leading folders are specific to a machine and are dropped.
Json trace_json(const UsedTrace& trace) {
  const bool generated = trace.source.starts_with("synthetic:");
  return {{"source", generated ? trace.source : fs::path(trace.source).filename().string()},
          {"sha256", trace.sha256},
          {"used_as", trace.used_as}};
}

Json new_run_json(const RunInfo& info) {
  const Machine machine = this_machine();
  Json traces = Json::array();
  for (const UsedTrace& trace : info.traces) traces.push_back(trace_json(trace));
  return {{"format", kFormat},
          {"command", info.command},
          {"agent", info.agent},
          {"seed", info.seed},
          {"state", name_of(RunState::kRunning)},
          {"started", utc_now()},
          {"ended", nullptr},
          {"resumed", Json::array()},
          {"traces", traces},
          {"machine",
           {{"cpu", machine.cpu}, {"cores", machine.cores}, {"memory_gib", machine.memory_gib}}},
          {"yardmaster", version_json()}};
}

void write_json(const fs::path& path, const Json& json) {
  write_file_atomic(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Throws InputError which says what occupies the path of a run.
[[noreturn]] void refuse(const fs::path& path) {
  std::string there = "something else";
  if (fs::exists(path / "run.json")) {
    there = fs::exists(RunFolder::resume_state_path(path))
                ? "a run (--resume continues it)"
                : "a run without a saved state to resume (remove it or choose another folder)";
  }
  throw InputError(path.string(), "a new or empty folder for a run", there);
}

// Returns `given` without a trailing slash. Throws InputError if it is occupied or empty.
fs::path checked(const fs::path& given) {
  fs::path path = given.has_filename() ? given : given.parent_path();
  if (path.empty()) throw InputError("run folder", "a path", "nothing");
  std::error_code error;
  if (!fs::exists(path, error) || (fs::is_directory(path, error) && fs::is_empty(path, error))) {
    return path;
  }
  refuse(path);
}

}  // namespace

std::string_view name_of(RunState state) {
  constexpr std::string_view kNames[] = {"running", "done", "interrupted", "failed"};
  return kNames[static_cast<int>(state)];
}

struct RunFolder::Impl {
  fs::path path;
  RunInfo info;
  Json run;
  AppendFile log;
  MetricsCsv metrics;
  std::optional<TensorBoardFile> events;
  bool active = false;

  void save() const { write_json(path / "run.json", run); }
  TensorBoardFile& tensorboard() {
    if (!events) events.emplace(path);
    return *events;
  }
};

RunFolder::RunFolder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;

RunFolder::~RunFolder() {
  if (!impl_ || !impl_->active || impl_->run["state"] != name_of(RunState::kRunning)) return;
  try {
    set_state(interrupted() ? RunState::kInterrupted : RunState::kFailed);
  } catch (const std::exception&) {  // the first failure is the one to report
  }
}

void RunFolder::require_unoccupied_path(const fs::path& path) { checked(path); }

fs::path RunFolder::resume_state_path(const fs::path& path) {
  return path / "checkpoints" / "training_state";
}

RunFolder RunFolder::create(const fs::path& given, const Config& config, const RunInfo& info) {
  const fs::path path = checked(given);
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::create_directories(parent, error);
  if (error) throw InputError(parent.string(), "a folder that can be created", error.message());
  {
    // The folder appears with its first files in it. rename() fails if another run was faster.
    AtomicDirectory fresh(path);
    write_file_atomic(fresh.temporary_path() / "config.yaml", yaml_of(config));
    write_json(fresh.temporary_path() / "run.json", new_run_json(info));
    write_file_atomic(fresh.temporary_path() / "log.txt", "");
    fs::create_directory(fresh.temporary_path() / "checkpoints");
    fs::create_directory(fresh.temporary_path() / "evaluations");
    if (::rename(fresh.temporary_path().c_str(), path.c_str()) != 0) {
      if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) refuse(path);
      throw RunError(path.string() + ": " + std::strerror(errno));
    }
  }
  RunFolder run = open(path);
  run.impl_->active = true;
  run.impl_->tensorboard();
  return run;
}

RunFolder RunFolder::open(const fs::path& path) {
  const fs::path file = path / "run.json";
  if (!fs::exists(file)) {
    throw InputError(path.string(), "a run folder with run.json", "none");
  }
  Json run = Json::parse(read_file(file), nullptr, false);
  RunInfo info;
  try {
    if (run.at("format") != kFormat) {
      throw InputError(file.string(), "format " + std::to_string(kFormat), run.at("format").dump());
    }
    info.command = run.at("command");
    info.agent = run.at("agent");
    info.seed = run.at("seed");
    for (const Json& trace : run.at("traces")) {
      info.traces.push_back({trace.at("source"), trace.at("sha256"), trace.at("used_as")});
    }
    run.at("resumed").get_ref<const Json::array_t&>();  // mark_resumed() appends to it
  } catch (const Json::exception& error) {
    throw InputError(file.string(), "the record of a run", json_error_text(error));
  }
  AppendFile log(path / "log.txt");
  if (!log.lock()) {
    throw InputError(path.string(), "a run that no other process writes", "a run in progress");
  }
  for (const fs::path& folder : {path, path / "checkpoints"}) remove_unfinished_files(folder);
  return RunFolder(
      std::make_unique<Impl>(Impl{path, std::move(info), std::move(run), std::move(log),
                                  MetricsCsv(path / "metrics.csv"), std::nullopt}));
}

void RunFolder::mark_resumed() {
  impl_->active = true;
  impl_->run["resumed"].push_back(
      {{"at", utc_now()}, {"release", release_version()}, {"commit", source_commit()}});
  set_state(RunState::kRunning);
}

const fs::path& RunFolder::path() const { return impl_->path; }
const RunInfo& RunFolder::info() const { return impl_->info; }

void RunFolder::log(std::string_view line) {
  impl_->log.write(utc_now() + " " + std::string(line) + "\n");
}

void RunFolder::add_metrics(int64_t step, const Metrics& values) {
  impl_->metrics.add(step, values);
  impl_->tensorboard().write_scalars(step, values);
}

void RunFolder::drop_metrics_after(int64_t step) {
  impl_->metrics.drop_after(step);
  impl_->tensorboard().mark_restart_at(step + 1);
}

void RunFolder::add_trace(const UsedTrace& trace) {
  impl_->info.traces.push_back(trace);
  impl_->run["traces"].push_back(trace_json(trace));
  impl_->save();
}

void RunFolder::update_config(const Config& config) {
  const Settings kept = Settings::from_yaml(config_file().string());
  std::map<std::string, std::string> before;
  for (const GivenSetting& s : kept.entries()) before[s.key] = s.value;
  bool changed = false;
  for (const auto& [key, value] : config) {
    const std::string was = before.contains(key) ? before[key] : "unset";
    if (was == value) continue;
    log(key + " changed from " + was + " to " + value);
    changed = true;
  }
  if (changed) write_file_atomic(config_file(), yaml_of(config));
}

void RunFolder::set_state(RunState state) {
  impl_->run["state"] = name_of(state);
  impl_->run["ended"] = state == RunState::kRunning ? Json(nullptr) : Json(utc_now());
  impl_->save();
}

}  // namespace yard
