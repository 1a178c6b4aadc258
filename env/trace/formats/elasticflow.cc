// The CSV of the ElasticFlow simulator (Gu et al., ASPLOS 2023): job_id, submit_time (s),
// iteration, model_name, ddl (deadline, s, on the clock of submit_time), batch_size, num_gpu,
// duration (s). Some files have real_iteration and real_duration, which then count (equal in all
// known files). Arrivals are real, as are GPUs and durations of the Philly jobs
// (philly_103959.csv). Model, batch size, iterations and deadline (0.5 to 1.5 durations after
// submission) were drawn. In elasticVpollux_e.csv the duration follows from the model.
#include "env/base/config/registry.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class ElasticFlowReader final : public TraceReader {
 public:
  explicit ElasticFlowReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "submit_time", "iteration", "model_name", "ddl",
                                  "batch_size", "num_gpu", "duration"},
                                 {"real_iteration", "real_duration"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id");
    const int submit = rows.column("submit_time");
    const int model = rows.column("model_name");
    const int deadline = rows.column("ddl");
    const int batch_size = rows.column("batch_size");
    const int gpus = rows.column("num_gpu");
    const int iterations = column_of(rows, "real_iteration", "iteration");
    const int duration = column_of(rows, "real_duration", "duration");
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
    return "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,"
           "duration,iteration\n"
           "0,0,1282877,vgg16,771220,256,1,976570,976570,1282877\n"
           "1,219316,26446831,bert,2065619,64,4,1792395,1792395,26446831\n";
  }

 private:
  static int column_of(const Rows& rows, const char* first, const char* second) {
    const int found = rows.optional_column(first);
    return found >= 0 ? found : rows.column(second);
  }
};

const Registry<TraceReader>::Add<ElasticFlowReader> kAdd{
    "elasticflow",
    {.help = "CSV of the ElasticFlow simulator (Gu et al., ASPLOS 2023). Models, "
             "batch sizes, iterations and deadlines (0.5 to 1.5 durations) were "
             "drawn at random. In elasticVpollux_e.csv the durations follow from "
             "the models."}};

}  // namespace
}  // namespace yard
