#include "env/trace/formats/sacct/sacct_lines.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "env/base/text/text.h"
#include "env/base/text/wall_clock.h"
#include "env/trace/core/column_names.h"
#include "env/trace/core/split_line.h"
#include "env/trace/formats/sacct/sacct_columns.h"
#include "env/trace/formats/sacct/sacct_fields.h"

namespace yard {
namespace {

constexpr size_t kMaxLines = 256;  // of one row
constexpr size_t kMaxRowBytes = 1 << 20;
constexpr size_t kMaxReadings = 32;

// With a delimiter that other formats use too, only these columns identify sacct's output.
constexpr std::array<std::string_view, 13> kTypical = {
    "AllocTRES", "ReqTRES",  "JobIDRaw", "ElapsedRaw", "TimelimitRaw", "NNodes", "ReqGRES",
    "AllocCPUS", "ExitCode", "ReqMem",   "NodeList",   "WorkDir",      "NCPUS"};

bool is_name(char c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

void split_at(std::string_view text, std::string_view delimiter,
              std::vector<std::string_view>& parts) {
  if (delimiter.size() == 1) {
    split_line(text, delimiter[0], parts);
    return;
  }
  parts.clear();
  for (size_t at = 0;;) {
    const size_t end = std::min(text.find(delimiter, at), text.size());
    parts.push_back(text.substr(at, end - at));
    if (end == text.size()) return;
    at = end + delimiter.size();
  }
}

std::vector<std::string_view> split_at(std::string_view text, std::string_view delimiter) {
  std::vector<std::string_view> parts;
  split_at(text, delimiter, parts);
  return parts;
}

// Returns the line after the unnamed column of row numbers that pandas and R put first: ",JobID" or
// "Unnamed: 0,JobID". Returns the line itself if there is none.
std::string_view without_index(std::string_view names) {
  const size_t end = names.find_first_of(",;\t");
  if (end == names.npos || !is_pandas_index_name(trim(names.substr(0, end)))) return names;
  return names.substr(end + 1);
}

bool is_state(std::string_view text) {
  const std::string_view state = parse_slurm_state(text);
  return !state.empty() && text.starts_with(state);  // whole and in capitals
}

}  // namespace

std::optional<SacctHeader> read_sacct_header(std::string_view line) {
  SacctHeader header;
  std::string plain;  // without quotes: sacct's names contain none
  if (line.find('"') != line.npos) {
    header.quoted = true;
    std::ranges::copy_if(line, std::back_inserter(plain), [](char c) { return c != '"'; });
    line = plain;
  }
  const std::string_view behind_index = without_index(line);
  header.indexed = behind_index.size() < line.size();
  line = behind_index;
  const auto first = std::ranges::find_if_not(line, is_name);
  const auto second = std::find_if(first, line.end(), is_name);
  header.delimiter = std::string(first, second);
  if (first == line.begin() || header.delimiter.empty()) return std::nullopt;
  if (trim(header.delimiter).empty() && header.delimiter != "\t") return std::nullopt;
  if (second == line.end() && header.delimiter.size() > 1 &&
      std::ranges::count(header.delimiter, header.delimiter[0]) == std::ssize(header.delimiter)) {
    return std::nullopt;  // "JobID||": two delimiters, or one of two characters
  }
  size_t exact = 0, known = 0, typical = 0;
  bool has_id = false;
  for (const std::string_view part : split_at(line, header.delimiter)) {
    const std::string_view name = trim(part);
    if (!std::ranges::all_of(name, is_name)) return std::nullopt;
    const std::string_view column = canonical_sacct_column(name);
    header.columns.emplace_back(column.empty() ? name : column);
    known += !column.empty();
    exact += !column.empty() && column == name;
    typical += std::ranges::count(kTypical, column) > 0;
    has_id |= column == "JobID" || column == "JobIDRaw";
  }
  const bool common =
      header.delimiter == "," || header.delimiter == ";" || header.delimiter == "\t";
  // sacct has its own spelling: "jobid|submit_time" is another table.
  const bool spelled = exact > 0 || typical > 0;
  header.known = common ? known >= 3 && typical > 0 && (has_id || exact >= 3)
                        : spelled && ((has_id && header.columns.size() > 1) || known >= 3);
  header.known |= common && has_id && exact >= 4;
  return header;
}

SacctFlaw sacct_flaw(std::string_view first_line, std::string_view second_line) {
  const std::vector<std::string_view> words = split_line(first_line, ' ');
  const auto known = [](std::string_view word) { return canonical_sacct_column(word) == word; };
  const bool names = std::ranges::all_of(
      words, [](std::string_view word) { return std::ranges::all_of(word, is_name); });
  if (names && std::ranges::count_if(words, known) >= 3) return SacctFlaw::kFixedWidth;
  if (std::ranges::count_if(words, known) >= 2 && trim(second_line).starts_with("---")) {
    return SacctFlaw::kFixedWidth;
  }
  if (words.size() >= 4 && is_slurm_job_or_step_id(words[0]) &&
      std::ranges::any_of(words, is_state) && words[0] != first_line) {
    const bool blanks = std::ranges::none_of(
        words, [](std::string_view word) { return word.find_first_of("|;") != word.npos; });
    if (blanks) return SacctFlaw::kFixedWidth;
  }
  for (const char delimiter : {'|', ',', ';', '\t'}) {
    const std::vector<std::string_view> parts = split(first_line, delimiter);
    const auto dates = std::ranges::count_if(
        parts, [](std::string_view part) { return part.size() == 19 && parse_date_s(part); });
    const auto states = std::ranges::count_if(parts, is_state);
    const auto ids = std::ranges::count_if(parts, is_slurm_job_or_step_id);
    if (parts.size() < 4 || ids == 0) continue;
    if (states > 0 && (dates > 0 || delimiter == '|')) return SacctFlaw::kNoHeader;
    if (dates >= 2 && delimiter == '|') return SacctFlaw::kNoHeader;
  }
  return SacctFlaw::kNone;
}

SacctLines::SacctLines(Rows& rows, SacctHeader header, const std::vector<std::string>& used)
    : rows_(rows), header_(std::move(header)), names_(rows.line()) {
  for (const std::string& column : header_.columns) {
    used_.push_back(std::ranges::count(used, column) > 0);
  }
  if (header_.columns[0] == "JobID" || header_.columns[0] == "JobIDRaw") id_ = 0;
  ends_in_text_ = is_free_text_column(header_.columns.back());
}

bool SacctLines::next_row() {
  while (rows_.next()) {
    if (rows_.line() != names_) return true;
    rows_.add_row_notice(kRepeatedHeaderNotice);
  }
  return false;
}

// Returns the file's current row without its row number.
std::string_view SacctLines::row() const {
  const std::string_view line = rows_.line();
  if (!header_.indexed) return line;
  return line.substr(std::min(line.find(header_.delimiter), line.size() - 1) + 1);
}

bool SacctLines::next_line(Line& line) {
  if (!ahead_.empty()) {
    line = std::move(ahead_.front());
    ahead_.pop_front();
    return true;
  }
  if (!next_row()) return false;
  line = {std::string(row()), rows_.line_number()};
  return true;
}

const SacctLines::Line* SacctLines::peek() {
  if (ahead_.empty()) {
    Line line;
    if (!next_line(line)) return nullptr;
    ahead_.push_back(std::move(line));
  }
  return &ahead_.front();
}

// Returns whether the first line of a row may look like this, whatever its end.
bool SacctLines::begins_row(std::string_view line) const {
  const std::vector<std::string_view> parts = split_at(line, header_.delimiter);
  if (!id_) return parts.size() >= header_.columns.size() && is_row(line);
  std::string_view id = trim(parts[*id_]);
  if (header_.quoted && id.size() > 1 && id.front() == '"') id = id.substr(1, id.size() - 2);
  return parts.size() > 1 && is_slurm_job_or_step_id(id);
}

// Returns whether the line alone is a row.
bool SacctLines::is_row(std::string_view line) const {
  return !possible_field_splits(header_.columns, split_at(line, header_.delimiter), 1).empty();
}

// Files saved by a spreadsheet quote fields that contain the delimiter.
bool SacctLines::split_csv(const std::string& line) {
  return header_.delimiter.size() == 1 && (header_.delimiter != "|" || header_.quoted) &&
         line.find('"') != line.npos &&
         split_quoted(line, header_.delimiter[0], unquoted_, fields_) &&
         fields_.size() == header_.columns.size();
}

void SacctLines::refuse_row(const std::string& record) {
  const std::vector<std::string_view> parts = split_at(record, header_.delimiter);
  const std::string fields = std::to_string(header_.columns.size()) + " fields";
  if (parts.size() < header_.columns.size()) {
    rows_.reject_too_few_fields(fields, std::to_string(parts.size()));
    return;
  }
  std::string texts;
  for (const std::string& column : header_.columns) {
    if (is_free_text_column(column)) texts += (texts.empty() ? "" : " or ") + column;
  }
  rows_.reject_row("ambiguous delimiter within a text",
                   fields + ", or an unambiguous split of more fields; print the log without " +
                       (texts.empty() ? "text columns" : texts) + ", or with another --delimiter",
                   std::to_string(parts.size()));
}

bool SacctLines::next() {
  Line line;
  const size_t wanted = header_.columns.size();
  for (;;) {
    if (ahead_.empty()) {  // most rows of most logs
      if (!next_row()) return false;
      line.number = rows_.line_number();
      record_.assign(row());
    } else {
      next_line(line);
      rows_.set_line_number(line.number);
      record_ = std::move(line.text);
    }
    if (split_csv(record_)) return true;
    if (!ends_in_text_) {
      split_at(record_, header_.delimiter, fields_);
      if (fields_.size() == wanted) return true;
    }
    std::vector<std::string_view> parts = split_at(record_, header_.delimiter);
    std::vector<Reading> readings;
    size_t lines = 1;
    const bool plain = parts.size() == wanted;
    if (!plain) {
      readings = possible_field_splits(header_.columns, parts, kMaxReadings);
      // A text with line breaks continues in the lines below, up to the beginning of another row.
      for (; readings.empty() && lines < kMaxLines && record_.size() < kMaxRowBytes; ++lines) {
        const Line* below = peek();
        if (below == nullptr || begins_row(below->text)) break;
        record_ += '\n' + below->text;
        ahead_.pop_front();
        parts = split_at(record_, header_.delimiter);
        readings = possible_field_splits(header_.columns, parts, kMaxReadings);
      }
    }
    const size_t complete = record_.size();
    for (; ends_in_text_ && (plain || !readings.empty()) && lines < kMaxLines; ++lines) {
      const Line* below = peek();
      if (below == nullptr || begins_row(below->text)) break;
      if (split_at(below->text, header_.delimiter).size() >= wanted) break;  // a broken row
      record_ += '\n' + below->text;
      ahead_.pop_front();
    }
    rows_.set_line_number(line.number);  // peek() moved on
    if (record_.size() != complete) {
      parts = split_at(record_, header_.delimiter);
      readings = possible_field_splits(header_.columns, parts, kMaxReadings);
    } else if (plain) {
      fields_ = split_at(record_, header_.delimiter);
      return true;
    } else {
      parts = split_at(record_, header_.delimiter);  // the text may have moved
    }
    const auto same = [&](const Reading& one, const Reading& other) {
      for (size_t c = 0, a = 0, b = 0; c < wanted; a = one[c], b = other[c], ++c) {
        if (used_[c] && (a != b || one[c] != other[c])) return false;
      }
      return true;
    };
    const bool clear =
        !readings.empty() && readings.size() < kMaxReadings &&
        std::ranges::all_of(readings, [&](const Reading& one) { return same(one, readings[0]); });
    if (!clear) {
      refuse_row(record_);
      continue;
    }
    fields_.clear();
    for (size_t c = 0, first = 0; c < wanted; first = readings[0][c], ++c) {
      fields_.push_back(join_adjacent(parts, first, readings[0][c]));
    }
    return true;
  }
}

}  // namespace yard
