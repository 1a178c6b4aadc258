// Pods of Alibaba's openb cluster, 2023 (Weng et al., ATC 2023): name, cpu_milli, memory_mib,
// num_gpu (0 to 8), gpu_milli (of ONE GPU, used if num_gpu is 1), gpu_spec (accepted models, joined
// by '|'), qos, pod_phase, creation_time, deletion_time, scheduled_time (s). The default list is
// real; the authors sampled the others from it. Some are not sorted. Pods that were never placed
// (no scheduled_time) or had not ended (no deletion_time) are left out. Pods without GPUs are CPU
// jobs. The lists multigpuNN have no times and end at gpu_milli: gap_s and run_s space them out.
#include <algorithm>

#include "env/base/core/error.h"
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

struct Config {
  std::string pods = "all";
  double gap_s = -1, run_s = -1;
  void fields(FieldList& f) {
    f("pods", pods, {"all", "gpu"},
      "pods to read; gpu: only pods that request a GPU or a share of one");
    f("gap_s", gap_s, -1.0, 1e8,
      "seconds between successive pods, in file order; -1: logged arrivals");
    f("run_s", run_s, -1.0, 1e8, "run time of every pod, in seconds; -1: logged run times");
  }
};

class OpenbReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    const FileHead::Names asked = {"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"};
    return head.has_only_columns(asked) ||
           (head.has_columns(asked) && head.has_columns({"scheduled_time"}) &&
            head.has_only_columns({"gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time",
                                   "scheduled_time"},
                                  asked));
  }

  void read(Rows& rows) const override {
    const int name = rows.column("name"), gpus = rows.column("num_gpu");
    const int spec = rows.optional_column("gpu_spec"), qos = rows.optional_column("qos");
    const int phase = rows.optional_column("pod_phase");
    Times times{rows.optional_column("creation_time"), rows.optional_column("scheduled_time"),
                rows.optional_column("deletion_time")};
    const bool timed = times.created >= 0 && times.scheduled >= 0 && times.deleted >= 0;
    if (!timed && (config_.gap_s < 0 || config_.run_s < 0)) {
      throw InputError(rows.header_position(),
                       "columns creation_time, scheduled_time and deletion_time, or --set "
                       "trace.gap_s=SECONDS --set trace.run_s=SECONDS to set the times",
                       "a list of pods without times");
    }
    int64_t pods = 0;
    rows.add_job_of_each_row([&](Job& job) {
      if (!rows.text(name, job.id) || !rows.gpus(gpus, job.gpus, 0)) return false;
      if (job.gpus == 0 && config_.pods == "gpu") return rows.leave_out_row("requests no GPU");
      if (!read_task(rows, job) || !read_times(rows, times, pods, job)) return false;
      if (rows.has_value(spec) && !read_types(rows, spec, job)) return false;
      job.tenant = rows.trimmed(qos);
      job.status = rows.trimmed(phase);
      ++pods;
      return true;
    });
  }

  std::string example() const override {
    return "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
           "deletion_time,scheduled_time\n"
           "openb-pod-0000,12000,16384,1,1000,,LS,Running,0,12537496,0\n"
           "openb-pod-0001,6000,12288,1,460,T4|P100,LS,Running,427061,12902960,427063\n"
           "openb-pod-0017,88000,327680,8,1000,,BE,Succeeded,10001278,10001403,10001280\n"
           "openb-pod-0061,11908,47104,1,1000,,BE,Pending,10001279,10001404,\n";
  }

 protected:
  struct Times {
    int created, scheduled, deleted;
  };

  static bool read_types(Rows& rows, int column, Job& job) {
    const std::string said = rows.trimmed(column);
    for (const std::string_view model : split(said, '|')) job.gpu_types.emplace_back(trim(model));
    if (std::ranges::count(job.gpu_types, "") == 0) return true;
    return rows.reject_row(column, "gpu_spec with an empty model", "models separated by '|'",
                           in_quotes(said));
  }

  static bool read_task(Rows& rows, Job& job) {
    RoleGroup group;
    int32_t milli = 0;
    if (!rows.integer(rows.column("cpu_milli"), group.task.cpu_milli) ||
        !rows.integer(rows.column("memory_mib"), group.task.mem_mib, 0, kMaxMib) ||
        !rows.integer(rows.column("gpu_milli"), milli, 0, 1000) ||
        (job.gpus == 1 && milli < 1 && !rows.integer(rows.column("gpu_milli"), milli, 1, 1000))) {
      return false;
    }
    const bool share = job.gpus == 1 && milli < 1000;
    group.task.gpus = share ? 0 : job.gpus;
    group.task.gpu_milli = share ? milli : 0;
    job.groups.push_back(std::move(group));
    return true;
  }

  bool read_times(Rows& rows, const Times& times, int64_t pods, Job& job) const {
    const auto micros = [](double s) { return static_cast<int64_t>(s * 1e6); };
    if (config_.gap_s >= 0) {
      job.submit_us = pods * micros(config_.gap_s);
    } else if (!rows.seconds(times.created, job.submit_us)) {
      return false;
    }
    if (config_.run_s >= 0) {
      job.run_us = micros(config_.run_s);
      return true;
    }
    if (!rows.has_value(times.scheduled)) return rows.leave_out_row("never placed");
    if (!rows.has_value(times.deleted)) return rows.leave_out_row("has not ended");
    Job logged;
    if (!rows.seconds(times.created, logged.submit_us) ||
        !rows.seconds(times.scheduled, logged.logged_start_us) ||
        !rows.seconds(times.deleted, logged.logged_end_us) ||
        !rows.keep_if_times_in_order(logged)) {
      return false;
    }
    job.run_us = logged.logged_end_us - logged.logged_start_us;
    if (config_.gap_s >= 0) return true;  // the log's waits do not fit these arrivals
    job.logged_start_us = logged.logged_start_us;
    job.logged_end_us = logged.logged_end_us;
    return true;
  }

  static constexpr int64_t kMaxMib = int64_t{1} << 40;

  Config config_;
};

const AddReader<OpenbReader, Config> kAdd{
    "openb",
    "pods of Alibaba's openb cluster, 2023, with GPU shares (Weng et al., ATC 2023). The default "
    "list is real, the others were sampled from it; `qos` is the tenant. Pods that were never "
    "placed or have not ended are left out. The lists multigpuNN have no times: they need gap_s "
    "and run_s."};

}  // namespace
}  // namespace yard
