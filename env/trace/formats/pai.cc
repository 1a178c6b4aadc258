// alibaba_trace_sub.csv: GPU tasks of Alibaba PAI, 2020 (Weng et al., NSDI 2022), as cut for
// mystous/gpu_scheduler: job_id ("ali-JOB-TASK#ROW"; TASK becomes the job's name), arrival_s,
// service_sec, gpu_count.
// Real, with exceptions: arrival_s is when the task STARTED, so waiting is lost; run times end at
// 48 h; shares of GPUs were rounded up and multiplied by the instances. Only tasks that succeeded
// are in it, and 8 % of those. Tasks of one job are separate rows.
//
// pai_task_table.csv of Alibaba PAI, 2020 (Weng et al., NSDI 2022), as its authors publish it: no
// line of names; job_name, task_name, inst_num, status, start_time, end_time (s), plan_cpu
// (hundredths of a core), plan_mem (GB), plan_gpu (hundredths of a GPU), gpu_type. The last four
// are per instance. Tasks of one job_name are the groups of one job. Below a whole GPU, an instance
// has a share of one. gpu_type is the type that the job was given, not one it asked for;
// gpu_types=true requires it anyway.
// A task's start is its launch. pai_job_table.csv in the same folder gives submissions and users;
// without it, jobs arrive when they started, and a notice says so. Jobs that never started or had
// not ended, and tasks that end before they start, are left out.
#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

// Returns "worker" for "ali-e292c9c6-worker#384494"; other text unchanged.
std::string task_of(std::string id) {
  id.resize(std::min(id.rfind('#'), id.size()));
  const size_t dash = id.rfind('-');
  return dash == id.npos ? id : id.substr(dash + 1);
}

class PaiReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "arrival_s", "service_sec", "gpu_count"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), arrival = rows.column("arrival_s"),
              service = rows.column("service_sec"), gpus = rows.column("gpu_count");
    rows.add_job_of_each_row([&](Job& job) {
      if (!rows.text(id, job.id)) return false;
      job.name = task_of(job.id);
      return rows.seconds(arrival, job.submit_us) && rows.seconds(service, job.run_us) &&
             rows.gpus(gpus, job.gpus);
    });
  }

  std::string example() const override {
    return "job_id,arrival_s,service_sec,gpu_count\n"
           "ali-e292c9c65d286997da9c5b26-worker#384494,16670.0,167731.0,8\n"
           "ali-51d01202d231f9fae85bceab-PyTorchWorker#554540,76966.0,154108.0,1\n";
  }
};

struct Config {
  std::string jobs = "all";
  bool gpu_types = false;
  void fields(FieldList& f) {
    f("jobs", jobs, {"all", "gpu"},
      "jobs to read; gpu: only jobs that request a GPU or a share of one");
    f("gpu_types", gpu_types, "restrict each job to the GPU types on which it ran in the log");
  }
};

enum Column { kJob, kTask, kInstances, kStatus, kStart, kEnd, kCpu, kMem, kGpu, kType };
const std::vector<std::string> kNames = {"job_name",   "task_name", "inst_num", "status",
                                         "start_time", "end_time",  "plan_cpu", "plan_mem",
                                         "plan_gpu",   "gpu_type"};
constexpr std::array<std::string_view, 4> kStatuses = {"Running", "Terminated", "Failed",
                                                       "Waiting"};

// Data of a job in the table of jobs.
struct Submission {
  int64_t submit_us = -1;
  std::string user;
};

// A job while its tasks are being read.
struct Gathered {
  Job job;
  int64_t first_us = -1, last_us = -1;
  bool open = false;  // some task has not ended
};

class PaiTasksReader : public TraceReader {
 public:
  // By the status in the fourth of ten fields, if there is no line of names.
  bool recognises(const FileHead& head) const override {
    const auto fields = split(head.line(1), ',');
    return fields.size() == kNames.size() &&
           (std::ranges::equal(fields, kNames) ||
            (std::ranges::count(kStatuses, trim(fields[kStatus])) > 0 &&
             (fields[kInstances].empty() || parse_double(fields[kInstances]))));
  }

  Layout layout() const override { return {.head = 0, .names = 0, .columns = kNames}; }

  void read(Rows& rows) const override {
    const auto submissions = read_jobs(rows);
    std::unordered_map<std::string, size_t> index;
    std::vector<Gathered> jobs;
    while (rows.next()) {
      if (rows.field(kJob) == kNames[kJob]) continue;  // the line of names was added
      std::string id;
      RoleGroup group;
      if (!rows.text(kJob, id) || !read_group(rows, group)) continue;
      int64_t start_us = -1, end_us = -1;
      if (is_missing(rows.field(kStart))) {
        rows.leave_out_row("a task that never started");
        continue;
      }
      if (!rows.seconds(kStart, start_us)) continue;
      const bool ended = !is_missing(rows.field(kEnd)) && parse_double(rows.field(kEnd)) != 0.0;
      if (ended && !rows.seconds(kEnd, end_us)) continue;
      if (ended && end_us < start_us) {
        rows.leave_out_row("a task that ends before it starts");
        continue;
      }
      const auto [at, first] = index.try_emplace(id, jobs.size());
      if (first) jobs.emplace_back().job.line = rows.line_number();
      Gathered& one = jobs[at->second];
      one.job.id = id;
      one.job.status = rows.trimmed(kStatus);
      one.first_us = one.first_us < 0 ? start_us : std::min(one.first_us, start_us);
      one.last_us = std::max(one.last_us, end_us);
      one.open = one.open || !ended;
      add_group(std::move(group), one.job);
      const std::string type = rows.trimmed(kType);
      const bool on_gpu =
          one.job.groups.back().task.gpus > 0 || one.job.groups.back().task.gpu_milli > 0;
      if (config_.gpu_types && on_gpu && !type.empty() &&
          std::ranges::count(one.job.gpu_types, type) == 0) {
        one.job.gpu_types.push_back(type);
      }
    }
    const auto typed = [](const Gathered& one) { return !one.job.gpu_types.empty(); };
    if (config_.gpu_types && !jobs.empty() && std::ranges::none_of(jobs, typed)) {
      throw InputError("trace.gpu_types", "a table with GPU types", "no GPU type in any row");
    }
    for (Gathered& one : jobs) add_job(rows, std::move(one), submissions);
    if (submissions.empty() && rows.size() > 0) {
      rows.add_file_notice(
          "no submission times: jobs arrive at their start, without a logged wait; put "
          "pai_job_table.csv, which has the submission times, into the same folder");
    }
  }

  std::string example() const override {
    return "4f057009a5d481acec67b088,tensorflow,1.0,Terminated,1739162.0,1739200.0,600.0,29.296875,"
           "50.0,MISC\n"
           "af724763f4f5d0beef445849,ps,2.0,Terminated,2081330.0,2083889.0,600.0,16.0,,\n"
           "af724763f4f5d0beef445849,worker,4.0,Terminated,2081336.0,2083889.0,400.0,29.3,100.0,"
           "V100\n";
  }

 protected:
  using Submissions = std::unordered_map<std::string, Submission>;

  static bool read_group(Rows& rows, RoleGroup& group) {
    constexpr int32_t kMaxInstances = 1 << 20;
    group.role = rows.trimmed(kTask);
    if (group.role.empty()) group.role = "worker";
    if (!is_missing(rows.field(kInstances)) &&
        !rows.integer(kInstances, group.count, 1, kMaxInstances)) {
      return false;
    }
    double cpu = 0, mem = 0, gpu = 0;
    const auto number = [&](Column column, double most, double& out) {
      if (is_missing(rows.field(column))) return true;
      if (!rows.number(column, out)) return false;
      if (out <= most) return true;
      return rows.reject_row(column, kNames[column] + " is too large",
                             kNames[column] + " of at most " + shortest_text(most),
                             rows.trimmed(column));
    };
    if (!number(kCpu, 2e8, cpu) || !number(kMem, 1e9, mem) || !number(kGpu, 1e6, gpu)) return false;
    group.task.cpu_milli = static_cast<int32_t>(std::llround(10 * cpu));
    group.task.mem_mib = std::llround(1024 * mem);
    const auto milli = static_cast<int32_t>(std::llround(10 * gpu));
    if (milli < 1000) group.task.gpu_milli = milli;
    if (milli >= 1000) group.task.gpus = (milli + 999) / 1000;  // whole GPUs if there are several
    return true;
  }

  // Tasks of one name, as written again by a restart, are one group with the larger count.
  static void add_group(RoleGroup group, Job& job) {
    const auto same = std::ranges::find(job.groups, group.role, &RoleGroup::role);
    if (same == job.groups.end()) {
      job.groups.push_back(std::move(group));
    } else if (group.count > same->count) {
      *same = std::move(group);
    }
  }

  bool add_job(Rows& rows, Gathered one, const Submissions& submissions) const {
    Job& job = one.job;
    if (one.open) return rows.leave_out_row("has not ended");
    int64_t gpus = 0;
    for (const RoleGroup& group : job.groups) {
      gpus += int64_t{group.count} * (group.task.gpus + (group.task.gpu_milli > 0));
    }
    if (gpus == 0 && config_.jobs == "gpu") return rows.leave_out_row("requests no GPU");
    if (gpus > 1 << 20) return rows.leave_out_row("requests more than 1048576 GPUs");
    job.gpus = static_cast<int32_t>(gpus);
    job.submit_us = one.first_us;
    job.run_us = one.last_us - one.first_us;
    job.logged_start_us = one.first_us;
    job.logged_end_us = one.last_us;
    const auto said = submissions.find(job.id);
    if (said != submissions.end()) {
      job.user = said->second.user;
      const int64_t submit_us = said->second.submit_us;
      if (submit_us >= 0 && submit_us <= one.first_us) job.submit_us = submit_us;
    }
    if (submissions.empty()) job.logged_start_us = job.logged_end_us = -1;
    rows.add(std::move(job));
    return true;
  }

  // Reads job_name, inst_id, user, status, start_time, end_time.
  static Submissions read_jobs(const Rows& rows) {
    Submissions out;
    rows.read_companion_file("pai_job_table.csv", [&](const auto& fields) {
      if (fields.size() < 5) return;
      const auto submit_us = parse_seconds_us(trim(fields[4]));
      out[std::string(trim(fields[0]))] = {submit_us.value_or(-1), std::string(trim(fields[2]))};
    });
    return out;
  }

  Config config_;
};

const AddReader<PaiReader> kPai{
    "pai",
    "CSV of GPU tasks of Alibaba PAI, 2020 (Weng et al., NSDI 2022): 8 % of the tasks that "
    "succeeded. Arrivals are the logged starts, so waits are lost. Run times end at 48 h. GPU "
    "shares are rounded up to whole GPUs."};
const AddReader<PaiTasksReader, Config> kPaiTasks{
    "pai-tasks",
    "pai_task_table.csv of Alibaba PAI, 2020 (Weng et al., NSDI 2022). All values are real. The "
    "tasks of a job_name are the groups of one job. Submissions and users come from "
    "pai_job_table.csv in the same folder; without it, jobs arrive at their start. Jobs that "
    "never started or have not ended are left out."};

}  // namespace
}  // namespace yard
