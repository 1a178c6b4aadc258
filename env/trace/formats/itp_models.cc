// The CSV of Microsoft's ITP clusters with models (released with ElasticFlow, ASPLOS 2023), also
// its cut of 195 jobs: job_id, submission_time (s), num_iteration, model_name, deadline (s, on the
// clock of submission_time), batch_size, num_gpu, duration (s). Arrivals, GPUs and durations are
// real and equal those of the files without models. num_iteration, model_name, deadline (0.5 to 1.5
// durations after submission) and batch_size were drawn.
#include "env/base/config/registry.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class ItpModelsReader final : public TraceReader {
 public:
  explicit ItpModelsReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "submission_time", "num_iteration", "model_name",
                                  "deadline", "batch_size", "num_gpu", "duration"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id");
    const int submit = rows.column("submission_time");
    const int iterations = rows.column("num_iteration");
    const int model = rows.column("model_name");
    const int deadline = rows.column("deadline");
    const int batch_size = rows.column("batch_size");
    const int gpus = rows.column("num_gpu");
    const int duration = rows.column("duration");
    while (rows.next()) {
      Job job;
      int64_t due_us = 0;
      if (!rows.text(id, job.id) || !rows.seconds(submit, job.submit_us) ||
          !rows.number(iterations, job.iterations) || !rows.text(model, job.model) ||
          !rows.seconds(deadline, due_us) || !rows.whole(batch_size, job.batch_size) ||
          !rows.gpus(gpus, job.gpus) || !rows.seconds(duration, job.run_us) ||
          !rows.due(deadline, due_us, job)) {
        continue;
      }
      rows.add(std::move(job));
    }
  }

  std::string example() const override {
    return "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
           "6f0e,100,3249,deepspeech2,793,32,1,900\n"
           "a3c1,160,48266,inception3,3015,64,8,7200\n";
  }
};

const Registry<TraceReader>::Add<ItpModelsReader> kAdd{
    "itp-models",
    {.help = "CSV of Microsoft's ITP clusters with randomly drawn models and deadlines: the "
             "jobs of `itp`. Iterations and batch sizes were drawn, too. Deadlines are 0.5 to "
             "1.5 durations, so that half of the jobs need more GPUs."}};

}  // namespace
}  // namespace yard
