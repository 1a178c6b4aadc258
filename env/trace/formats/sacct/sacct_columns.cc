#include "env/trace/formats/sacct/sacct_columns.h"

#include <algorithm>
#include <map>

#include "env/base/text/text.h"
#include "env/base/text/wall_clock.h"
#include "env/trace/formats/sacct/sacct_fields.h"

namespace yard {
namespace {

// What a field can hold if it is not empty.
enum class Shape {
  kText,     // anything
  kPath,     // anything after a '/'
  kCommand,  // anything after the name of one of Slurm's programs
  kId,
  kDate,
  kTime,    // a duration
  kState,   // of a job
  kNumber,  // digits with a unit
  kWord,    // a name: no blanks, no '/'
  kNodes,   // "node[01-04]", or "None assigned"
  kTres,    // key=value, each key once
  kList,    // gres:type:number
};

// Columns that are not listed hold any text.
const std::map<std::string_view, Shape> kColumns = [] {
  const std::pair<Shape, std::vector<std::string_view>> by_shape[] = {
      {Shape::kText,
       {"AdminComment", "Comment", "Constraints", "Container", "Extra", "JobName", "Reason",
        "Reservation", "StdErr", "StdIn", "StdOut", "SystemComment", "WCKey"}},
      {Shape::kPath, {"WorkDir"}},
      {Shape::kCommand, {"SubmitLine"}},
      {Shape::kId, {"JobID", "JobIDRaw"}},
      {Shape::kDate, {"Eligible", "End", "Start", "Submit"}},
      {Shape::kTime,
       {"CPUTime", "Elapsed", "Planned", "Suspended", "SystemCPU", "Timelimit", "TotalCPU",
        "UserCPU"}},
      {Shape::kState, {"State"}},
      {Shape::kNumber,
       {"AllocCPUS",  "AllocNodes",   "AssocID", "CPUTimeRAW", "DBIndex", "DerivedExitCode",
        "ElapsedRaw", "ExitCode",     "GID",     "MaxRSS",     "NCPUS",   "NNodes",
        "NTasks",     "Priority",     "QOSRAW",  "ReqCPUS",    "ReqMem",  "ReqNodes",
        "Restarts",   "TimelimitRaw", "UID"}},
      {Shape::kWord, {"Account", "Cluster", "Flags", "Group", "Partition", "QOS", "User"}},
      {Shape::kNodes, {"NodeList"}},
      {Shape::kTres, {"AllocTRES", "ReqTRES"}},
      {Shape::kList, {"AllocGRES", "ReqGRES"}}};
  std::map<std::string_view, Shape> out;
  for (const auto& [shape, columns] : by_shape) {
    for (const std::string_view column : columns) out[column] = shape;
  }
  return out;
}();

constexpr size_t kMaxSpareParts = 256;  // limit of parts in excess of the columns

bool only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    const bool plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    return plain || static_cast<unsigned char>(c) >= 0x80 || others.find(c) != others.npos;
  });
}

bool has_digit_first(std::string_view text) { return text[0] >= '0' && text[0] <= '9'; }

bool is_command(std::string_view text) {
  std::string_view program = text.substr(0, text.find_first_of(" \t\n"));
  program = program.substr(program.rfind('/') + 1);
  return program == "sbatch" || program == "srun" || program == "salloc" || program == "scrontab";
}

bool is_missing_word(std::string_view text) {
  return text == "Unknown" || text == "None" || text == "N/A" || text == "INVALID" ||
         text == "UNLIMITED" || text == "Partition_Limit";
}

bool is_tres(std::string_view text) {
  std::vector<std::string_view> keys;
  for (const std::string_view item : split(text, ',')) {
    const size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (equals == item.npos || !only(item.substr(equals + 1), ".") || !only(key, "_.-+/:") ||
        std::ranges::find(keys, key) != keys.end()) {
      return false;
    }
    keys.push_back(key);
  }
  return true;
}

bool fits(Shape shape, std::string_view text) {
  if (shape == Shape::kText) return true;
  if (shape == Shape::kPath) return text.empty() || text[0] == '/';
  text = trim(text);
  if (text.empty()) return shape != Shape::kId;
  switch (shape) {
    case Shape::kCommand:
      return is_command(text);
    case Shape::kId:
      return is_slurm_job_or_step_id(text);
    case Shape::kDate:
      return is_missing_word(text) || (has_digit_first(text) && only(text, "-:.+ "));
    case Shape::kTime:
      return is_missing_word(text) || (has_digit_first(text) && only(text, "-:."));
    case Shape::kState:
      return !parse_slurm_state(text).empty();
    case Shape::kNumber:
      return is_missing_word(text) || (has_digit_first(text) && only(text, ".:")) || text == "?";
    case Shape::kWord:
      return only(text, "_.-+@,$^:");
    case Shape::kNodes:
      return text == "None assigned" || only(text, "_.-,[]");
    case Shape::kTres:
      return is_tres(text);
    case Shape::kList:
      return has_digit_first(text) || (only(text, "_.-+/:=,()[]*") && text.front() != '/');
    default:
      return true;
  }
}

}  // namespace

std::string_view canonical_sacct_column(std::string_view name) {
  const auto exact = kColumns.find(name);
  if (exact != kColumns.end()) return exact->first;
  const std::string wanted = lower_case(name);
  for (const auto& [column, shape] : kColumns) {
    if (lower_case(column) == wanted) return column;
  }
  return {};
}

bool sacct_field_fits(std::string_view column, std::string_view text) {
  if (column.empty()) return trim(text).empty();  // after the last delimiter of --parsable
  const auto known = kColumns.find(column);
  return known == kColumns.end() || fits(known->second, text);
}

bool is_free_text_column(std::string_view column) {
  if (column.empty()) return false;
  const auto known = kColumns.find(column);
  return known == kColumns.end() || known->second <= Shape::kCommand;
}

std::string_view join_adjacent(const std::vector<std::string_view>& parts, size_t first,
                               size_t end) {
  const char* const begin = parts[first].data();
  const std::string_view last = parts[end - 1];
  return {begin, static_cast<size_t>(last.data() + last.size() - begin)};
}

std::vector<Reading> possible_field_splits(const std::vector<std::string>& columns,
                                           const std::vector<std::string_view>& parts,
                                           size_t most) {
  std::vector<Reading> readings;
  if (parts.size() < columns.size() || parts.size() > columns.size() + kMaxSpareParts)
    return readings;
  const size_t spare = parts.size() - columns.size();
  // fitting[c][s]: whether the columns from c on can take all parts from c + s on.
  std::vector<std::vector<char>> fitting(columns.size() + 1, std::vector<char>(spare + 1, 0));
  fitting[columns.size()][spare] = 1;
  for (size_t c = columns.size(); c-- > 0;) {
    for (size_t s = 0; s <= spare; ++s) {
      for (size_t more = 0; s + more <= spare && !fitting[c][s]; ++more) {
        fitting[c][s] = fitting[c + 1][s + more] &&
                        sacct_field_fits(columns[c], join_adjacent(parts, c + s, c + s + more + 1));
      }
    }
  }
  Reading reading;
  const auto extend = [&](const auto& self, size_t s) -> void {
    const size_t c = reading.size();
    if (c == columns.size()) {
      readings.push_back(reading);
      return;
    }
    for (size_t more = 0; s + more <= spare && readings.size() < most; ++more) {
      const size_t end = c + s + more + 1;
      if (!fitting[c + 1][s + more] ||
          !sacct_field_fits(columns[c], join_adjacent(parts, c + s, end))) {
        continue;
      }
      reading.push_back(end);
      self(self, s + more);
      reading.pop_back();
    }
  };
  if (fitting[0][0]) extend(extend, 0);
  return readings;
}

}  // namespace yard
