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
// the file is refused for it. A job id that was seen before makes a row unusable, too. Rows that a
// format leaves out by its nature are counted and named, and no reason to refuse the file.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "env/base/lines.h"
#include "env/base/pages.h"
#include "env/base/wall_clock.h"
#include "env/trace/header.h"
#include "env/trace/job.h"

namespace yard {

// How a format lays out its rows.
struct Layout {
  // ' ': any run of blanks; '\0': a row is one field, the whole line; ',': also ; | or tab, where
  // the line of names is separated so.
  char separator = ',';
  int32_t head = 1;     // lines before the rows
  int32_t names = 1;    // which of them names the columns, from 1; 0: `columns` does
  char comment = '\0';  // rows that begin with it are passed over
  bool ragged = false;  // rows may have other numbers of fields; see num_fields()
  std::vector<std::string> columns = {};
  bool quotes = false;  // "fields" as in RFC 4180, line breaks within them too; found by the names
  std::string free_text = {};  // the column to which separators belong that a row has too many of
};

// Of a row that is the line of column names once more.
inline constexpr const char* kNamesAgain =
    "the line of column names once more, as where files were put together: passed over";

class Rows {
 public:
  // `lines` outlives this. Empty lines are passed over. `renames`: what the caller calls columns.
  Rows(Lines& lines, const Layout& layout, Renames renames = {});

  // Returns the column of that name, -1 for an optional one that is not there. Throws InputError,
  // also where it is there twice.
  int column(std::string_view name) const;
  int optional_column(std::string_view name) const;
  const std::vector<std::string>& columns() const { return columns_; }
  const Renames& renames() const { return renames_; }
  char separator() const { return layout_.separator; }
  const std::string& source() const { return lines_->name(); }
  // The line that names the columns, as errors about it say: "jobs.csv:1".
  std::string where_names() const;

  // What a comment before the first row says as "; Name: value", once next() was called.
  std::optional<std::string> header(std::string_view name) const;

  // Goes to the next row that has as many fields as there are columns; what field() returns holds
  // until then.
  bool next();
  std::string_view field(int column) const { return fields_[column]; }
  std::string trimmed(int column) const;       // empty for column -1, too
  bool said(int column) const;                 // neither -1 nor blank
  bool quoted(int column) const;               // it stood in quotes
  void rewrite(int column, std::string text);  // what field() returns from now on, in this row
  int num_fields() const { return static_cast<int>(fields_.size()); }
  std::string_view line() const { return row_; }       // the row as it stands
  int32_t line_number() const { return first_line_; }  // of a row over several lines: the first

  // Each returns false and counts the row as unusable where the field is not such a value.
  bool seconds(int column, int64_t& out_us);        // at least 0
  bool whole_seconds(int column, int64_t& out_us);  // the same, a fraction cut off
  bool milliseconds(int column, int64_t& out_us);
  bool minutes(int column, int64_t& out_us);
  bool date(int column, const Zone& zone, int64_t& out_us);  // since 1970: call count_from_first()
  bool gpus(int column, int32_t& out, int32_t least = 1);
  bool whole(int column, int64_t& out, int64_t least = 0,
             int64_t most = std::numeric_limits<int64_t>::max());
  bool whole(int column, int32_t& out, int32_t least = 0,
             int32_t most = std::numeric_limits<int32_t>::max());
  bool number(int column, double& out, double least = 0);  // finite
  bool positive(int column, double& out);                  // finite, above 0
  bool text(int column, std::string& out);                 // not empty; blanks at its ends cut off
  // Adds the deadline `due_us`, read from `column` on the clock of job.submit_us.
  bool due(int column, int64_t due_us, Job& job);
  // Whether submission, start and end of a log follow each other; -1: a column that is not there.
  bool in_order(int start, int end, const Job& job);
  // The same for a published archive. Its readers cannot correct it: such rows are left out.
  bool in_order_or_left_out(const Job& job);

  // Counts the present row as unusable, for the field in `column`, a named place in it, or as a
  // whole. `reason` is the same for all rows of a kind.
  void unusable(const std::string& reason, const std::string& expected, const std::string& got);
  void unusable(int column, const std::string& reason, const std::string& expected,
                const std::string& got);
  void unusable_at(const std::string& place, const std::string& reason, const std::string& expected,
                   const std::string& got);

  // The same of a row with fewer fields than it should have: one on the last line, where that has
  // no end, is cut off.
  void too_few(const std::string& expected, const std::string& got);
  bool cut_off() const { return lines_->ending().empty(); }

  // Counts the present row as one that holds no job to replay.
  void left_out(const std::string& reason) { left_out(reason, line_number()); }

  // Says of the present row, which is kept, what a user should know; counted by `text`.
  void notice(const std::string& text);

  // Lets the present row begin on an earlier line: for what was read of several rows.
  void begins_at(int32_t line) { first_line_ = line; }

  // Says something about the file as a whole, once.
  void note_file(const std::string& text) { notices_.push_back({text, 0, lines_->name()}); }

  void add(Job job);  // on the present row, or on the line that the job names itself
  Job* last() { return num_jobs_ == 0 ? nullptr : &chunks_.back().back(); }
  bool has(const std::string& id) { return seen_[slot_of(id)].job >= 0; }
  size_t size() const { return num_jobs_; }
  Job& job(size_t j) { return chunks_[j / kChunk][j % kChunk]; }  // in the order of add()

  // The calendar time of the trace's zero, where the format knows it.
  void set_epoch_unix_s(int64_t epoch_s) { epoch_s_ = epoch_s; }
  // And the size of the cluster on which it was recorded.
  void set_machine_gpus(int32_t gpus) { machine_gpus_ = gpus; }
  // Moves the trace's zero to its first submission, in whole seconds: for times since 1970.
  void count_from_first() { from_first_ = true; }

  // Puts the jobs into `trace`, sorted stably by submission, and what it left out. Throws
  // InputError about the first unusable row and their number unless `skip_unusable`, which lists
  // them as left out; or if no job is left.
  void finish(bool skip_unusable, Trace& trace);

 private:
  struct Unit {
    int64_t us;
    const char *name, *symbol;
  };

  bool next_record();
  std::string name_of(int column) const;
  void left_out(const std::string& reason, int32_t line);
  size_t slot_of(const std::string& id);
  bool fresh_id(const std::string& id);
  bool time(int column, int64_t& out_us, const Unit& unit);
  std::string here() const;
  void collect(std::vector<Job>& jobs);

  // Jobs lie in pieces until their number is known: a vector that doubles would hold them twice.
  using Chunk = std::vector<Job, Pages<Job>>;
  static constexpr size_t kChunk = 2048;

  Lines* lines_;
  Layout layout_;
  Renames renames_;
  std::vector<std::string> columns_;
  std::string names_;    // the line of column names as it stands, empty without one
  int32_t on_line_ = 0;  // its number
  int free_text_ = -1;
  std::string_view row_;
  int32_t first_line_ = 0;
  std::string record_, unquoted_;      // of a row with quotes
  std::deque<std::string> rewritten_;  // of the present row
  std::vector<std::string_view> fields_;
  std::vector<Chunk> chunks_;
  size_t num_jobs_ = 0;
  struct Seen {
    uint32_t hash = 0;  // of the id
    int32_t job = -1;   // its number; -1: an empty slot
  };
  std::vector<Seen> seen_;  // open addressing, at most half full
  std::vector<Skipped> unusable_rows_, left_out_, notices_;
  int64_t unusable_ = 0;
  std::string first_expected_, first_got_, first_where_;
  int32_t first_unusable_line_ = 0;
  std::optional<int64_t> epoch_s_;
  int32_t machine_gpus_ = 0;
  bool from_first_ = false, begun_ = false;  // begun_: a row was seen
  std::vector<std::string> comments_;        // before the first one
};

}  // namespace yard
