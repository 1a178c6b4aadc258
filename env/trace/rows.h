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

#include "env/trace/job.h"

namespace yard {

class Rows {
 public:
  // `text` begins with the line of column names and outlives this; `file` names it in messages.
  // Lines end in \n or \r\n; empty ones are passed over. Fields are split at commas, without
  // quotes.
  Rows(std::string_view text, std::string file);

  // Returns the column of that name, -1 for an optional one that is not there. Throws InputError.
  int column(std::string_view name) const;
  int optional_column(std::string_view name) const;

  // Goes to the next row that has as many fields as there are columns.
  bool next();
  std::string_view field(int column) const { return fields_[column]; }

  // Each returns false and counts the row as unusable where the field is not such a value.
  bool seconds(int column, int64_t& out_us);        // at least 0
  bool whole_seconds(int column, int64_t& out_us);  // the same, a fraction cut off
  bool gpus(int column, int32_t& out);              // at least 1
  bool text(int column, std::string& out);          // not empty

  // Counts the present row as unusable. `reason` is the same for all rows of a kind.
  void unusable(const std::string& reason, const std::string& expected, const std::string& got);

  void add(Job job);

  // Returns the jobs sorted stably by submission. Throws InputError about the first unusable row
  // and their number unless `skip_unusable`, which lists them in `skipped`; or if no job is left.
  std::vector<Job> finish(bool skip_unusable, std::vector<Skipped>& skipped);

 private:
  bool fresh_id(const std::string& id);
  std::string here() const;

  std::string_view rest_;
  std::string file_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> fields_;
  int32_t line_ = 1;
  std::vector<Job> jobs_;
  std::vector<int32_t> seen_;  // open addressing: index into jobs_ by hash of the id, -1 empty
  std::vector<Skipped> skipped_;
  int64_t unusable_ = 0;
  std::string first_expected_, first_got_, first_where_;
};

// Splits off the first line, without its \n or \r\n, and takes a byte order mark from its front.
std::string_view take_line(std::string_view& text);

}  // namespace yard
