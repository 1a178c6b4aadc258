#include "env/trace/core/rows.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <numeric>

#include "env/base/core/error.h"
#include "env/base/os/interrupt.h"
#include "env/base/text/text.h"
#include "env/trace/core/split_line.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr size_t kMaxRecordBytes = 1 << 20;
constexpr size_t kMaxComments = 1000;  // that are kept

void count(std::vector<CountedRows>& list, const std::string& reason, const std::string& where) {
  const auto it = std::ranges::find(list, reason, &CountedRows::reason);
  if (it == list.end()) return list.push_back({reason, 1, where});
  ++it->count;
}

// Sorts stably, in place.
void sort_by_submission(std::vector<Job>& jobs) {
  if (std::ranges::is_sorted(jobs, {}, &Job::submit_us)) return;
  std::vector<int32_t> from(jobs.size());  // index of the job that belongs here
  std::iota(from.begin(), from.end(), 0);
  std::ranges::stable_sort(from, {}, [&](int32_t j) { return jobs[j].submit_us; });
  for (size_t first = 0; first < jobs.size(); ++first) {
    if (from[first] < 0) continue;
    Job held = std::move(jobs[first]);
    size_t hole = first;
    for (size_t next = from[hole]; next != first; next = from[hole]) {
      jobs[hole] = std::move(jobs[next]);
      from[hole] = -1;
      hole = next;
    }
    jobs[hole] = std::move(held);
    from[hole] = -1;
  }
}

uint32_t hash_of(const std::string& id) {
  return static_cast<uint32_t>(std::hash<std::string>{}(id));
}

}  // namespace

Rows::Rows(Lines& lines, const Layout& layout, Renames renames)
    : lines_(&lines), layout_(layout), renames_(std::move(renames)) {
  columns_ = layout.columns;
  std::string_view line;
  for (int32_t i = 1; i <= layout.head && lines.next(line); ++i) {
    while (i == layout.names && trim(line).empty() && lines.next(line)) {
    }
    if (i != layout.names) continue;
    names_ = line;
    names_line_ = static_cast<int32_t>(lines.line_number());
    if (layout_.separator == ',') layout_.separator = separator_of(line);
    if (line.find('"') != line.npos) layout_.quotes = true;
    const auto names = split_column_names(line, layout_.separator);
    columns_.assign(names.begin(), names.end());
    columns_in_file_ = columns_;
    if (layout.lower_case_names) std::ranges::transform(columns_, columns_.begin(), lower_case);
    if (!renames_.empty()) rename_columns(renames_, header_position(), columns_);
  }
  if (!layout.free_text.empty()) free_text_ = optional_column(layout.free_text);
  seen_.resize(1 << 10);
}

const std::string& Rows::name_in_file(int column) const {
  const auto i = static_cast<size_t>(column);
  return i < columns_in_file_.size() ? columns_in_file_[i] : columns_[i];
}

int Rows::optional_column(std::string_view name) const {
  const auto it = std::ranges::find(columns_, name);
  if (it == columns_.end()) return -1;
  if (std::ranges::count(columns_, name) > 1) {
    throw InputError(header_position(), "each column once", in_quotes(name) + " twice");
  }
  return static_cast<int>(it - columns_.begin());
}

std::string Rows::header_position() const {
  return lines_->name() + ":" + std::to_string(std::max(names_line_, 1));
}

int Rows::column(std::string_view name) const {
  const int found = optional_column(name);
  if (found < 0) {
    throw InputError(header_position(), "a column " + in_quotes(name),
                     in_quotes(join(columns_in_file_.empty() ? columns_ : columns_in_file_, ",")));
  }
  return found;
}

// Reads lines until all quotes are closed. Line ends within quotes belong to the field.
bool Rows::next_record() {
  if (!lines_->next(row_)) return false;
  first_line_ = static_cast<int32_t>(lines_->line_number());
  if (!layout_.quotes || !ends_inside_quotes(row_, layout_.separator)) return true;
  record_ = row_;
  do {
    record_ += lines_->line_ending();
    if (record_.size() > kMaxRecordBytes || !lines_->next(row_)) {
      throw InputError(position(), "a closing quote within 1 MiB", "none");
    }
    record_ += row_;
  } while (ends_inside_quotes(record_, layout_.separator));
  row_ = record_;
  return true;
}

void Rows::read_companion_file(
    const std::string& name,
    const std::function<void(const std::vector<std::string_view>&)>& take) const {
  for (const std::string& file : {name, name + ".gz"}) {
    std::error_code error;
    const auto path = std::filesystem::path(source()).parent_path() / file;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    Lines lines = Lines::of_file(path);
    std::string_view line;
    while (lines.next(line)) take(split(line, ','));
    return;
  }
}

std::optional<std::string> Rows::header_comment_value(std::string_view name) const {
  for (std::string_view comment : comments_) {
    comment.remove_prefix(1);
    const size_t colon = comment.find(':');
    if (colon == comment.npos || trim(comment.substr(0, colon)) != name) continue;
    return std::string(trim(comment.substr(colon + 1)));
  }
  return std::nullopt;
}

bool Rows::next() {
  throw_if_interrupted();
  rewritten_.clear();
  while (next_record()) {
    const std::string_view words = trim(row_);
    if (words.empty()) continue;
    if (layout_.comment != '\0') {
      if (words.front() == layout_.comment) {
        if (!seen_row_ && comments_.size() < kMaxComments) comments_.emplace_back(words);
        continue;
      }
      row_ = row_.substr(0, row_.find(layout_.comment));
    }
    seen_row_ = true;
    if (!names_.empty() && row_ == names_) {
      add_row_notice(kRepeatedHeaderNotice);
      continue;
    }
    if (!layout_.quotes || row_.find('"') == row_.npos) {
      split_line(row_, layout_.separator, fields_);
    } else if (!split_quoted(row_, layout_.separator, unquoted_, fields_)) {
      reject_row("text after a closing quote", "a separator after a closing quote", "other text");
      continue;
    }
    const size_t surplus = fields_.size() - std::min(fields_.size(), columns_.size());
    if (surplus > 0 && free_text_ >= 0) {
      const auto whole = fields_.begin() + free_text_;
      const std::string_view last = whole[static_cast<ptrdiff_t>(surplus)];
      *whole = {whole->data(), static_cast<size_t>(last.data() + last.size() - whole->data())};
      fields_.erase(whole + 1, whole + 1 + static_cast<ptrdiff_t>(surplus));
    }
    if (layout_.variable_fields || fields_.size() == columns_.size()) return true;
    const std::string expected = std::to_string(columns_.size()) + " fields";
    const std::string got = std::to_string(fields_.size());
    if (fields_.size() < columns_.size()) {
      reject_too_few_fields(expected, got);
    } else {
      reject_row("wrong number of fields", expected, got);
    }
  }
  return false;
}

bool Rows::reject_too_few_fields(const std::string& expected, const std::string& got) {
  if (!is_line_cut_off()) return reject_row("wrong number of fields", expected, got);
  return reject_row("the last line is cut off", expected,
                    got + ": the last line is cut off, as in a file copied while it was written");
}

bool Rows::reject_row_at(const std::string& place, const std::string& reason,
                         const std::string& expected, const std::string& got) {
  if (unusable_++ == 0) {
    first_where_ = position() + (place.empty() ? "" : ": " + place);
    first_unusable_line_ = line_number();
    first_expected_ = expected;
    first_got_ = got;
  }
  count(unusable_rows_, reason, position());
  return false;
}

bool Rows::reject_row(int column, const std::string& reason, const std::string& expected,
                      const std::string& got) {
  const std::string name = name_of(column);
  return reject_row_at(
      "column " + std::to_string(column + 1) + (name.empty() ? "" : " (" + name + ")"), reason,
      expected, got);
}

// Returns "" for formats without a line of names.
std::string Rows::name_of(int column) const {
  const auto i = static_cast<size_t>(column);
  return i < columns_.size() ? columns_[i] : "";
}

bool Rows::leave_out_row(const std::string& reason) {
  count(left_out_, reason, position());
  return false;
}

void Rows::add_row_notice(const std::string& text) { count(notices_, text, position()); }

void Rows::add(Job job) {
  if (!add_id(job.id)) return;
  if (job.line == 0) job.line = line_number();
  if (num_jobs_ % kChunk == 0) chunks_.emplace_back().reserve(kChunk);
  chunks_.back().push_back(std::move(job));
  ++num_jobs_;
}

// Returns the slot of seen_ with the id, or the free one where it would go.
size_t Rows::id_table_slot(const std::string& id) {
  const auto hash = hash_of(id);
  size_t slot = hash & (seen_.size() - 1);
  for (; seen_[slot].job >= 0; slot = (slot + 1) & (seen_.size() - 1)) {
    if (seen_[slot].hash == hash && job(static_cast<size_t>(seen_[slot].job)).id == id) break;
  }
  return slot;
}

bool Rows::add_id(const std::string& id) {
  if (2 * num_jobs_ >= seen_.size()) {
    const std::vector<SeenId> before = std::exchange(seen_, std::vector<SeenId>(2 * seen_.size()));
    for (const SeenId& seen : before) {
      if (seen.job < 0) continue;
      size_t slot = seen.hash & (seen_.size() - 1);
      while (seen_[slot].job >= 0) slot = (slot + 1) & (seen_.size() - 1);
      seen_[slot] = seen;
    }
  }
  SeenId& seen = seen_[id_table_slot(id)];
  if (seen.job >= 0) {
    reject_row("duplicate job id", "a unique job id",
               in_quotes(id) + ", also on line " +
                   std::to_string(job(static_cast<size_t>(seen.job)).line));
    return false;
  }
  seen = {hash_of(id), static_cast<int32_t>(num_jobs_)};
  return true;
}

std::string Rows::position() const { return lines_->name() + ":" + std::to_string(line_number()); }

// Moves the jobs into one vector and frees each chunk as soon as it is empty.
void Rows::collect(std::vector<Job>& jobs) {
  std::vector<SeenId>().swap(seen_);
  jobs.reserve(num_jobs_);
  for (Chunk& chunk : chunks_) {
    std::move(chunk.begin(), chunk.end(), std::back_inserter(jobs));
    Chunk().swap(chunk);
  }
  chunks_.clear();
}

void Rows::finish(bool skip_unusable, Trace& trace) {
  if (unusable_ > 0 && !skip_unusable) {
    const std::string how_many = unusable_ == 1
                                     ? "the only unusable row"
                                     : "first of " + std::to_string(unusable_) + " unusable rows";
    throw InputError(first_where_, first_expected_,
                     first_got_ + " (" + how_many + "; --skip-unusable leaves them out)");
  }
  if (num_jobs_ == 0) {
    std::string got = "a header without rows";
    if (unusable_ > 0) {
      got = "only unusable rows, the first on line " + std::to_string(first_unusable_line_);
    } else if (!left_out_.empty()) {
      got = "only rows without a usable job (" + left_out_.front().reason + ", the first at " +
            left_out_.front().first + ")";
    }
    throw InputError(lines_->name(), "at least one job", got);
  }
  collect(trace.jobs);
  sort_by_submission(trace.jobs);
  trace.skipped.insert(trace.skipped.end(), unusable_rows_.begin(), unusable_rows_.end());
  trace.skipped.insert(trace.skipped.end(), left_out_.begin(), left_out_.end());
  trace.notices = std::move(notices_);
  trace.epoch_unix_s = epoch_s_;
  trace.machine_gpus = machine_gpus_;
  if (!zero_at_first_) return;
  const int64_t first_us = trace.jobs.front().submit_us;
  const int64_t zero_us = first_us - first_us % kUsPerS;
  trace.epoch_unix_s = epoch_s_.value_or(0) + zero_us / kUsPerS;
  for (Job& job : trace.jobs) {
    job.submit_us -= zero_us;
    if (job.logged_start_us >= 0) job.logged_start_us -= zero_us;
    if (job.logged_end_us >= 0) job.logged_end_us -= zero_us;
  }
}

}  // namespace yard
