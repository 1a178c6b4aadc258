#include "env/trace/formats/load_trace.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/files/file.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/trace/formats/reject_file.h"

namespace yard {
namespace {

using Readers = Registry<TraceReader>;
using Generators = Registry<TraceGenerator>;

constexpr std::string_view kSynthetic = "synthetic:";

struct Recognised {
  std::string format;
  bool lower_case_names = false;  // the format's names are those of the file in lower case
};

// Returns the format that recognises the file. Throws InputError if none does, or several do.
Recognised recognise(const FileHead& head, const Renames& renames) {
  // With --columns, a table that has our columns is ours, whatever else it looks like.
  const std::string own = head.is_json() ? "yardmaster-jsonl" : "yardmaster";
  if (!renames.empty() && Readers::make(own, {})->recognises(head)) return {own};
  const auto fits = [](const FileHead& one) {
    std::vector<std::string> out;
    for (const std::string& name : Readers::names()) {
      if (Readers::make(name, {})->recognises(one)) out.push_back(name);
    }
    return out;
  };
  std::vector<std::string> fitting = fits(head);
  bool lower = false;
  if (fitting.empty() && renames.empty() && !head.is_json()) {
    // Names in capitals, as databases export them.
    const std::string names = lower_case(head.line(1));
    FileHead lowered = head;
    lowered.columns = split_column_names(names, separator_of(names));
    fitting = fits(lowered);
    lower = true;
  }
  if (fitting.size() == 1) return {fitting.front(), lower};
  if (!fitting.empty()) {
    throw InputError(head.name + ":1", "columns of exactly one format",
                     "columns of " + join(fitting) + "; select one with --format");
  }
  if (renames.empty()) reject_unknown_format(head);
  return {own};
}

// Returns the generator and a hash of everything that determines its jobs.
std::pair<std::unique_ptr<TraceGenerator>, std::string> generator_of(const std::string& source,
                                                                     const LoadOptions& options) {
  if (!options.format.empty()) {
    throw InputError(source, "no --format with a generator", "'" + options.format + "'");
  }
  if (const GivenSetting* const columns = options.settings.find("columns")) {
    throw InputError(columns->origin, "a file: a synthetic trace has no columns",
                     "'" + source + "'");
  }
  const std::string name = source.substr(kSynthetic.size());
  require_registered_name<Generators>("--trace synthetic:NAME", name);
  auto generator = Generators::make(name, options.settings);
  const std::string sha256 =
      sha256_hex("generator=" + name + "\nparameters=" + generator->parameters_hash() + "\nseed=" +
                 std::to_string(options.seed) + "\njobs=" + std::to_string(options.jobs) +
                 "\ncluster_gpus=" + std::to_string(options.cluster_gpus) + "\n");
  return {std::move(generator), sha256};
}

Trace generate(const std::string& source, const LoadOptions& options) {
  const auto [generator, sha256] = generator_of(source, options);
  Trace trace;
  trace.source = trace.format = source;
  trace.jobs = generator->generate({options.seed, options.jobs, options.cluster_gpus});
  trace.sha256 = sha256;
  return trace;
}

// Removes --columns from the settings: it belongs to no reader, but to all with column names.
Renames take_renames(Settings& settings) {
  constexpr std::string_view kColumns = "columns";
  const GivenSetting* const given = settings.find(kColumns);
  if (given == nullptr) return {};
  Renames renames;
  if (!given->value.empty()) renames = parse_renames(given->value, given->origin);
  Settings others;
  for (const GivenSetting& one : settings.entries()) {
    if (one.key != kColumns) others.set(one.key, one.value, one.origin);
  }
  settings = std::move(others);
  return renames;
}

void refuse_folder(const std::string& source) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(source, error)) return;
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(source, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path().filename().string());
  }
  std::ranges::sort(files);
  constexpr size_t kShown = 5;
  const bool more = files.size() > kShown;
  if (more) files.resize(kShown);
  throw InputError(
      source, "a trace",
      files.empty() ? "a folder without files"
                    : "a folder: name one of its files (" + join(files) + (more ? ", ...)" : ")"));
}

// Whether a name is probably of a time or duration.
bool is_time_name(std::string_view name) {
  const std::string plain = normalised_name(name);
  const auto has = [&](std::string_view part) { return plain.find(part) != plain.npos; };
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"time", "durat", "submi", "arriv", "interval",
                                              "start", "end"},
      has);
}

// Throws InputError if --columns gives the format a column that it does not read so: one without a
// header line, Slurm's own names, a time in another unit. Yardmaster's own formats convert units.
void check_columns(const Renames& renames, const Layout& layout, const std::string& format) {
  if (renames.empty() || format == "yardmaster" || format == "yardmaster-jsonl") return;
  const auto& [name, column] = renames.front();
  if (format == "sacct") {
    throw InputError("--columns",
                     "job_id, submit_s, run_s and gpus to read a table of your own (columns of a "
                     "Slurm log need no --columns)",
                     "'" + name + "=" + column + "' for the format sacct");
  }
  if (layout.names == 0) {
    throw InputError("--columns", "a format with a header line", "'" + format + "'");
  }
  for (const auto& [to, from] : renames) {
    const TimeUnit* const unit = unit_in_column_name(from);
    const TimeUnit* const other = unit_in_column_name(to);
    if (unit == nullptr || *unit == (other == nullptr ? kInSeconds : *other)) continue;
    if (!is_time_name(to)) continue;
    throw InputError("--columns " + to + "=" + from,
                     "a column in the unit of " + to + " in the format " + format,
                     std::string("one in ") + unit->name + " by its name: convert it first");
  }
}

Trace read_trace(Lines lines, const LoadOptions& options) {
  FileHead head = FileHead::of(lines.name(), lines.first_bytes());
  reject_unreadable_file(head);
  Settings settings = options.settings;
  const Renames renames = take_renames(settings);
  std::vector<std::string> renamed;
  if (!renames.empty() && !head.is_json()) {
    const auto names = split_column_names(head.line(1), separator_of(head.line(1)));
    renamed.assign(names.begin(), names.end());
    rename_columns(renames, head.name + ":1", renamed);
    head.columns.assign(renamed.begin(), renamed.end());
    std::erase_if(head.columns, is_pandas_index_name);
  }
  Trace trace;
  trace.source = head.name;
  if (!options.format.empty()) require_registered_name<Readers>("--format", options.format);
  const Recognised found =
      options.format.empty() ? recognise(head, renames) : Recognised{options.format};
  trace.format = found.format;
  const auto reader = Readers::make(trace.format, settings);
  Layout layout = reader->layout();
  layout.lower_case_names = found.lower_case_names;
  check_columns(renames, layout, trace.format);
  Rows rows(lines, layout, renames);
  reader->read(rows);
  rows.finish(options.skip_unusable, trace);
  trace.sha256 = lines.sha256();
  return trace;
}

}  // namespace

bool is_synthetic(std::string_view source) { return source.starts_with(kSynthetic); }

std::string synthetic_parameters_sha256(const std::string& source, const LoadOptions& options) {
  return generator_of(source, options).second;
}

Trace load_trace(const std::string& source, const LoadOptions& options) {
  if (is_synthetic(source)) return generate(source, options);
  refuse_folder(source);
  return read_trace(Lines::of_file(source), options);
}

Trace parse_trace(std::string_view text, const std::string& source, const LoadOptions& options) {
  return read_trace(Lines::of_text(text, source), options);
}

std::vector<TraceSource> list_trace_sources() {
  std::vector<TraceSource> sources;
  for (const std::string& name : Readers::names()) {
    const TraceReader::Info& info = Readers::info(name);
    sources.push_back({name, info.help, info.fields()});
  }
  for (const std::string& name : Generators::names()) {
    const TraceGenerator::Info& info = Generators::info(name);
    sources.push_back({std::string(kSynthetic) + name, info.help, info.fields()});
  }
  return sources;
}

}  // namespace yard
