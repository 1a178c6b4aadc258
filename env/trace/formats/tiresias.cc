// The CSV of the Tiresias simulator (Gu et al., NSDI 2019): job_id, num_gpu, submit_time (s),
// iterations, model_name, duration (s), interval (since the previous job; redundant).
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class TiresiasReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "num_gpu", "submit_time", "duration"},
                                 {"iterations", "model_name", "interval"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), gpus = rows.column("num_gpu"),
              submit = rows.column("submit_time"), duration = rows.column("duration");
    const int model = rows.optional_column("model_name");
    const int iterations = rows.optional_column("iterations");
    rows.add_job_of_each_row([&](Job& job) {
      // That simulator counts whole seconds and cuts off the fraction of a duration.
      if (!rows.text(id, job.id) || !rows.gpus(gpus, job.gpus) ||
          !rows.seconds(submit, job.submit_us) || !rows.truncated_seconds(duration, job.run_us)) {
        return false;
      }
      job.name = job.model = rows.trimmed(model);
      return !rows.has_value(iterations) || rows.number(iterations, job.iterations);
    });
  }

  std::string example() const override {
    return "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
           "0,1,0,600,resnet50,600,30\n"
           "1,8,30,1200,vgg16,1200,0\n";
  }
};

const AddReader<TiresiasReader> kAdd{
    "tiresias",
    "CSV of the Tiresias simulator (Gu et al., NSDI 2019), the authors' testbed trace. Fractions "
    "of a second in durations are cut off, as in that simulator."};

}  // namespace
}  // namespace yard
