// philly_data_training.csv: the first 15,000 rows of Philly (2017) in the form of DIR-LAB's
// workload generator. Columns: u_id, user (renumbered), gpu_num, cpu_num (always 0), node_num,
// interval (s since the row before), run_time (s), wall_time (always 0), new_status. All values are
// real. A row is one ATTEMPT to run a job: retries follow each other at interval 0 with their own
// run times (404 s and 2,447 s here are one job of 2,851 s in philly.csv). Two jobs that a user
// submits in one second look the same. Joining rows is thus a guess, which join_attempts makes.
// node_num is the number of nodes used, not asked for, and is ignored.
#include <optional>

#include "env/base/config/registry.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

struct Config {
  bool join_attempts = false;
  void fields(FieldList& f) {
    f("join_attempts", join_attempts,
      "join rows of the same second, user, GPUs and status into one job; run times add up");
  }
};

class PhillyAttemptsReader final : public TraceReader {
 public:
  explicit PhillyAttemptsReader(const Settings& settings) : config_(parse<Config>(settings)) {}

  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"u_id", "user", "gpu_num", "cpu_num", "node_num", "interval",
                                  "run_time", "wall_time", "new_status"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("u_id");
    const int user = rows.column("user");
    const int gpus = rows.column("gpu_num");
    const int interval = rows.column("interval");
    const int run = rows.column("run_time");
    const int status = rows.column("new_status");
    int64_t submit_us = 0;
    while (rows.next()) {
      // Time advances even if the rest of the row is unusable.
      int64_t interval_us = 0;
      if (!rows.seconds(interval, interval_us)) continue;
      submit_us += interval_us;
      if (submit_us > kLatestUs) {
        rows.unusable(interval, "sum of the intervals is too large",
                      "a trace of less than 30 years", rows.trimmed(interval));
        submit_us -= interval_us;
        continue;
      }
      Job job;
      job.submit_us = submit_us;
      if (!rows.text(id, job.id) || !rows.text(user, job.user) || !rows.gpus(gpus, job.gpus, 0) ||
          !rows.seconds(run, job.run_us) || !rows.text(status, job.status)) {
        continue;
      }
      Job* before = config_.join_attempts && interval_us == 0 ? rows.last() : nullptr;
      if (before != nullptr && before->submit_us == submit_us && before->user == job.user &&
          before->gpus == job.gpus && before->status == job.status && before->run_us <= kLatestUs) {
        before->run_us += job.run_us;
        rows.left_out("attempt joined to the previous row");
        continue;
      }
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "u_id,user,gpu_num,cpu_num,node_num,interval,run_time,wall_time,new_status\n"
           "0,1,1,0,1,0,1389243,0,Killed\n"
           "2,3,8,0,2,257893,66336,0,Pass\n"
           "3,3,8,0,1,0,1042044,0,Pass\n";
  }

 private:
  static constexpr int64_t kLatestUs = int64_t{30} * 366 * 86400 * 1'000'000;

  Config config_;
};

const Registry<TraceReader>::Add<PhillyAttemptsReader> kAdd{
    "philly-attempts",
    {.help = "DIR-LAB's CSV of Philly, 2017: users and end states, one row per attempt. All "
             "values are real. Retries of a job follow each other at interval 0.",
     .fields = describe<Config>}};

}  // namespace
}  // namespace yard
