// Rows of a file with named columns, and the jobs read from them. All readers share this class.
//
//   const int id = rows.column("job_id"), gpus = rows.column("num_gpu");
//   rows.add_each([&](Job& job) { return rows.text(id, job.id) && rows.gpus(gpus, job.gpus); });
//
// A row that cannot be used, or repeats a job id, is skipped and counted with its reason. finish()
// may reject a file for such rows. Rows that a reader leaves out (leave_out_row()) are counted and
// reported, but do not cause rejection.
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

// Layout of the rows of a format.
struct Layout {
  // ' ': any run of blanks. '\0': a row is one field, the whole line. ',': also ; | or tab, if the
  // line of names uses it.
  char separator = ',';
  int32_t head = 1;               // lines before the rows
  int32_t names = 1;              // number of the line of column names, from 1; 0: use `columns`
  char comment = '\0';            // rows that begin with it are skipped
  bool lower_case_names = false;  // column names are read in lower case
  bool variable_fields = false;   // the number of fields may vary; see num_fields()
  std::vector<std::string> columns = {};
  bool quotes = false;  // RFC 4180, also with line breaks in fields; set if the names have quotes
  std::string free_text = {};  // column that takes surplus separators of a row
};

// Layout of a format whose reader takes whole lines.
inline Layout whole_lines() { return {.separator = '\0', .head = 0, .names = 0, .columns = {""}}; }

// Notice about a row that repeats the line of column names.
inline constexpr const char* kRepeatedHeaderNotice =
    "repeated header line skipped, as in concatenated files";

class Rows {
 public:
  // Skips empty lines. `renames` gives columns the names that a reader expects. `lines` must
  // outlive this object.
  Rows(Lines& lines, const Layout& layout, Renames renames = {});

  // Returns the index of a column; -1 for an optional one that is missing. Throws InputError if a
  // required column is missing, or if the name occurs twice.
  int column(std::string_view name) const;
  int optional_column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }
  const Renames& renames() const { return renames_; }
  // Returns the name that a column has in the file, before `renames`.
  const std::string& name_in_file(int column) const;
  char separator() const { return layout_.separator; }
  const std::string& source() const { return lines_->name(); }
  // Returns the position of the line of column names for errors: "jobs.csv:1".
  std::string header_position() const;

  // Reads the comma-separated lines of the file `name` or `name`.gz in the folder of source(), if
  // there is one: calls `take` with the fields of each.
  void read_companion_file(
      const std::string& name,
      const std::function<void(const std::vector<std::string_view>&)>& take) const;

  // Returns the value of a comment "; Name: value" before the first row. Call next() first.
  std::optional<std::string> header(std::string_view name) const;

  // Moves to the next row with the right number of fields. Returns false at the end. Results of
  // field() are valid until the next call.
  bool next();
  std::string_view field(int column) const { return fields_[column]; }
  std::string trimmed(int column) const;       // empty for column -1
  bool said(int column) const;                 // false for column -1 and for blanks
  bool quoted(int column) const;               // the field was in quotes
  void rewrite(int column, std::string text);  // replaces the field in this row
  int num_fields() const { return static_cast<int>(fields_.size()); }
  std::string_view line() const { return row_; }       // the row as in the file
  int32_t line_number() const { return first_line_; }  // the first line, if a row has several

  // Each returns false and counts the row as unusable if the field has no valid value.
  bool time(int column, int64_t& out_us, const TimeUnit& unit);  // at least 0
  bool seconds(int column, int64_t& out_us) { return time(column, out_us, kInSeconds); }
  bool milliseconds(int column, int64_t& out_us) { return time(column, out_us, kInMilliseconds); }
  bool minutes(int column, int64_t& out_us) { return time(column, out_us, kInMinutes); }
  bool whole_seconds(int column, int64_t& out_us);  // cuts off the fraction
  // Reads a date since 1970: call move_zero_to_first_submission().
  bool date(int column, const Zone& zone, int64_t& out_us);
  bool gpus(int column, int32_t& out, int32_t least = 1);
  bool whole(int column, int64_t& out, int64_t least = 0,
             int64_t most = std::numeric_limits<int64_t>::max());
  bool whole(int column, int32_t& out, int32_t least = 0,
             int32_t most = std::numeric_limits<int32_t>::max());
  bool number(int column, double& out, double least = 0);  // finite
  bool positive(int column, double& out);                  // finite, above 0
  bool text(int column, std::string& out);                 // not empty; trims blanks
  // Adds the deadline `due_us`, read from `column`, on the clock of job.submit_us.
  bool due(int column, int64_t due_us, Job& job);
  // Leaves the row out if submission, start and end are not in order: users cannot correct a
  // published archive.
  bool leave_out_if_out_of_order(const Job& job);

  // Counts the current row as unusable: for the field in `column`, a place in it, or as a whole.
  // `reason` must be the same for all rows of a kind. Returns false, like reject_too_few_fields()
  // and leave_out_row().
  bool unusable(const std::string& reason, const std::string& expected, const std::string& got) {
    return unusable_at("", reason, expected, got);
  }
  bool unusable(int column, const std::string& reason, const std::string& expected,
                const std::string& got);
  bool unusable_at(const std::string& place, const std::string& reason, const std::string& expected,
                   const std::string& got);

  // Counts a row with too few fields as unusable. A last line without a line end is reported as cut
  // off.
  bool reject_too_few_fields(const std::string& expected, const std::string& got);
  bool is_line_cut_off() const { return lines_->ending().empty(); }

  // Counts the current row as one that holds no job to replay.
  bool leave_out_row(const std::string& reason);

  // Adds a notice about the current row, which is kept. Equal texts are counted.
  void notice(const std::string& text);

  // Sets the first line of the current row, for data that span several rows.
  void set_first_line(int32_t line) { first_line_ = line; }

  // Adds a notice about the whole file. Call it once for each text.
  void add_file_notice(const std::string& text) { notices_.push_back({text, 0, lines_->name()}); }

  void add(Job job);  // at the current row, or at job.line
  // Calls `read(Job&)` for every further row. Adds the job if `read` returns true.
  template <class Read>
  void add_each(Read&& read) {
    while (next()) {
      Job job;
      if (read(job)) add(std::move(job));
    }
  }
  Job* last() { return num_jobs_ == 0 ? nullptr : &chunks_.back().back(); }
  bool has(const std::string& id) { return seen_[slot_of(id)].job >= 0; }
  size_t size() const { return num_jobs_; }
  Job& job(size_t j) { return chunks_[j / kChunk][j % kChunk]; }  // in the order of add()

  // Sets the Unix time of the trace's zero.
  void set_epoch_unix_s(int64_t epoch_s) { epoch_s_ = epoch_s; }
  // Sets the size of the recorded cluster.
  void set_recorded_cluster_gpus(int32_t gpus) { machine_gpus_ = gpus; }
  // Moves the trace's zero to its first submission, in whole seconds: for times since 1970.
  void move_zero_to_first_submission() { zero_at_first_ = true; }

  // Moves the jobs into `trace`, sorted stably by submission, with counts of rows left out. Throws
  // InputError about the first unusable row and their number, or if no job is left. With
  // `skip_unusable`, unusable rows count as left out.
  void finish(bool skip_unusable, Trace& trace);

 private:
  bool next_record();
  std::string name_of(int column) const;
  size_t slot_of(const std::string& id);
  bool add_id(const std::string& id);
  std::string here() const;
  void collect(std::vector<Job>& jobs);

  // Chunks, since the number of jobs is unknown at first and a growing vector would copy them.
  using Chunk = std::vector<Job, MmapAllocator<Job>>;
  static constexpr size_t kChunk = 2048;

  Lines* lines_;
  Layout layout_;
  Renames renames_;
  std::vector<std::string> columns_;
  std::vector<std::string> columns_in_file_;  // before --columns
  std::string names_;                         // line of column names as in the file; empty: none
  int32_t names_line_ = 0;                    // its number
  int free_text_ = -1;
  std::string_view row_;
  int32_t first_line_ = 0;
  std::string record_, unquoted_;      // buffers of a row with quotes
  std::deque<std::string> rewritten_;  // fields of the current row
  std::vector<std::string_view> fields_;
  std::vector<Chunk> chunks_;
  size_t num_jobs_ = 0;
  struct Seen {
    uint32_t hash = 0;  // of the id
    int32_t job = -1;   // index; -1: an empty slot
  };
  std::vector<Seen> seen_;  // open addressing, at most half full
  std::vector<Skipped> unusable_rows_, left_out_, notices_;
  int64_t unusable_ = 0;
  std::string first_expected_, first_got_, first_where_;
  int32_t first_unusable_line_ = 0;
  std::optional<int64_t> epoch_s_;
  int32_t machine_gpus_ = 0;
  bool zero_at_first_ = false, seen_row_ = false;  // seen_row_: a row was seen
  std::vector<std::string> comments_;              // before the first row
};

}  // namespace yard
