#include "env/trace/rows.h"

#include <algorithm>
#include <bit>
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

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

std::string said_columns(const std::vector<std::string_view>& columns) {
  std::vector<std::string> names(columns.begin(), columns.end());
  return quoted(join(names, ","));
}

}  // namespace

std::string_view take_line(std::string_view& text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

Rows::Rows(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {
  columns_ = split(take_line(rest_), ',');
  for (std::string_view& name : columns_) name = trim(name);
  fields_.reserve(columns_.size());
  const auto most_rows = static_cast<size_t>(std::count(rest_.begin(), rest_.end(), '\n') + 1);
  jobs_.reserve(most_rows);
  seen_.assign(std::bit_ceil(2 * most_rows), -1);
}

int Rows::optional_column(std::string_view name) const {
  const auto it = std::find(columns_.begin(), columns_.end(), name);
  return it == columns_.end() ? -1 : static_cast<int>(it - columns_.begin());
}

int Rows::column(std::string_view name) const {
  const int found = optional_column(name);
  if (found < 0) throw InputError(file_ + ":1", "a column " + quoted(name), said_columns(columns_));
  return found;
}

bool Rows::next() {
  while (!rest_.empty()) {
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    fields_.clear();
    size_t from = 0;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] != ',') continue;
      fields_.push_back(line.substr(from, i - from));
      from = i + 1;
    }
    fields_.push_back(line.substr(from));
    if (fields_.size() == columns_.size()) return true;
    unusable("wrong number of fields", std::to_string(columns_.size()) + " fields",
             std::to_string(fields_.size()));
  }
  return false;
}

bool Rows::seconds(int column, int64_t& out_us) {
  const std::string_view said = fields_[column];
  int64_t s = 0;
  const char* end = said.data() + said.size();
  const auto [stop, error] = std::from_chars(said.data(), end, s);
  if (error == std::errc{} && stop == end && s >= 0 && s <= kLongestS) {
    out_us = s * kUsPerS;
    return true;
  }
  const std::string name(columns_[column]);
  const std::optional<int64_t> us = parse_seconds_us(trim(said));
  if (!us) {
    unusable(name + " is not a number", name + " in seconds", quoted(said));
  } else if (*us < 0) {
    unusable(name + " is negative", name + " of at least 0 s", std::string(trim(said)));
  } else if (*us > kLongestS * kUsPerS) {
    unusable(name + " is too large", name + " of at most " + std::to_string(kLongestS) + " s",
             std::string(trim(said)));
  } else {
    out_us = *us;
    return true;
  }
  return false;
}

bool Rows::whole_seconds(int column, int64_t& out_us) {
  if (!seconds(column, out_us)) return false;
  out_us -= out_us % kUsPerS;
  return true;
}

bool Rows::gpus(int column, int32_t& out) {
  const std::optional<int64_t> number = parse_int(trim(fields_[column]));
  if (!number) {
    unusable("number of GPUs is not a whole number", "a whole number of GPUs",
             quoted(fields_[column]));
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
  job.line = line_;
  jobs_.push_back(std::move(job));
}

bool Rows::fresh_id(const std::string& id) {
  const size_t mask = seen_.size() - 1;
  for (size_t slot = std::hash<std::string>{}(id)&mask;; slot = (slot + 1) & mask) {
    if (seen_[slot] < 0) {
      seen_[slot] = static_cast<int32_t>(jobs_.size());
      return true;
    }
    const Job& before = jobs_[seen_[slot]];
    if (before.id != id) continue;
    unusable("duplicate job id", "a job id that is not used before",
             quoted(id) + " as on line " + std::to_string(before.line));
    return false;
  }
}

std::string Rows::here() const { return file_ + ":" + std::to_string(line_); }

std::vector<Job> Rows::finish(bool skip_unusable, std::vector<Skipped>& skipped) {
  if (unusable_ > 0 && !skip_unusable) {
    const std::string count = unusable_ == 1
                                  ? "the only unusable row"
                                  : "first of " + std::to_string(unusable_) + " unusable rows";
    throw InputError(first_where_, first_expected_,
                     first_got_ + " (" + count + "; --skip-unusable leaves them out)");
  }
  if (jobs_.empty()) {
    throw InputError(file_, "at least one job",
                     unusable_ == 0 ? "a header without rows"
                                    : "only unusable rows, the first on line " +
                                          first_where_.substr(file_.size() + 1));
  }
  skipped.insert(skipped.end(), skipped_.begin(), skipped_.end());
  const auto earlier = [](const Job& a, const Job& b) { return a.submit_us < b.submit_us; };
  if (!std::is_sorted(jobs_.begin(), jobs_.end(), earlier)) {
    std::stable_sort(jobs_.begin(), jobs_.end(), earlier);
  }
  return std::move(jobs_);
}

}  // namespace yard
