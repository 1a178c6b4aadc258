#include "env/trace/core/split_line.h"

#include <algorithm>
#include <cstddef>

namespace yard {
namespace {

// Returns the end of the quoted field that begins at `from`, after its closing quote; npos if there
// is none.
size_t behind_quotes(std::string_view text, size_t from) {
  for (size_t at = from + 1;;) {
    at = text.find('"', at);
    if (at == text.npos) return at;
    if (at + 1 >= text.size() || text[at + 1] != '"') return at + 1;
    at += 2;  // a doubled quote belongs to the field
  }
}

}  // namespace

void split_line(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  if (separator == '\0') {
    fields.push_back(line);
    return;
  }
  if (separator == ' ') {
    for (size_t at = 0;;) {
      at = line.find_first_not_of(" \t", at);
      if (at == line.npos) return;
      const size_t end = std::min(line.find_first_of(" \t", at), line.size());
      fields.push_back(line.substr(at, end - at));
      at = end;
    }
  }
  size_t from = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != separator) continue;
    fields.push_back(line.substr(from, i - from));
    from = i + 1;
  }
  fields.push_back(line.substr(from));
}

bool ends_inside_quotes(std::string_view text, char separator) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = behind_quotes(text, at);
      if (at == text.npos) return true;
    }
    at = text.find(separator, at);
    if (at == text.npos) return false;
    ++at;
  }
  return false;
}

bool split_quoted(std::string_view record, char separator, std::string& unquoted,
                  std::vector<std::string_view>& fields) {
  fields.clear();
  unquoted.clear();
  unquoted.reserve(record.size());  // views of earlier fields stay valid
  for (size_t at = 0;;) {
    size_t end;
    if (at < record.size() && record[at] == '"') {
      end = behind_quotes(record, at);
      if (end == record.npos) return false;
      const size_t begin = unquoted.size();
      for (size_t i = at + 1; i + 1 < end; ++i) {
        unquoted += record[i];
        i += record[i] == '"';
      }
      fields.push_back(std::string_view(unquoted).substr(begin));
      if (end < record.size() && record[end] != separator) return false;
    } else {
      end = std::min(record.find(separator, at), record.size());
      fields.push_back(record.substr(at, end - at));
    }
    if (end >= record.size()) return true;
    at = end + 1;
  }
}

}  // namespace yard
