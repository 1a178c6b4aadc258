// alibaba_trace_sub.csv: GPU tasks of Alibaba PAI, 2020 (Weng et al., NSDI 2022), as cut for
// mystous/gpu_scheduler: job_id ("ali-JOB-TASK#ROW"; TASK becomes the job's name), arrival_s,
// service_sec, gpu_count.
// Real, with exceptions: arrival_s is when the task STARTED, so waiting is lost; run times end at
// 48 h; shares of GPUs were rounded up and multiplied by the instances. Only tasks that succeeded
// are in it, and 8 % of those. Tasks of one job are separate rows.
#include <algorithm>

#include "env/base/config/registry.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

// Returns "worker" for "ali-e292c9c6-worker#384494"; other text unchanged.
std::string task_of(std::string id) {
  id.resize(std::min(id.rfind('#'), id.size()));
  const size_t dash = id.rfind('-');
  return dash == id.npos ? id : id.substr(dash + 1);
}

class PaiReader final : public TraceReader {
 public:
  explicit PaiReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "arrival_s", "service_sec", "gpu_count"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id");
    const int arrival = rows.column("arrival_s");
    const int service = rows.column("service_sec");
    const int gpus = rows.column("gpu_count");
    while (rows.next()) {
      Job job;
      if (!rows.text(id, job.id) || !rows.seconds(arrival, job.submit_us) ||
          !rows.seconds(service, job.run_us) || !rows.gpus(gpus, job.gpus)) {
        continue;
      }
      job.name = task_of(job.id);
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "job_id,arrival_s,service_sec,gpu_count\n"
           "ali-e292c9c65d286997da9c5b26-worker#384494,16670.0,167731.0,8\n"
           "ali-51d01202d231f9fae85bceab-PyTorchWorker#554540,76966.0,154108.0,1\n";
  }
};

const Registry<TraceReader>::Add<PaiReader> kAdd{
    "pai",
    {.help = "CSV of GPU tasks of Alibaba PAI, 2020 (Weng et al., NSDI 2022): 8 % of the "
             "tasks that succeeded. Arrivals are the logged starts, so waits are lost. "
             "Run times end at 48 h. GPU shares are rounded up to whole GPUs."}};

}  // namespace
}  // namespace yard
