#include "env/trace/rows.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "env/base/check.h"
#include "env/base/error.h"
#include "env/base/text.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
// Three thousand years: far from what int64 microseconds hold, so that sums of times cannot
// overflow.
constexpr int64_t kLongestS = 100'000'000'000;
constexpr int32_t kMostGpus = 1 << 20;

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

// Splits at the layout's separator.
void split_row(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  if (separator == '\0') {
    fields.push_back(line);
    return;
  }
  if (separator == ' ') {
    for (size_t at = 0;;) {
      at = line.find_first_not_of(" \t", at);
      if (at == std::string_view::npos) return;
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

}  // namespace

Rows::Rows(Lines& lines, const Layout& layout) : lines_(&lines), layout_(layout) {
  columns_ = layout.columns;
  std::string_view line;
  for (int32_t i = 1; i <= layout.head && lines.next(line); ++i) {
    if (i != layout.names) continue;
    split_row(line, layout.separator, fields_);
    columns_.clear();
    for (const std::string_view name : fields_) columns_.emplace_back(trim(name));
  }
  seen_.assign(1 << 10, -1);
}

int Rows::optional_column(std::string_view name) const {
  const auto it = std::find(columns_.begin(), columns_.end(), name);
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

int Rows::column(std::string_view name) const {
  const int found = optional_column(name);
  if (found < 0) {
    throw InputError(lines_->name() + ":" + std::to_string(layout_.names),
                     "a column " + in_quotes(name), in_quotes(join(columns_, ",")));
  }
  return found;
}

bool Rows::next() {
  while (lines_->next(row_)) {
    if (row_.empty() || (layout_.comment != '\0' && row_.front() == layout_.comment)) continue;
    split_row(row_, layout_.separator, fields_);
    if (layout_.ragged || fields_.size() == columns_.size()) return true;
    unusable("wrong number of fields", std::to_string(columns_.size()) + " fields",
             std::to_string(fields_.size()));
  }
  return false;
}

bool Rows::seconds(int column, int64_t& out_us) { return time(column, kUsPerS, out_us); }

bool Rows::whole_seconds(int column, int64_t& out_us) {
  if (!seconds(column, out_us)) return false;
  out_us -= out_us % kUsPerS;
  return true;
}

bool Rows::milliseconds(int column, int64_t& out_us) {
  return time(column, kUsPerS / 1000, out_us);
}

bool Rows::time(int column, int64_t unit_us, int64_t& out_us) {
  const std::string_view said = fields_[column];
  const int64_t most = kLongestS * (kUsPerS / unit_us);
  int64_t whole = 0;
  const char* end = said.data() + said.size();
  const auto [stop, error] = std::from_chars(said.data(), end, whole);
  if (error == std::errc{} && stop == end && whole >= 0 && whole <= most) {
    out_us = whole * unit_us;
    return true;
  }
  const bool seconds = unit_us == kUsPerS;
  const std::string unit = seconds ? " s" : " ms";
  const std::string name(columns_[column]);
  const std::optional<double> number = parse_double(trim(said));
  const std::optional<int64_t> millionths = parse_seconds_us(trim(said));
  if (!number) {
    unusable(name + " is not a number", name + (seconds ? " in seconds" : " in milliseconds"),
             in_quotes(said));
  } else if (*number < 0) {
    unusable(name + " is negative", name + " of at least 0" + unit, std::string(trim(said)));
  } else if (!millionths || *number > static_cast<double>(most)) {
    unusable(name + " is too large", name + " of at most " + std::to_string(most) + unit,
             std::string(trim(said)));
  } else {
    out_us = *millionths / (kUsPerS / unit_us);
    return true;
  }
  return false;
}

bool Rows::integer(int column, int64_t least, int64_t most, int64_t& out) {
  const std::optional<int64_t> number = parse_int(trim(fields_[column]));
  if (number && *number >= least && *number <= most) {
    out = *number;
    return true;
  }
  const std::string name(columns_[column]);
  unusable(
      name + (number ? " is out of range" : " is not a whole number"),
      name + " as a whole number from " + std::to_string(least) + " to " + std::to_string(most),
      in_quotes(fields_[column]));
  return false;
}

bool Rows::positive(int column, double& out) {
  const std::optional<double> number = parse_double(trim(fields_[column]));
  if (number && *number > 0) {
    out = *number;
    return true;
  }
  const std::string name(columns_[column]);
  unusable(name + (number ? " is not above 0" : " is not a number"), name + " above 0",
           in_quotes(fields_[column]));
  return false;
}

bool Rows::gpus(int column, int32_t& out) {
  const std::optional<int64_t> number = parse_int(trim(fields_[column]));
  if (!number) {
    unusable("number of GPUs is not a whole number", "a whole number of GPUs",
             in_quotes(fields_[column]));
    return false;
  }
  if (*number < 1 || *number > kMostGpus) {
    unusable(*number < 1 ? "no GPUs" : "too many GPUs",
             "1 to " + std::to_string(kMostGpus) + " GPUs", std::to_string(*number));
    return false;
  }
  out = static_cast<int32_t>(*number);
  return true;
}

bool Rows::text(int column, std::string& out) {
  const std::string_view said = trim(fields_[column]);
  if (said.empty()) {
    const std::string name(columns_[column]);
    unusable(name + " is empty", "a " + name, "nothing");
    return false;
  }
  out = said;
  return true;
}

void Rows::unusable(const std::string& reason, const std::string& expected,
                    const std::string& got) {
  if (unusable_++ == 0) {
    first_where_ = here();
    first_expected_ = expected;
    first_got_ = got;
  }
  const auto same = [&](const Skipped& skipped) { return skipped.reason == reason; };
  const auto it = std::find_if(skipped_.begin(), skipped_.end(), same);
  if (it != skipped_.end()) {
    ++it->count;
  } else {
    skipped_.push_back({reason, 1, here()});
  }
}

void Rows::add(Job job) {
  if (!fresh_id(job.id)) return;
  job.line = line_number();
  jobs_.push_back(std::move(job));
}

bool Rows::fresh_id(const std::string& id) {
  if (2 * jobs_.size() >= seen_.size()) {
    seen_.assign(2 * seen_.size(), -1);
    const size_t mask = seen_.size() - 1;
    for (size_t j = 0; j < jobs_.size(); ++j) {
      size_t slot = std::hash<std::string>{}(jobs_[j].id) & mask;
      while (seen_[slot] >= 0) slot = (slot + 1) & mask;
      seen_[slot] = static_cast<int32_t>(j);
    }
  }
  const size_t mask = seen_.size() - 1;
  for (size_t slot = std::hash<std::string>{}(id)&mask;; slot = (slot + 1) & mask) {
    if (seen_[slot] < 0) {
      seen_[slot] = static_cast<int32_t>(jobs_.size());
      return true;
    }
    const Job& before = jobs_[seen_[slot]];
    if (before.id != id) continue;
    unusable("duplicate job id", "a job id that is not used before",
             in_quotes(id) + " as on line " + std::to_string(before.line));
    return false;
  }
}

std::string Rows::here() const { return lines_->name() + ":" + std::to_string(line_number()); }

std::vector<Job> Rows::finish(bool skip_unusable, std::vector<Skipped>& skipped) {
  if (unusable_ > 0 && !skip_unusable) {
    const std::string count = unusable_ == 1
                                  ? "the only unusable row"
                                  : "first of " + std::to_string(unusable_) + " unusable rows";
    throw InputError(first_where_, first_expected_,
                     first_got_ + " (" + count + "; --skip-unusable leaves them out)");
  }
  if (jobs_.empty()) {
    throw InputError(lines_->name(), "at least one job",
                     unusable_ == 0 ? "a header without rows"
                                    : "only unusable rows, the first on line " +
                                          first_where_.substr(lines_->name().size() + 1));
  }
  skipped.insert(skipped.end(), skipped_.begin(), skipped_.end());
  const auto earlier = [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; };
  if (!std::is_sorted(jobs_.begin(), jobs_.end(), earlier)) {
    std::stable_sort(jobs_.begin(), jobs_.end(), earlier);
  }
  return std::move(jobs_);
}

}  // namespace yard
