// Reads the rows of a file with named columns and collects their jobs, for all trace readers.
//
//   const int id = rows.column("job_id"), gpus = rows.column("num_gpu");
//   rows.add_job_of_each_row([&](Job& job) { return rows.text(id, job.id) && rows.gpus(gpus,
//   job.gpus); });
//
// Rows that cannot be used, or repeat a job id, are counted with the reason, and Rows::finish() may
// reject the file because of them. Rows that a reader leaves out with leave_out_row() are counted
// and reported, but never cause rejection.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/base/files/lines.h"
#include "env/base/os/pages.h"
#include "env/base/text/wall_clock.h"
#include "env/trace/core/column_names.h"
#include "env/trace/core/job.h"
#include "env/trace/core/time_unit.h"

namespace yard {

// How the rows of a file format are laid out.
struct Layout {
  // Character between fields: ' ' stands for any run of blanks, '\0' makes the whole line one
  // field, and ',' also stands for ; | or tab if the line of column names uses it.
  char separator = ',';
  int32_t head = 1;               // number of lines before the first row
  int32_t names = 1;              // number of the line of column names, from 1; 0: use `columns`
  char comment = '\0';            // first character of comment rows, which are skipped
  bool lower_case_names = false;  // column names are converted to lower case
  bool variable_fields = false;   // rows may differ in their number of fields; see num_fields()
  std::vector<std::string> columns = {};
  bool quotes = false;  // fields may be quoted as in RFC 4180; set if the column names have quotes
  std::string free_text = {};  // column whose text may contain the separator
};

// Returns the layout of a format whose reader takes whole lines.
inline Layout whole_line_layout() {
  return {.separator = '\0', .head = 0, .names = 0, .columns = {""}};
}

// Notice about a row that repeats the line of column names.
inline constexpr const char* kRepeatedHeaderNotice =
    "repeated header line skipped, as in concatenated files";

class Rows {
 public:
  // Skips empty lines. `renames` gives columns the names that a reader expects. `lines` must
  // outlive this object.
  Rows(Lines& lines, const Layout& layout, Renames renames = {});

  // Returns the index of a column, or -1 if an optional column is missing. Throws InputError if a
  // required column is missing, or if `name` occurs twice.
  int column(std::string_view name) const;
  int optional_column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }
  const Renames& renames() const { return renames_; }
  // Returns a column's name in the file, before `renames` apply.
  const std::string& name_in_file(int column) const;
  char separator() const { return layout_.separator; }
  const std::string& source() const { return lines_->name(); }
  // Returns the position of the line of column names for error messages: "jobs.csv:1".
  std::string header_position() const;

  // Calls `take` with the fields of each line of the CSV file `name` or `name`.gz, if there is one
  // in the folder of source().
  void read_companion_file(
      const std::string& name,
      const std::function<void(const std::vector<std::string_view>&)>& take) const;

  // Returns the value of the comment "; NAME: value" before the first row. Call next() first.
  std::optional<std::string> header_comment_value(std::string_view name) const;

  // Moves to the next row with the right number of fields, or returns false at the end of the file.
  // Results of field() are valid until next() is called again.
  bool next();
  std::string_view field(int column) const { return fields_[column]; }
  std::string trimmed(int column) const;  // field without outer blanks; empty for column -1
  bool has_value(int column) const;       // the field is not blank; false for column -1
  bool was_quoted(int column) const;      // whether the field was in quotes
  void replace_field(int column, std::string text);  // replaces a field of the current row
  int num_fields() const { return static_cast<int>(fields_.size()); }
  std::string_view line() const { return row_; }       // the current row, as in the file
  int32_t line_number() const { return first_line_; }  // number of the line where the row begins

  // Reads a field. Returns false and counts the row as unusable if the field has no valid value.
  bool time(int column, int64_t& out_us, const TimeUnit& unit);  // at least 0
  bool seconds(int column, int64_t& out_us) { return time(column, out_us, kInSeconds); }
  bool milliseconds(int column, int64_t& out_us) { return time(column, out_us, kInMilliseconds); }
  bool minutes(int column, int64_t& out_us) { return time(column, out_us, kInMinutes); }
  bool truncated_seconds(int column, int64_t& out_us);  // drops fractions of a second
  // Reads a date as microseconds since 1970, after which move_zero_to_first_submission() is needed.
  bool date(int column, const Zone& zone, int64_t& out_us);
  bool gpus(int column, int32_t& out, int32_t least = 1);
  bool integer(int column, int64_t& out, int64_t least = 0,
               int64_t most = std::numeric_limits<int64_t>::max());
  bool integer(int column, int32_t& out, int32_t least = 0,
               int32_t most = std::numeric_limits<int32_t>::max());
  bool number(int column, double& out, double least = 0);  // finite
  bool positive_number(int column, double& out);           // finite, above 0
  bool text(int column, std::string& out);                 // non-empty text, without outer blanks
  // Adds the deadline `due_us`, which was read from `column` and is on the clock of job.submit_us.
  bool due(int column, int64_t due_us, Job& job);
  // Leaves the row out if the job's submission, start and end are not in order, since users cannot
  // correct a published archive.
  bool keep_if_times_in_order(const Job& job);

  // Counts the current row as unusable because of a field, of a place within a field, or as a
  // whole. `reason` must be the same text for all rows with the same problem. Returns false, as do
  // reject_too_few_fields() and leave_out_row().
  bool reject_row(const std::string& reason, const std::string& expected, const std::string& got) {
    return reject_row_at("", reason, expected, got);
  }
  bool reject_row(int column, const std::string& reason, const std::string& expected,
                  const std::string& got);
  bool reject_row_at(const std::string& place, const std::string& reason,
                     const std::string& expected, const std::string& got);

  // Counts a row with too few fields as unusable. A last row without a final newline is reported as
  // cut off.
  bool reject_too_few_fields(const std::string& expected, const std::string& got);
  bool is_line_cut_off() const { return lines_->line_ending().empty(); }

  // Counts the current row as left out, since it holds no job that can be replayed.
  bool leave_out_row(const std::string& reason);

  // Adds a notice about the current row, which is kept. Notices of equal text are counted together.
  void add_row_notice(const std::string& text);

  // Sets the line at which the current row's data begin, if they span several lines.
  void set_line_number(int32_t line) { first_line_ = line; }

  // Adds a notice about the whole file. Callers must add each text only once.
  void add_file_notice(const std::string& text) { notices_.push_back({text, 0, lines_->name()}); }

  void add(Job job);  // adds a job of the current row, or of line job.line
  // Calls `read(Job&)` for every remaining row, and adds the job if `read` returns true.
  template <class Read>
  void add_job_of_each_row(Read&& read) {
    while (next()) {
      Job job;
      if (read(job)) add(std::move(job));
    }
  }
  Job* last_job() { return num_jobs_ == 0 ? nullptr : &chunks_.back().back(); }
  bool has(const std::string& id) { return seen_[id_table_slot(id)].job >= 0; }
  size_t size() const { return num_jobs_; }
  Job& job(size_t j) { return chunks_[j / kChunk][j % kChunk]; }  // j-th job given to add()

  // Sets the Unix time of the trace's time 0.
  void set_epoch_unix_s(int64_t epoch_s) { epoch_s_ = epoch_s; }
  // Sets the number of GPUs of the recorded cluster.
  void set_recorded_cluster_gpus(int32_t gpus) { machine_gpus_ = gpus; }
  // Makes the first submission, in whole seconds, time 0 of a trace whose times count from 1970.
  void move_zero_to_first_submission() { zero_at_first_ = true; }

  // Moves the jobs into `trace`, sorted stably by submission, with counts of the rows left out.
  // Throws InputError about the first unusable row and the number of unusable rows, or if no job is
  // left. With `skip_unusable`, unusable rows count as rows left out.
  void finish(bool skip_unusable, Trace& trace);

 private:
  bool next_record();
  std::string name_of(int column) const;
  size_t id_table_slot(const std::string& id);
  bool add_id(const std::string& id);
  std::string position() const;
  void collect(std::vector<Job>& jobs);

  // Jobs are stored in chunks, since one growing vector would copy all of them.
  using Chunk = std::vector<Job, MmapAllocator<Job>>;
  static constexpr size_t kChunk = 2048;

  Lines* lines_;
  Layout layout_;
  Renames renames_;
  std::vector<std::string> columns_;
  std::vector<std::string> columns_in_file_;  // column names before renaming
  std::string names_;                         // line of column names as in the file; empty: none
  int32_t names_line_ = 0;                    // number of the line of column names
  int free_text_ = -1;
  std::string_view row_;
  int32_t first_line_ = 0;
  std::string record_, unquoted_;      // buffers for a row with quoted fields
  std::deque<std::string> rewritten_;  // fields of the current row replaced by replace_field()
  std::vector<std::string_view> fields_;
  std::vector<Chunk> chunks_;
  size_t num_jobs_ = 0;
  struct SeenId {
    uint32_t hash = 0;  // of the id
    int32_t job = -1;   // index of the job; -1: an empty slot
  };
  std::vector<SeenId> seen_;  // hash table of ids: open addressing, at most half full
  std::vector<CountedRows> unusable_rows_, left_out_, notices_;
  int64_t unusable_ = 0;
  std::string first_expected_, first_got_, first_where_;
  int32_t first_unusable_line_ = 0;
  std::optional<int64_t> epoch_s_;
  int32_t machine_gpus_ = 0;
  bool zero_at_first_ = false, seen_row_ = false;  // seen_row_: a row was read
  std::vector<std::string> comments_;              // comments before the first row
};

}  // namespace yard
