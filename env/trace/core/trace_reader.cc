#include "env/trace/core/trace_reader.h"

#include <algorithm>
#include <utility>

#include "env/base/core/error.h"
#include "env/base/text/text.h"

namespace yard {

FileHead FileHead::of(std::string name, std::string_view text) {
  // Rows also skips blank lines before the names.
  while (!text.empty() && trim(text.substr(0, text.find('\n'))).empty() &&
         text.find('\n') != text.npos) {
    text.remove_prefix(text.find('\n') + 1);
  }
  FileHead head{std::move(name), text, {}};
  if (head.is_json()) return head;
  const std::string_view line = head.line(1);
  head.columns = split_column_names(line, separator_of(line));
  // pandas' index does not identify a format.
  if (!head.columns.empty() && is_pandas_index_name(head.columns.front())) {
    head.columns.erase(head.columns.begin());
  }
  return head;
}

bool FileHead::is_json() const { return trim(text).starts_with('{'); }

bool FileHead::has_columns(Names wanted) const {
  return std::ranges::all_of(
      wanted, [&](std::string_view one) { return std::ranges::count(columns, one) > 0; });
}

bool FileHead::has_only_columns(Names wanted, Names optional) const {
  return has_columns(wanted) && std::ranges::all_of(columns, [&](std::string_view one) {
           return std::ranges::count(wanted, one) + std::ranges::count(optional, one) > 0;
         });
}

std::string_view FileHead::line(int number) const {
  std::string_view rest = text;
  for (int i = 1; !rest.empty(); ++i) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (i < number) continue;
    if (one.ends_with('\r')) one.remove_suffix(1);
    return one;
  }
  return {};
}

void check_usable(Trace& trace, const std::function<std::optional<UnusableReason>(Job&)>& why,
                  bool skip_unusable) {
  struct Kind {
    UnusableReason first;
    const Job* job;  // the first in the file, not necessarily the first submitted
    int64_t count;
  };
  std::vector<Kind> kinds;
  std::vector<char> keep(trace.jobs.size(), 1);
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    const std::optional<UnusableReason> found = why(trace.jobs[j]);
    if (!found) continue;
    keep[j] = 0;
    const Job* job = &trace.jobs[j];
    auto kind = std::ranges::find(
        kinds, found->reason, [](const Kind& one) -> auto& { return one.first.reason; });
    if (kind == kinds.end()) kind = kinds.insert(kind, {*found, job, 0});
    ++kind->count;
    if (job->line < kind->job->line) {
      kind->first = *found;
      kind->job = job;
    }
  }
  if (kinds.empty()) return;
  std::ranges::sort(kinds, {}, [](const Kind& kind) { return kind.job->line; });
  const auto where = [&](const Kind& kind) {
    return kind.job->line > 0 ? trace.source + ":" + std::to_string(kind.job->line) : trace.source;
  };
  const Kind& first = kinds.front();
  if (!skip_unusable) {
    const std::string how_many = first.count == 1
                                     ? "the only such job"
                                     : "first of " + std::to_string(first.count) + " such jobs";
    throw InputError(where(first), first.first.expected,
                     first.first.got + " (" + how_many + "; --skip-unusable leaves them out)");
  }
  for (const Kind& kind : kinds) {
    trace.skipped.push_back({kind.first.reason, kind.count, where(kind)});
  }
  std::vector<Job> usable;
  for (size_t j = 0; j < trace.jobs.size(); ++j) {
    if (keep[j]) usable.push_back(std::move(trace.jobs[j]));
  }
  trace.jobs = std::move(usable);
  if (trace.jobs.empty()) throw InputError(trace.source, "at least one usable job", "none");
}

}  // namespace yard
