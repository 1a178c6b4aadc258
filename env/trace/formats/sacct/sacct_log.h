// Turns rows of Slurm's accounting, in any form, into jobs: call read_row() for each row, and
// finish(). Rows that hold no run of a job are left out with the reason, rows of one job are
// joined, and jobs that share a number become separate jobs. A job arrives when it may run (column
// Eligible), so that holds, begin times and dependencies do not count as waiting. A requeued job
// has the arrival time of its first row and the run time of its last run. A resized job has the
// total run time of its parts, and the GPUs of the part whose GPU count, held for that total run
// time, comes closest to the GPU time that the job held.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "env/base/config/settings.h"
#include "env/base/os/pages.h"
#include "env/base/text/wall_clock.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/timestamps.h"
#include "env/trace/formats/sacct/sacct_request.h"

namespace yard {

struct SacctConfig {
  int gpus_per_node = 0, shards_per_gpu = 0;
  std::string tenant = "Partition";
  std::string zone = "UTC0";
  std::string cluster;
  std::string gpus = "allocated";
  std::string arrival = "Eligible";
  void fields(FieldList& f);
};

class SacctLog {
 public:
  // Returns the names of the sacct columns that SacctLog reads; it ignores all others.
  static const std::vector<std::string>& used_columns();

  // `rows` must outlive this object. Set `is_from_spreadsheet` if a spreadsheet or pandas wrote the
  // table, so that 1.0 is the number 1 rather than a step of job 1. Throws InputError if a column
  // is missing that jobs need or a setting names.
  SacctLog(const SacctConfig& config, const Settings& given, Rows& rows,
           std::vector<std::string> columns, bool is_from_spreadsheet = false);

  // Reads the current row, one field per column. Returns whether the row holds a run of a job.
  bool read_row(const std::vector<std::string_view>& fields);

  // Adds the jobs to `rows`. Throws InputError if a given setting has no effect on the log.
  void finish();

 private:
  // Indices of the columns, in the order of used_columns(); -1: the log lacks the column.
  struct Columns {
    int id, submit, eligible, start, end, elapsed, elapsed_raw, limit, limit_raw, state, user, uid,
        name, priority, nodes, cpus, mem, req_tres, alloc_tres, req_gres, alloc_gres, alloc_nodes,
        alloc_cpus, node_list, cluster, tenant;
  };
  // One run of a job, or the part of a run between two changes of the job's size.
  struct Run {
    Job job;  // submit_us: time from which the job may run
    int64_t submitted_us = 0;
    uint32_t cluster = 0;
    std::string_view state;
    bool unallocated = false;  // ran for 0 s with no resources allocated
    bool dropped = false;
    bool had_decimal_zero = false;  // the job's number is written "7.0"
  };
  // Reasons to leave out a row of a job that has not run, or has not run to its end.
  static constexpr const char* kNotStarted = "has not started";
  static constexpr const char* kNotEnded = "has not ended";
  static constexpr const char* kNeverStarted = "never started";
  struct RowWithoutRun {
    std::string id, user;
    uint32_t cluster;
    int64_t submitted_us, started_us;
    std::string_view reason;
    int32_t line;
    bool had_decimal_zero = false;
  };
  static constexpr const char* kStep = "step of a job";

  bool has(int column) const { return column >= 0 && !field(column).empty(); }
  std::string_view field(int column) const;
  bool has_time(int column) const;
  int find(std::string_view column) const;
  template <size_t... I>
  Columns find_all_columns(std::index_sequence<I...>) const {
    return {find(used_columns()[I])..., find(config_.tenant)};
  }
  void check_columns() const;
  void check_unused_settings() const;
  bool is_setting_given(const char* key) const;
  bool unusable(int column, const std::string& reason, const std::string& expected);
  bool unusable(const SlurmFlaw& flaw);

  const char* reason_not_a_run(std::string_view state, bool& unallocated) const;
  bool ran_no_time() const;
  uint32_t cluster_index_of_row();
  bool read_timestamp(int column, AmbiguousTime& out);
  bool read_duration(int column, int64_t& out_us);
  bool read_number(int column, int64_t& out);
  bool read_tres(int column, Tres& out);
  bool read_times(Run& run);
  void note_elapsed_mismatch(int64_t elapsed_us, int64_t span_us);
  bool read_limit(Job& job);
  bool read_request(Job& job);
  void mark(const std::string& id, const char* reason, bool had_decimal_zero);
  void cut_decimal_zeros();

  void join_rows_of_jobs();
  void join_rows(std::vector<Run*> runs, const std::vector<RowWithoutRun*>& unstarted);
  bool is_continuation(const Run& before, const Run& run) const;
  static bool follows_run(const RowWithoutRun& mark, const Run& run);
  Run* join_runs_of_job(const std::vector<Run*>& chain,
                        const std::vector<RowWithoutRun*>& unstarted);
  void drop(Run& run, const char* reason);
  std::string full_id(uint32_t cluster, const std::string& id) const;

  SacctConfig config_;
  std::vector<std::string> given_;
  Zone zone_;
  Rows& rows_;
  std::vector<std::string> columns_;
  Columns at_;
  const std::vector<std::string_view>* fields_ = nullptr;
  // Runs are stored in chunks, since one growing vector would copy all of them.
  using Piece = std::vector<Run, MmapAllocator<Run>>;
  static constexpr size_t kPiece = 2048;
  Run& run(size_t i) { return runs_[i / kPiece][i % kPiece]; }
  std::vector<Piece> runs_;
  size_t num_runs_ = 0;
  std::vector<RowWithoutRun> unstarted_;
  std::vector<std::string> clusters_;
  bool is_table_;
  std::vector<std::string_view> table_row_;    // fields of the current row of a table
  std::unordered_set<std::string> whole_ids_;  // job numbers that some row has as "7" or "7.batch"
  bool dates_seen_ = false, allocations_seen_ = false, gpus_seen_ = false, shards_seen_ = false;
};

}  // namespace yard
