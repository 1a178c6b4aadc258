#include "env/trace/core/column_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/trace/core/split_line.h"

namespace yard {
namespace {

constexpr std::string_view kSeparators = ",;\t|";

// Like split_line(), but a separator does not separate within double quotes, which begin a field
// or come after '='.
std::vector<std::string_view> split_outside_quotes(std::string_view line, char separator) {
  if (line.find('"') == line.npos || ends_inside_quotes(line, separator)) {
    return split_line(line, separator);
  }
  std::vector<std::string_view> parts;
  bool quoted = false;
  size_t from = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const std::string_view before = trim(line.substr(from, i - from));
    if (line[i] == '"') {  // twice within quotes: one that belongs to the text
      const bool opens = before.empty() || before.back() == '=' || line[i - 1] == '"';
      quoted = !quoted && opens;
    }
    if (quoted || line[i] != separator) continue;
    parts.push_back(line.substr(from, i - from));
    from = i + 1;
  }
  parts.push_back(line.substr(from));
  return parts;
}

std::string_view without_quotes(std::string_view text) {
  text = trim(text);
  const bool quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
  return quoted ? trim(text.substr(1, text.size() - 2)) : text;
}

// Returns "--columns name=COLUMN,..." as a shell takes it.
std::string columns_option(const std::vector<std::string>& pairs) {
  const std::string value = join(pairs, ",");
  const bool plain = std::ranges::all_of(value, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::string_view("_-.,:=/+@%").find(c) != std::string_view::npos;
  });
  if (plain) return "--columns " + value;
  std::string out = "--columns '";
  for (const char c : value) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string renamed_pair(const std::string& name, const std::string& column) {
  const bool quotes = column.find(',') != column.npos;
  return name + "=" + (quotes ? "\"" + column + "\"" : column);
}

// Names that sites use for the required columns, and for start and end, by normalised_name(); the
// likeliest first.
struct Synonyms {
  std::string_view name;
  std::vector<std::string_view> others;
  std::vector<std::string_view> parts;  // parts of longer names
};
const std::vector<Synonyms> kSynonyms = {
    {"job_id",
     {"jobid", "id", "job", "jobidraw", "jobname", "jobnumber", "taskid", "uuid", "name"},
     {"jobid", "jobname"}},
    {"submit_s",
     {"submit", "submittime", "submittedtime", "submissiontime", "submitted", "submission",
      "arrivaltime", "arrival", "arrivals", "arrives", "createtime", "creationtime", "created",
      "createdat", "queuedat", "queuetime", "timestamp", "time"},
     {"submi", "arriv", "creat"}},
    {"run_s",
     {"run", "runtime", "runtimes", "duration", "durations", "elapsed", "elapsedraw", "elapsedtime",
      "servicetime", "servicesec", "executiontime", "jobduration", "walltime", "length"},
     {"runtime", "durat", "elaps", "servic", "execut"}},
    {"gpus",
     {"gpu", "numgpus", "numgpu", "gpunum", "gpucount", "ngpus", "ngpu", "gpusrequested",
      "requestedgpus", "reqgpus", "allocgpus", "gpurequest", "plangpu", "numreplicas"},
     {"gpu"}},
    {"start_s",
     {"start", "starttime", "startedat", "started", "starts", "startat", "startdate",
      "starttimestamp", "begin", "begintime", "began", "begins", "beganat", "dispatchtime"},
     {"starttime", "startedat", "begintime"}},
    {"end_s",
     {"end", "endtime", "endedat", "ended", "ends", "endat", "enddate", "endtimestamp", "finish",
      "finishtime", "finishedat", "finished", "completiontime", "completedat", "stoptime",
      "stoppedat", "stopped"},
     {"endtime", "endedat", "finish", "completedat", "stoptime"}}};

}  // namespace

char separator_of(std::string_view line) {
  std::array<size_t, kSeparators.size()> count{};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    const size_t which = kSeparators.find(c);
    if (!quoted && which != kSeparators.npos) ++count[which];
  }
  return kSeparators[static_cast<size_t>(std::ranges::max_element(count) - count.begin())];
}

std::vector<std::string_view> split_column_names(std::string_view line, char separator) {
  std::vector<std::string_view> names = split_outside_quotes(line, separator);
  for (std::string_view& name : names) name = without_quotes(name);
  return names;
}

bool is_pandas_index_name(std::string_view name) {
  return name.empty() || name.starts_with("Unnamed: ");
}

bool is_missing(std::string_view cell) {
  constexpr std::array<std::string_view, 10> kMissing = {"nan", "none", "null", "<na>", "na",
                                                         "n/a", "nat",  "#n/a", "-nan", "\\n"};
  cell = trim(cell);
  return cell.empty() || (cell.size() <= 4 && std::ranges::count(kMissing, lower_case(cell)) > 0);
}

Renames parse_renames(std::string_view text, std::string_view where) {
  Renames out;
  for (const std::string_view part : split_outside_quotes(text, ',')) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name(trim(part.substr(0, equals)));
    const std::string column(without_quotes(part.substr(std::min(equals + 1, part.size()))));
    if (name.empty() || column.empty()) {
      throw InputError(std::string(where), "NAME=COLUMN,NAME=COLUMN, such as job_id=JobName",
                       "'" + std::string(part) + "'");
    }
    const auto same = [&](const auto& one) { return one.first == name; };
    if (std::ranges::any_of(out, same)) {
      throw InputError(std::string(where), "each name once", "'" + name + "' twice");
    }
    out.emplace_back(name, column);
  }
  return out;
}

void rename_columns(const Renames& renames, const std::string& where,
                    std::vector<std::string>& columns) {
  const std::vector<std::string> before = columns;
  std::vector<size_t> found;
  for (const auto& [name, column] : renames) {
    auto at = std::ranges::find(before, column);
    if (at == before.end()) {
      at = std::ranges::find_if(before, [wanted = normalised_name(column)](const std::string& one) {
        return normalised_name(one) == wanted;
      });
    }
    if (at == before.end()) {
      throw InputError(where, "a column '" + column + "' for --columns " + name + "=" + column,
                       "'" + join(before, ",") + "'" + did_you_mean(column, before));
    }
    found.push_back(static_cast<size_t>(at - before.begin()));
  }
  for (std::string& column : columns) {
    const auto takes = [&](const auto& one) { return one.first == column; };
    if (std::ranges::any_of(renames, takes)) column.clear();
  }
  for (size_t i = 0; i < found.size(); ++i) columns[found[i]] = renames[i].first;
}

std::optional<std::string> nearest_column(std::string_view name,
                                          const std::vector<std::string>& all_columns) {
  std::vector<std::string> plain, columns = all_columns;
  if (name == "gpus") {
    // Close in letters, and another quantity: cpus, gpu_hours, gpus_per_node, gpu_util.
    std::erase_if(columns, [](const std::string& column) {
      const std::string one = normalised_name(column);
      return std::ranges::any_of(std::array{"cpu", "hour", "per", "util", "mem"},
                                 [&](const char* part) { return one.find(part) != one.npos; });
    });
  }
  for (const std::string& column : columns) plain.push_back(normalised_name(column));
  const auto take = [&](auto&& fits) -> std::optional<std::string> {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!plain[i].empty() && fits(plain[i])) return columns[i];
    }
    return std::nullopt;
  };
  const std::string own = normalised_name(name);
  if (const auto same = take([&](const std::string& one) { return one == own; })) return same;
  const auto known = std::ranges::find(kSynonyms, name, &Synonyms::name);
  if (known != kSynonyms.end()) {
    for (const std::string_view other : known->others) {
      if (const auto same = take([&](const std::string& one) { return one == other; })) return same;
    }
    for (const std::string_view part : known->parts) {
      const auto has = [&](const std::string& one) { return one.find(part) != one.npos; };
      if (const auto longer = take(has)) return longer;
    }
  }
  if (name == "start_s" || name == "end_s") return std::nullopt;  // "status" is no slip of "starts"
  if (const auto slip = nearest_name(name, columns)) return slip;
  if (known == kSynonyms.end()) return std::nullopt;
  for (const std::string_view other : known->others) {
    if (other.size() < 5) continue;
    if (const auto slip =
            take([&](const std::string& one) { return is_probable_typo(one, other); })) {
      return slip;
    }
  }
  return std::nullopt;
}

std::string missing_column_advice(const std::vector<std::string>& missing,
                                  const std::vector<std::string>& columns,
                                  const std::string& what) {
  std::vector<std::string> left = columns, guesses, option;
  const std::string any = what == "key" ? "KEY" : "COLUMN";
  bool all = true;
  for (const std::string& name : missing) {
    const auto guess = nearest_column(name, left);
    all = all && guess.has_value();
    option.push_back(guess ? renamed_pair(name, *guess) : name + "=" + any);
    if (!guess) continue;
    guesses.push_back("`" + *guess + "`");
    std::erase(left, *guess);
  }
  const std::string how = columns_option(option);
  if (guesses.empty()) return "set the " + what + " with " + how;
  return "did you mean the " + what + (guesses.size() > 1 ? "s " : " ") + join(guesses) + "? " +
         how + (all ? "" : " (" + any + ": a " + what + " of the file)");
}

}  // namespace yard
