// Workloads of Morphling/Rubick (Zhang et al., MLSys 2025): name, submission_time (s), duration (s,
// steps times the step time measured on A800 under exec_plan), application, num_gpus, num_cpus,
// bandwidth, exec_plan, steps, is_sla. The source of the arrivals is unknown. Many jobs have one or
// two steps (min_steps leaves them out). The authors measured or chose steps, models, plans and
// step times. is_sla marks jobs with guaranteed speed: they get priority 1, others 0. CPUs are
// divided evenly over tasks of one GPU. exec_plan and bandwidth (0 within one node) are ignored.
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

struct Config {
  int64_t min_steps = 1;
  void fields(FieldList& f) {
    f("min_steps", min_steps, int64_t{1}, int64_t{1'000'000'000},
      "least number of steps; jobs with fewer steps are left out");
  }
};

class MorphlingReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"name", "submission_time", "duration", "application", "num_gpus",
                                  "num_cpus", "bandwidth", "exec_plan", "steps", "is_sla"});
  }

  void read(Rows& rows) const override {
    const int name = rows.column("name"), submit = rows.column("submission_time"),
              duration = rows.column("duration"), model = rows.column("application"),
              gpus = rows.column("num_gpus"), cpus = rows.column("num_cpus"),
              steps = rows.column("steps"), sla = rows.column("is_sla");
    rows.add_job_of_each_row([&](Job& job) {
      int64_t num_steps = 0;
      int32_t num_cpus = 0;
      if (!rows.text(name, job.id) || !rows.seconds(submit, job.submit_us) ||
          !rows.seconds(duration, job.run_us) || !rows.text(model, job.model) ||
          !rows.gpus(gpus, job.gpus) || !rows.integer(cpus, num_cpus, 0, kMaxCpus) ||
          !rows.integer(steps, num_steps, 1) || !rows.integer(sla, job.priority, 0, 1)) {
        return false;
      }
      if (num_steps < config_.min_steps) return rows.leave_out_row("fewer steps than min_steps");
      job.iterations = static_cast<double>(num_steps);
      job.iteration_ms = static_cast<double>(job.run_us) / 1e3 / job.iterations;
      RoleGroup& workers = job.groups.emplace_back();
      workers.count = job.gpus;
      workers.task.gpus = 1;
      workers.task.cpu_milli = static_cast<int32_t>(int64_t{num_cpus} * 1000 / job.gpus);
      return true;
    });
  }

  std::string example() const override {
    return "name,submission_time,duration,application,num_gpus,num_cpus,bandwidth,exec_plan,steps,"
           "is_sla\n"
           "vit-0,0,3163.091667,vit,2,16,0,zero-dp,37239,1\n"
           "llama30-1,1639,142.2190972,llama30,48,384,1.25,344,64,0\n";
  }

 protected:
  static constexpr int32_t kMaxCpus = 1'000'000;

  Config config_;
};

const AddReader<MorphlingReader, Config> kAdd{
    "morphling",
    "workloads of Morphling/Rubick, LLM training on A800 (MLSys 2025). Step times were measured; "
    "the origin of the arrivals is unknown. Many jobs have one or two steps. is_sla is priority "
    "1; exec_plan and bandwidth are ignored."};

}  // namespace
}  // namespace yard
