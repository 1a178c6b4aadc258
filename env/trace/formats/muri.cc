// The CSV of Muri's simulator (Zhao et al., SIGCOMM 2022): job_id, num_gpu, submit_time,
// iterations, model_name, batch_size, duration, interval, iteration_time, resource_time_0 to _2,
// priority. Times are in milliseconds. The times that an iteration needs of each resource are not
// read.
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class MuriReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_columns({"job_id", "num_gpu", "submit_time", "iterations", "model_name",
                             "duration", "iteration_time"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), gpus = rows.column("num_gpu"),
              submit = rows.column("submit_time"), iterations = rows.column("iterations"),
              model = rows.column("model_name");
    const int batch = rows.optional_column("batch_size");
    const int duration = rows.column("duration"), iteration = rows.column("iteration_time");
    const int priority = rows.optional_column("priority");
    rows.add_job_of_each_row([&](Job& job) {
      return rows.text(id, job.id) && rows.gpus(gpus, job.gpus) &&
             rows.milliseconds(submit, job.submit_us) &&
             rows.positive_number(iterations, job.iterations) && rows.text(model, job.model) &&
             rows.milliseconds(duration, job.run_us) &&
             rows.positive_number(iteration, job.iteration_ms) &&
             (batch < 0 || rows.integer(batch, job.batch_size)) &&
             (priority < 0 || rows.integer(priority, job.priority, INT32_MIN, INT32_MAX));
    });
  }

  std::string example() const override {
    return "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,"
           "iteration_time,resource_time_0,resource_time_1,resource_time_2,priority\n"
           "0,4,0,1000,resnet18,128,921000,30000,921,723,113,73,1\n"
           "1,1,30000,5000,bert,4,890000,0,178,0.5,160,0,0\n";
  }
};

const AddReader<MuriReader> kAdd{
    "muri",
    "CSV of Muri's simulator with models and iterations (Zhao et al., SIGCOMM 2022). Times in "
    "the file are milliseconds. Arrivals, GPUs and durations are from Philly, models were drawn "
    "at random. Times per resource are ignored."};

}  // namespace
}  // namespace yard
