#include "env/trace/formats/reject_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ranges>

#include "env/base/core/error.h"
#include "env/base/text/nearest_name.h"
#include "env/base/text/text.h"
#include "env/base/text/utf8.h"
#include "env/trace/core/split_line.h"
#include "env/trace/formats/native_fields.h"
#include "env/trace/formats/native_json.h"
#include "env/trace/formats/sacct/sacct_columns.h"
#include "env/trace/formats/sacct/sacct_lines.h"

namespace yard {
namespace {

// Files that are not text, by their first bytes, with a way to convert them to text.
struct Magic {
  std::string_view bytes;
  const char* is;
  std::string advice;
};
std::string unpack(const std::string& command) { return "unpack it first: " + command + " FILE"; }
std::string by_pandas(const std::string& format) {
  return "convert it to CSV first: python3 -c \"import pandas; pandas.read_" + format +
         "('FILE').to_csv('jobs.csv', index=False)\"";
}
using namespace std::string_view_literals;
const Magic kMagic[] = {
    {"\xFD\x37zXZ\0"sv, "an xz-compressed file", unpack("xz -dk")},
    {"BZh"sv, "a bzip2-compressed file", unpack("bunzip2 -k")},
    {"\x28\xB5\x2F\xFD"sv, "a zstd-compressed file", unpack("zstd -dk")},
    {"\x04\x22\x4D\x18"sv, "an lz4-compressed file", unpack("lz4 -dk")},
    {"\x1F\x8B"sv, "gzip data within gzip data", "unpack it once: gunzip -k FILE"},
    {"\x1F\x9D"sv, "a file compressed with compress", unpack("uncompress -k")},
    {"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", unpack("7z x")},
    {"Rar!"sv, "a RAR archive", unpack("unrar x")},
    {"PAR1"sv, "a Parquet file", by_pandas("parquet")},
    {"ARROW1"sv, "a Feather or Arrow file", by_pandas("feather")},
    {"ORC"sv, "an ORC file", by_pandas("orc")},
    {"\x89HDF"sv, "an HDF5 file", by_pandas("hdf")},
    {"SQLite format 3"sv, "an SQLite database",
     "export the table as CSV first: sqlite3 -header -csv FILE 'select * from jobs' > jobs.csv"},
    {"\xD0\xCF\x11\xE0"sv, "an old Excel workbook (.xls)", "save its sheet as CSV first"},
    {"{\\rtf"sv, "a rich text document (RTF)", "save it as plain text"},
    {"%PDF"sv, "a PDF", "use the table from which it was made"},
    {"\x80\x04\x95"sv, "a Python pickle", by_pandas("pickle")},
    {"\x80\x05\x95"sv, "a Python pickle", by_pandas("pickle")},
    {"\x93NUMPY"sv, "a NumPy array", "convert it to CSV first, with a header line"},
    {"version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer, not the file itself",
     "fetch the file: git lfs pull"},
};

[[noreturn]] void refuse(const FileHead& head, const std::string& is, std::string advice) {
  for (size_t at = advice.find("FILE"); at != advice.npos; at = advice.find("FILE", at)) {
    advice.replace(at, 4, head.name);
    at += head.name.size();
  }
  throw InputError(head.name, "a trace", is + ": " + advice);
}

// Returns the beginning of a line, with control characters and bytes that are not UTF-8 as '?'.
std::string shown(std::string_view line) {
  constexpr size_t kShown = 120;
  std::string out;
  for (size_t at = 0; at < line.size() && at < kShown;) {
    const size_t length = utf8_character_length(line.substr(at));
    const auto c = static_cast<unsigned char>(line[at]);
    if (length == 0 || c < ' ' || c == 0x7f) {
      out += '?';
    } else {
      out += line.substr(at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return "'" + out + (line.size() > kShown ? "...'" : "'");
}

// Zero bytes at every second position mean UTF-16. Most bytes below ' ' are rare in text of any
// encoding.
void refuse_bytes(const FileHead& head) {
  const std::string_view text = head.text.substr(0, 1000);
  const bool marked = text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
  const auto is_control = [](char c) {
    return c >= 0 && c < ' ' &&
           std::string_view("\a\t\n\v\f\r\x1b").find(c) == std::string_view::npos;
  };
  const auto controls = static_cast<size_t>(std::ranges::count_if(text, is_control));
  // A few below a first line of text are left to the readers.
  constexpr size_t kEnough = 500;
  const bool many = text.size() >= kEnough && controls * 33 > text.size();
  if (!marked && !many && std::ranges::none_of(head.line(1), is_control)) return;
  size_t zeros = 0, odd = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\0') continue;
    ++zeros;
    odd += i % 2;
  }
  if (marked || (zeros * 3 >= text.size() && text.size() > 3 && (odd == 0 || odd == zeros))) {
    refuse(head, "text in UTF-16",
           "convert it to UTF-8 first: iconv -f UTF-16 -t UTF-8 FILE > jobs.csv");
  }
  if (many || controls * 10 > text.size()) {
    refuse(head, "a binary file", "a trace is CSV, JSONL or another text format");
  }
}

// The published log of TACC begins with the number of its rows, and puts blanks between the names.
void refuse_tacc_without_count(const FileHead& head) {
  const bool is_tacc =
      std::ranges::equal(split_line(head.line(1), ' ') | std::views::take(3),
                         std::array<std::string_view, 3>{"JobID", "JobName", "UID"});
  if (is_tacc && head.line(2).starts_with("---")) {
    refuse(head, "a log of TACC without its first line, the number of rows",
           "put a line before it: (echo 0; cat FILE) > tacc.log");
  }
}

bool is_number(std::string_view text) { return parse_double(trim(text)).has_value(); }

// Names are words. In a row of values, most fields are numbers, dates or empty.
bool looks_like_values(const std::vector<std::string_view>& fields) {
  const auto is_value = [](std::string_view field) {
    field = trim(field);
    return field.empty() || std::isdigit(static_cast<unsigned char>(field.front())) != 0 ||
           is_number(field);
  };
  return fields.size() > 1 &&
         2 * std::ranges::count_if(fields, is_value) >= static_cast<std::ptrdiff_t>(fields.size());
}

// Returns the keys of a JSON object, without those of objects in it. Stops where the text does.
std::vector<std::string> keys_of(std::string_view text) {
  std::vector<std::string> keys;
  int depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == '}' || text[at] == ']') --depth;
    if (text[at] != '"') continue;
    const size_t begin = ++at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    if (at >= text.size()) break;
    const bool is_key = depth == 1 && trim(text.substr(at + 1)).starts_with(':');
    if (is_key) keys.emplace_back(text.substr(begin, at - begin));
  }
  return keys;
}

bool has_empty_list(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  return object.is_object() && std::ranges::any_of(object, [](const Json& value) {
           return value.is_array() && value.empty();
         });
}

void refuse_json(const FileHead& head) {
  const std::string_view text = trim(head.text);
  const auto has = [&](std::string_view key) { return text.find(key) != text.npos; };
  if (const std::string key = key_of_job_list(text); !key.empty() && !has("\"tres\"")) {
    refuse(head, "one JSON object with all jobs",
           "write one object per line: jq -c '.[\"" + key + "\"][]' FILE > jobs.jsonl");
  }
  constexpr size_t kShortList = 200;
  if (text.starts_with('{') && text.size() < kShortList && has_empty_list(text)) {
    refuse(head, "one JSON object with an empty list", "a trace needs at least one job");
  }
  if (text.starts_with('{') && has("\"jobs\"") && (has("\"tres\"") || has("\"job_id\""))) {
    refuse(head, "output of sacct --json",
           "print it with sacct --parsable2 (columns: docs/reference/slurm-columns.md)");
  }
  if (text.starts_with('{') && has("\"job_id\"") && has("\"time\"") && has("\"submission\"")) {
    refuse(head, "jobs of sacct --json, one after another",
           "write them as one object: jq -s '{jobs: .}' FILE > jobs.json");
  }
  if (text.starts_with("{") && (has("\"submit_s\":{") || has("\"submit_s\": {"))) {
    refuse(head, "column-oriented JSON",
           "write one line per job: pandas' to_json(FILE, orient='records', "
           "lines=True)");
  }
  if (text.starts_with('[')) {
    refuse(head, "a JSON array", "write one object per line: jq -c '.[]' FILE > jobs.jsonl");
  }
  const std::string_view line = trim(head.line(1));
  if (line == "{" || !line.ends_with('}')) {
    refuse(head, "JSON over several lines", "write one object per line: jq -c . FILE > jobs.jsonl");
  }
  const std::vector<std::string> keys = keys_of(line);
  std::vector<std::string> missing;
  for (const char* const name : {"job_id", "submit_s", "run_s", "gpus"}) {
    if (std::ranges::count(keys, name) == 0) missing.emplace_back(name);
  }
  throw InputError(head.name + ":1", "keys " + join(missing),
                   "'" + join(keys, ",") + "'; " + native_column_advice(missing, keys, "key"));
}

// Lines before the names, such as a warning in `sacct 2>&1` or a spreadsheet's title: some format
// recognises the file from one of the next lines on.
void refuse_late_names(const FileHead& head) {
  constexpr int kLast = 5;
  std::string_view rest = head.text;
  for (int number = 2; number <= kLast; ++number) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
    if (trim(rest).empty()) return;
    const FileHead below = FileHead::of(head.name, rest);
    for (const std::string& name : Registry<TraceReader>::names()) {
      const auto reader = Registry<TraceReader>::make(name, {});
      const auto sacct = read_sacct_header(below.line(1));
      const bool names = below.is_json() || reader->layout().names == 1 || (sacct && sacct->known);
      if (!names || !reader->recognises(below)) continue;
      const std::string line = std::to_string(number);
      throw InputError(head.name + ":1", "a header line or a row",
                       shown(head.line(1)) + "; " + name + " data begin on line " + line +
                           ": remove the " + (number == 2 ? "line" : "lines") +
                           " before it (tail -n +" + line + " " + head.name + " > jobs.txt)");
    }
  }
}

// A comment, or Excel's "sep=;", before the names.
void refuse_first_line(const FileHead& head) {
  const std::string_view line = trim(head.line(1));
  if (line.empty() || line.starts_with('#') || line.starts_with("//") ||
      lower_case(line).starts_with("sep=")) {
    throw InputError(head.name + ":1", "a header line or a row",
                     shown(line) + " before it: remove the line (tail -n +2)");
  }
}

// Numbers separated by blanks are SWF with another number of fields.
void refuse_blanks(const FileHead& head) {
  const auto first = split_line(trim(head.line(1)), ' ');
  const auto second = split_line(trim(head.line(2)), ' ');
  const std::string_view dashes = trim(head.line(2));
  if (!dashes.empty() && dashes.find_first_not_of("- ") == dashes.npos) {
    refuse(head, "a fixed-width table, the default output of sacct and squeue",
           "print it with sacct --parsable2 (columns: docs/reference/slurm-columns.md)");
  }
  if (head.line(1).find_first_of(",;|\t") != std::string_view::npos) return;
  if (first.size() > 2 && std::ranges::all_of(first, is_number)) {
    throw InputError(head.name + ":1", "18 fields of the Standard Workload Format",
                     std::to_string(first.size()) + " numbers separated by blanks");
  }
  if (first.size() > 2 && first.size() == second.size()) {
    refuse(head, "a table whose columns are aligned by blanks",
           "write it with commas or tabs between the fields");
  }
}

void refuse_without_names(const FileHead& head) {
  const std::string_view line = head.line(1);
  const char separator = separator_of(line);
  const auto fields = split_column_names(line, separator);
  if (!looks_like_values(fields)) return;
  constexpr size_t kSwfFields = 18;
  if (fields.size() == kSwfFields && std::ranges::all_of(fields, is_number)) {
    refuse(head,
           std::string("rows of the Standard Workload Format with '") + separator +
               "' between the numbers",
           std::string("replace it with a blank: tr '") + separator + "' ' ' < FILE > jobs.swf");
  }
  if (separator == '|') {
    refuse(head, "a table without a header line",
           "print it without sacct's --noheader (-n), or add a header line");
  }
  refuse(head, "a table without a header line, with " + std::to_string(fields.size()) + " fields",
         "add a header line such as job_id,submit_s,run_s,gpus (other columns may have any name)");
}

// Names of sacct's columns with any separator: "JobID JobName State".
void refuse_sacct(const FileHead& head) {
  const auto names = split_column_names(head.line(1), separator_of(head.line(1)));
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(names,
                               [&](std::string_view one) { return lower_case(one) == name; });
  };
  // Counts names of several words in sacct's spelling: "jobid" and "state" are in many tables.
  const auto sacct_only = std::ranges::count_if(names, [](std::string_view name) {
    const bool two_words = std::ranges::any_of(name.substr(std::min<size_t>(1, name.size())),
                                               [](char c) { return c >= 'A' && c <= 'Z'; });
    return two_words && canonical_sacct_column(name) == name;
  });
  const bool bars = head.line(1).find('|') != std::string_view::npos;
  if (sacct_only < 2 && !(bars && has("elapsed") && has("state"))) return;
  if (!bars) {
    refuse(head, "sacct columns that are not separated by '|'",
           "print them with sacct --parsable2, or map them with --columns job_id=JobID,...");
  }
  throw InputError(head.name + ":1", "a column JobID or JobIDRaw, as sacct --parsable2 prints it",
                   shown(head.line(1)) + "; add it with --format=JobID,...");
}

}  // namespace

void reject_unreadable_file(const FileHead& head) {
  const std::string_view text = head.text;
  if (trim(text).empty()) {
    throw InputError(head.name, "a trace",
                     text.empty() ? "an empty file" : "an empty file (only blanks)");
  }
  if (text.starts_with("PK\x03\x04")) {
    if (text.find("xl/") != text.npos || text.find("[Content_Types].xml") != text.npos) {
      refuse(head, "an Excel workbook", "save its sheet as CSV first");
    }
    refuse(head, "a zip archive", "unpack it first: unzip FILE (gzip files are read directly)");
  }
  for (const Magic& magic : kMagic) {
    if (text.starts_with(magic.bytes)) refuse(head, magic.is, magic.advice);
  }
  constexpr size_t kTarAt = 257;
  if (text.size() > kTarAt + 5 && text.substr(kTarAt, 5) == "ustar") {
    refuse(head, "a tar archive", "unpack it first: tar -xf FILE");
  }
  const std::string begin = lower_case(trim(text).substr(0, 200));
  if (begin.starts_with("<!doctype html") ||
      (begin.starts_with('<') && begin.find("<html") != begin.npos)) {
    refuse(head, "a web page (HTML)",
           "the download returned a page instead of the file; on GitHub, use the \"Raw\" link");
  }
  if (begin.starts_with("<?xml")) {
    refuse(head, "XML",
           "convert its rows to CSV first; a trace is CSV, JSONL or another text format");
  }
  refuse_bytes(head);
  refuse_tacc_without_count(head);
  if (text.find('\n') == text.npos && text.find('\r') != text.npos &&
      text.find('\r') + 1 < text.size()) {
    refuse(head, "lines that end with a carriage return only",
           "convert them to line feeds: tr '\\r' '\\n' < FILE > jobs.csv");
  }
}

void reject_unknown_format(const FileHead& head) {
  const std::string_view text = trim(head.text);
  if (text.starts_with('{') || text.starts_with('[')) refuse_json(head);
  refuse_late_names(head);
  refuse_first_line(head);
  refuse_blanks(head);
  refuse_sacct(head);
  refuse_without_names(head);
  std::vector<std::string> columns(head.columns.begin(), head.columns.end());
  std::vector<std::string> missing;
  const auto means = [&](const char* name) {
    return std::ranges::any_of(columns,
                               [&](const auto& one) { return field_meant_by_column(one) == name; });
  };
  int near = 0;  // number of the four that the table seems to have
  for (const char* const name : {"job_id", "submit_s", "run_s", "gpus"}) {
    const bool derived =
        std::string_view(name) == "run_s" && means("logged_start_s") && means("logged_end_s");
    const bool has = derived || means(name);
    if (!has) missing.emplace_back(name);
    near += has || nearest_column(name, columns).has_value();
  }
  const std::string got = shown(head.line(1));
  if (near < 2 || missing.empty()) {
    throw InputError(
        head.name + ":1", "the columns of a known format (yardmaster list traces)",
        got + (columns.size() < 2 ? "" : "; map them with --columns job_id=COLUMN,..."));
  }
  throw missing_columns_error(head.name + ":1", missing, columns, got);
}

}  // namespace yard
