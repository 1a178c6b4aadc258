// The Slurm log of TACC's Lonestar6, A100 partition (Ding et al., SC 2023): three head lines (a
// count, names, dashes), then fields separated by TABs: JobID, JobName (cut to 10 characters; one
// holds a TAB), UID, Start, Submit, End (wall clock), Priority, TimelimitR (MINUTES), ExitCode,
// NNodes. All values are real. The clock is that of Texas: read as UTC, 31 runs over the night of
// 2023-03-12 exceed their limit by an hour; with the zone below none does by a minute.
// Whole nodes are allocated and GPUs are not named. A node counts as one GPU unless gpus_per_node
// says otherwise (by the site's documentation a node has three). 3,328 jobs ran 0 s.
#include <algorithm>

#include "env/trace/core/split_line.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

struct Config {
  int gpus_per_node = 1;
  std::string zone = "CST6CDT,M3.2.0,M11.1.0";
  void fields(FieldList& f) {
    f("gpus_per_node", gpus_per_node, 1, 1024, "GPUs per requested node");
    f("zone", zone, "time zone of the log's clock, in POSIX format");
  }
};

// In the order of kColumns.
enum Column { kId, kName, kUser, kStart, kSubmit, kEnd, kPriority, kLimit, kExit, kNodes };
const std::vector<std::string> kColumns = {"JobID", "JobName",  "UID",        "Start",    "Submit",
                                           "End",   "Priority", "TimelimitR", "ExitCode", "NNodes"};

class TaccReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return std::ranges::equal(split_line(head.line(2), ' '), kColumns) &&
           head.line(3).starts_with("---");
  }

  Layout layout() const override {
    return {.separator = '\t', .head = 3, .names = 0, .columns = kColumns, .free_text = "JobName"};
  }

  void read(Rows& rows) const override {
    rows.move_zero_to_first_submission();
    rows.add_job_of_each_row([&](Job& job) {
      int32_t num_nodes = 0;
      if (!rows.text(kId, job.id) || !rows.text(kUser, job.user) ||
          !rows.date(kStart, zone_, job.logged_start_us) ||
          !rows.date(kSubmit, zone_, job.submit_us) || !rows.date(kEnd, zone_, job.logged_end_us) ||
          !rows.integer(kPriority, job.priority) || !rows.minutes(kLimit, job.limit_us) ||
          !rows.integer(kNodes, num_nodes, 1, kMaxNodes) || !rows.keep_if_times_in_order(job)) {
        return false;
      }
      job.run_us = job.logged_end_us - job.logged_start_us;
      job.gpus = num_nodes * config_.gpus_per_node;
      job.name = rows.trimmed(kName);
      job.status = rows.trimmed(kExit);
      return true;
    });
  }

  std::string example() const override {
    return "2\n"
           "       JobID    JobName    UID               Start              Submit                 "
           "End   Priority TimelimitR ExitCode   NNodes\n"
           "------------ ---------- ------ ------------------- ------------------- "
           "------------------- ---------- ---------- -------- --------\n"
           "478730\tdimer.11\t00000\t2022-11-05T04:12:18\t2022-10-05T11:52:48\t2022-11-07T03:12:"
           "22\t"
           "1234\t2880\t0:0\t2\n"
           "746545\tx\ta\t00326\t2023-03-09T12:48:05\t2023-03-09T12:46:57\t2023-03-09T12:48:05\t"
           "1169\t720\t0:0\t4\n";
  }

 protected:
  static constexpr int32_t kMaxNodes = 1024;

  Config config_;
  Zone zone_;
};

const AddReader<TaccReader, Config> kAdd{
    "tacc",
    "Slurm log of TACC Lonestar6, A100 partition (Ding et al., SC 2023). All values are real. "
    "The log does not count GPUs; by the site, a node has three. TimelimitR is in minutes. 3,328 "
    "jobs ran for 0 s."};

}  // namespace
}  // namespace yard
