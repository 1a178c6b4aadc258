// cluster_log.csv of SenseTime's Helios (Hu et al., SC 2021): job_id, user, vc (as tenant),
// gpu_num, cpu_num, node_num, state, submit_time, start_time, end_time (wall clock), duration and
// queue (s). Also trace_seren.csv and trace_kalos.csv of Shanghai AI Lab's Acme (Hu et al., NSDI
// 2024): without vc, but with the kind of work (type, as name), gpu_time and dates with an offset
// from UTC; Kalos also has memory and failure times. All values are real. In Kalos' log `duration`
// is the time in the queue, so run times are end minus start. Jobs that never started (no start;
// cancelled after 0 s) or had not ended are left out. CPU jobs have one task per node. The number
// of nodes of a GPU job is ignored: the scheduler chooses its nodes.
#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/timestamps.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

struct Config {
  std::string jobs = "all";
  std::string zone = "UTC0";
  void fields(FieldList& f) {
    f("jobs", jobs, {"all", "gpu"}, "jobs to read; gpu: only jobs that request GPUs");
    f("zone", zone, "time zone of dates that name none, in POSIX format");
  }
};

class JobTable : public TraceReader {
 public:
  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), user = rows.column("user");
    const int tenant = rows.optional_column("vc"), name = rows.optional_column("type");
    const int gpus = rows.column("gpu_num"), state = rows.column("state");
    const Times times{rows.column("submit_time"), rows.column("start_time"),
                      rows.column("end_time"), rows.column("duration")};
    rows.move_zero_to_first_submission();
    bool used_zone = config_.zone == "UTC0";
    rows.add_job_of_each_row([&](Job& job) {
      if (!rows.text(id, job.id) || !rows.gpus(gpus, job.gpus, 0)) return false;
      job.status = rows.trimmed(state);
      if (job.gpus == 0 && config_.jobs == "gpu") return rows.leave_out_row("requests no GPU");
      if (!read_times(rows, times, job) || (job.gpus == 0 && !read_cpus(rows, job))) return false;
      used_zone = used_zone || !has_utc_offset(rows.field(times.submitted));
      job.user = rows.trimmed(user);
      job.tenant = rows.trimmed(tenant);
      job.name = rows.trimmed(name);
      return true;
    });
    if (used_zone || rows.size() == 0) return;
    throw InputError("trace.zone", "a file with dates without a time zone",
                     "a time zone in every date");
  }

 protected:
  struct Times {
    int submitted, started, ended, duration;
  };

  bool read_times(Rows& rows, const Times& at, Job& job) const {
    const auto says = [&](int column) { return !is_missing(rows.field(column)); };
    if (!says(at.started)) return rows.leave_out_row("never started");
    if (!says(at.ended)) return rows.leave_out_row("has not ended");
    if (!rows.date(at.submitted, zone_, job.submit_us) ||
        !rows.date(at.started, zone_, job.logged_start_us) ||
        !rows.date(at.ended, zone_, job.logged_end_us) || !rows.keep_if_times_in_order(job)) {
      return false;
    }
    job.run_us = job.logged_end_us - job.logged_start_us;
    if (job.run_us == 0 && job.status.starts_with("CANCEL")) {
      return rows.leave_out_row("cancelled before it ran");
    }
    return true;
  }

  static bool read_cpus(Rows& rows, Job& job) {
    constexpr int64_t kMaxCores = 1 << 20;
    int64_t cores = 0, nodes = 0;
    if (!rows.integer(rows.column("cpu_num"), cores, 1, kMaxCores) ||
        !rows.integer(rows.column("node_num"), nodes, 0, kMaxCores)) {
      return false;
    }
    nodes = std::clamp<int64_t>(nodes, 1, cores);
    RoleGroup group;
    group.count = static_cast<int32_t>(nodes);
    group.task.cpu_milli =
        static_cast<int32_t>(std::min<int64_t>((1000 * cores + nodes - 1) / nodes, 2'000'000'000));
    job.groups.push_back(std::move(group));
    return true;
  }

  Config config_;
  Zone zone_;
};

class HeliosReader : public JobTable {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_columns({"job_id", "user", "vc", "gpu_num", "cpu_num", "node_num", "state",
                             "submit_time", "start_time", "end_time", "duration"});
  }

  std::string example() const override {
    return "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
           "queue\n"
           "1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 "
           "04:55:09,36848,0\n"
           "1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 "
           "18:45:36,249,0\n";
  }
};

class AcmeReader : public JobTable {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_columns({"job_id", "user", "node_num", "gpu_num", "cpu_num", "type", "state",
                             "submit_time", "start_time", "end_time", "duration", "gpu_time"});
  }

  std::string example() const override {
    return "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,"
           "duration,queue,gpu_time\n"
           "5778432,u5907,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 "
           "00:18:54+08:00,2023-03-01 00:20:51+08:00,117,32,936.0\n"
           "5778469,u5907,1,8,128,Other,COMPLETED,2023-03-01 00:23:58+08:00,2023-03-01 "
           "00:24:11+08:00,2023-03-01 01:09:04+08:00,2693,13,21544.0\n";
  }
};

const AddReader<HeliosReader, Config> kHelios{
    "helios",
    "cluster_log.csv of SenseTime's Helios, 2020 (Hu et al., SC 2021). All values are real; `vc` "
    "is the tenant. Jobs that never started or have not ended are left out."};
const AddReader<AcmeReader, Config> kAcme{
    "acme",
    "trace_seren.csv, trace_kalos.csv of Acme, 2023 (Hu et al., NSDI 2024). All values are real. "
    "Run times are end minus start, since `duration` in Kalos' log is the time in the queue. "
    "Jobs that never started or have not ended are left out."};

}  // namespace
}  // namespace yard
