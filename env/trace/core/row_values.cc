// Reads the fields of a row as times, numbers or texts, or reports why a field is none.
#include <algorithm>
#include <cmath>

#include "env/base/text/text.h"
#include "env/trace/core/max_time.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/timestamps.h"

namespace yard {
namespace {

constexpr int64_t kUsPerS = 1'000'000;
constexpr int32_t kMaxGpus = 1 << 20;

// Parses a whole number, also as tables of floating-point numbers have it: "8.0".
std::optional<int64_t> whole_of(std::string_view text) {
  if (const std::optional<int64_t> plain = parse_int(text)) return plain;
  const std::optional<double> real = parse_double(text);
  if (!real || std::abs(*real) >= 0x1p53 || *real != std::trunc(*real)) return std::nullopt;
  return static_cast<int64_t>(*real);
}

}  // namespace

std::string Rows::trimmed(int column) const {
  return column < 0 ? std::string() : std::string(trim(fields_[column]));
}

bool Rows::has_value(int column) const { return column >= 0 && !trim(fields_[column]).empty(); }

bool Rows::was_quoted(int column) const {
  const char* const at = fields_[column].data();
  return at >= unquoted_.data() && at < unquoted_.data() + unquoted_.size();
}

void Rows::replace_field(int column, std::string text) {
  rewritten_.push_back(std::move(text));
  fields_[column] = rewritten_.back();
}

bool Rows::time(int column, int64_t& out_us, const TimeUnit& unit) {
  if (const auto us = parse_time_us(fields_[column], unit)) {
    out_us = *us;
    return true;
  }
  const std::string name(name_of(column)), got(trim(fields_[column]));
  const auto number = parse_double(got);
  if (!number) {
    return reject_row(column, name + " is not a number", name + " in " + unit.name,
                      in_quotes(fields_[column]));
  }
  if (*number < 0) {
    return reject_row(column, name + " is negative", name + " of at least 0 " + unit.symbol, got);
  }
  return reject_row(
      column, name + " is too large",
      name + " of at most " + std::to_string(max_time_in_units(unit)) + " " + unit.symbol, got);
}

bool Rows::truncated_seconds(int column, int64_t& out_us) {
  if (!seconds(column, out_us)) return false;
  out_us -= out_us % kUsPerS;
  return true;
}

bool Rows::date(int column, const Zone& zone, int64_t& out_us) {
  const std::string said(trim(fields_[column]));
  const std::string name = name_of(column);
  std::optional<int64_t> us = parse_iso_date_us(said, zone);
  if (!us && !said.empty() && said.find_first_not_of("0123456789") == said.npos) {
    const std::optional<int64_t> unix_s = parse_int(said);  // `date +%s`
    if (unix_s && *unix_s <= kMaxTimeS) us = *unix_s * kUsPerS;
  }
  if (us && *us >= 0 && *us <= kMaxTimeS * kUsPerS) {
    out_us = *us;
    return true;
  }
  return reject_row(column, name + " is not a date",
                    name + " as a date like 2021-03-04T12:30:15, from 1970 on", in_quotes(said));
}

bool Rows::integer(int column, int64_t& out, int64_t least, int64_t most) {
  const std::string said(trim(fields_[column]));
  const std::optional<int64_t> number = whole_of(said);
  if (number && *number >= least && *number <= most) {
    out = *number;
    return true;
  }
  const std::string name = name_of(column);
  return reject_row(
      column, name + (number ? " is out of range" : " is not a whole number"),
      name + " as a whole number, " + std::to_string(least) + " to " + std::to_string(most),
      in_quotes(said));
}

bool Rows::integer(int column, int32_t& out, int32_t least, int32_t most) {
  int64_t wide = 0;
  if (!integer(column, wide, int64_t{least}, int64_t{most})) return false;
  out = static_cast<int32_t>(wide);
  return true;
}

bool Rows::number(int column, double& out, double least) {
  const std::string said(trim(fields_[column]));
  const std::optional<double> number = parse_double(said);
  if (number && *number >= least) {
    out = *number;
    return true;
  }
  const std::string name = name_of(column);
  return reject_row(column, name + (number ? " is too small" : " is not a number"),
                    name + " as a number of at least " + shortest_text(least), in_quotes(said));
}

bool Rows::positive_number(int column, double& out) {
  if (!number(column, out)) return false;
  if (out > 0) return true;
  const std::string name = name_of(column);
  return reject_row(column, name + " is not above 0", name + " above 0",
                    in_quotes(trim(fields_[column])));
}

bool Rows::gpus(int column, int32_t& out, int32_t least) {
  const std::optional<int64_t> number = whole_of(trim(fields_[column]));
  if (!number) {
    return reject_row(column, "number of GPUs is not a whole number", "a whole number of GPUs",
                      in_quotes(fields_[column]));
  }
  if (*number < least || *number > kMaxGpus) {
    return reject_row(column,
                      *number > kMaxGpus ? "too many GPUs"
                      : *number == 0     ? "no GPUs"
                                         : "number of GPUs is negative",
                      std::to_string(least) + " to " + std::to_string(kMaxGpus) + " GPUs",
                      std::to_string(*number));
  }
  out = static_cast<int32_t>(*number);
  return true;
}

bool Rows::text(int column, std::string& out) {
  const std::string_view said = trim(fields_[column]);
  if (said.empty()) {
    const std::string name = name_of(column);
    return reject_row(column, name + " is empty", "a " + name, "nothing");
  }
  out = said;
  return true;
}

bool Rows::due(int column, int64_t due_us, Job& job) {
  if (due_us < job.submit_us) {
    const std::string name = name_of(column);
    return reject_row(column, name + " is before the submission", name + " after the submission",
                      trimmed(column));
  }
  job.dues = {{.within_us = due_us - job.submit_us}};
  return true;
}

bool Rows::keep_if_times_in_order(const Job& job) {
  if (job.logged_start_us < job.submit_us) return leave_out_row("starts before its submission");
  if (job.logged_end_us < job.logged_start_us) return leave_out_row("ends before it starts");
  return true;
}

}  // namespace yard
