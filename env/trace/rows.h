// A file of rows with named columns, and the jobs read from it: what readers share.
//
//   const int id = rows.column("job_id"), gpus = rows.column("num_gpu");
//   while (rows.next()) {
//     Job job;
//     job.id = rows.field(id);
//     if (rows.gpus(gpus, job.gpus) && ...) rows.add(std::move(job));
//   }
//
// A row that cannot be used is counted with its reason and passed over; finish() decides whether
// the file is refused for it. A job id that was seen before makes a row unusable, too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/lines.h"
#include "env/trace/job.h"

namespace yard {

// How a format lays out its rows.
struct Layout {
  char separator = ',';  // ' ': any run of blanks; '\0': a row is one field, the whole line
  int32_t head = 1;      // lines before the rows
  int32_t names = 1;     // which of them names the columns, from 1; 0: `columns` does
  char comment = '\0';   // rows that begin with it are passed over
  bool ragged = false;   // rows may have other numbers of fields; num_fields() tells
  std::vector<std::string> columns = {};
};

class Rows {
 public:
  // `lines` outlives this. Empty lines are passed over; fields are split without quotes.
  Rows(Lines& lines, const Layout& layout);

  // Returns the column of that name, -1 for an optional one that is not there. Throws InputError.
  int column(std::string_view name) const;
  int optional_column(std::string_view name) const;

  // Goes to the next row that has as many fields as there are columns; what field() returns holds
  // until then.
  bool next();
  std::string_view field(int column) const { return fields_[column]; }
  int num_fields() const { return static_cast<int>(fields_.size()); }
  std::string_view line() const { return row_; }  // the row as it stands
  int32_t line_number() const { return static_cast<int32_t>(lines_->number()); }

  // Each returns false and counts the row as unusable where the field is not such a value.
  bool seconds(int column, int64_t& out_us);        // at least 0
  bool whole_seconds(int column, int64_t& out_us);  // the same, a fraction cut off
  bool milliseconds(int column, int64_t& out_us);   // at least 0
  bool gpus(int column, int32_t& out);              // at least 1
  bool integer(int column, int64_t least, int64_t most, int64_t& out);
  bool positive(int column, double& out);   // a number above 0
  bool text(int column, std::string& out);  // not empty

  // Counts the present row as unusable. `reason` is the same for all rows of a kind.
  void unusable(const std::string& reason, const std::string& expected, const std::string& got);

  void add(Job job);

  // Returns the jobs sorted stably by submission. Throws InputError about the first unusable row
  // and their number unless `skip_unusable`, which lists them in `skipped`; or if no job is left.
  std::vector<Job> finish(bool skip_unusable, std::vector<Skipped>& skipped);

 private:
  bool time(int column, int64_t unit_us, int64_t& out_us);
  bool fresh_id(const std::string& id);
  std::string here() const;

  Lines* lines_;
  Layout layout_;
  std::vector<std::string> columns_;
  std::string_view row_;
  std::vector<std::string_view> fields_;
  std::vector<Job> jobs_;
  std::vector<int32_t> seen_;  // open addressing: index into jobs_ by hash of the id, -1 empty
  std::vector<Skipped> skipped_;
  int64_t unusable_ = 0;
  std::string first_expected_, first_got_, first_where_;
};

}  // namespace yard
