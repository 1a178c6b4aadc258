// Three CSVs released with ElasticFlow (Gu et al., ASPLOS 2023). Times are in seconds; deadlines
// are on the clock of the submission. Models, batch sizes, iterations and deadlines (0.5 to 1.5
// durations after submission) were drawn at random.
// - elasticflow, of the simulator: job_id, submit_time, iteration, model_name, ddl (deadline),
//   batch_size, num_gpu, duration. Some files have real_iteration and real_duration, which then
//   count (equal in all known files). Arrivals are real, as are GPUs and durations of the Philly
//   jobs (philly_103959.csv). In elasticVpollux_e.csv the duration follows from the model.
// - itp, of Microsoft's ITP clusters: job_id, submission_time, duration, num_gpu. All is real.
// - itp-models, the same jobs with models, also a cut of 195 jobs: job_id, submission_time,
//   num_iteration, model_name, deadline, batch_size, num_gpu, duration.
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class DeadlineReader : public TraceReader {
 protected:
  struct Columns {
    int id, submit, iterations, model, deadline, batch_size, gpus, duration;
  };

  static void read_with_deadlines(Rows& rows, const Columns& at) {
    rows.add_job_of_each_row([&](Job& job) {
      int64_t due_us = 0;
      return rows.text(at.id, job.id) && rows.seconds(at.submit, job.submit_us) &&
             rows.number(at.iterations, job.iterations) && rows.text(at.model, job.model) &&
             rows.seconds(at.deadline, due_us) && rows.integer(at.batch_size, job.batch_size) &&
             rows.gpus(at.gpus, job.gpus) && rows.seconds(at.duration, job.run_us) &&
             rows.due(at.deadline, due_us, job);
    });
  }
};

class ElasticFlowReader : public DeadlineReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "submit_time", "iteration", "model_name", "ddl",
                                  "batch_size", "num_gpu", "duration"},
                                 {"real_iteration", "real_duration"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), submit = rows.column("submit_time"),
              model = rows.column("model_name"), deadline = rows.column("ddl"),
              batch_size = rows.column("batch_size"), gpus = rows.column("num_gpu");
    const auto column_of = [&](const char* first, const char* second) {
      const int found = rows.optional_column(first);
      return found >= 0 ? found : rows.column(second);
    };
    const int iterations = column_of("real_iteration", "iteration");
    const int duration = column_of("real_duration", "duration");
    read_with_deadlines(rows,
                        {id, submit, iterations, model, deadline, batch_size, gpus, duration});
  }

  std::string example() const override {
    return "job_id,submit_time,real_iteration,model_name,ddl,batch_size,num_gpu,real_duration,"
           "duration,iteration\n"
           "0,0,1282877,vgg16,771220,256,1,976570,976570,1282877\n"
           "1,219316,26446831,bert,2065619,64,4,1792395,1792395,26446831\n";
  }
};

class ItpReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "submission_time", "duration", "num_gpu"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), submit = rows.column("submission_time"),
              duration = rows.column("duration"), gpus = rows.column("num_gpu");
    rows.add_job_of_each_row([&](Job& job) {
      return rows.text(id, job.id) && rows.seconds(submit, job.submit_us) &&
             rows.seconds(duration, job.run_us) && rows.gpus(gpus, job.gpus);
    });
  }

  std::string example() const override {
    return "job_id,submission_time,duration,num_gpu\n"
           "6f0e,100,900,1\n"
           "a3c1,160,7200,8\n";
  }
};

class ItpModelsReader : public DeadlineReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "submission_time", "num_iteration", "model_name",
                                  "deadline", "batch_size", "num_gpu", "duration"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id"), submit = rows.column("submission_time"),
              iterations = rows.column("num_iteration"), model = rows.column("model_name"),
              deadline = rows.column("deadline"), batch_size = rows.column("batch_size"),
              gpus = rows.column("num_gpu"), duration = rows.column("duration");
    read_with_deadlines(rows,
                        {id, submit, iterations, model, deadline, batch_size, gpus, duration});
  }

  std::string example() const override {
    return "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
           "6f0e,100,3249,deepspeech2,793,32,1,900\n"
           "a3c1,160,48266,inception3,3015,64,8,7200\n";
  }
};

const AddReader<ElasticFlowReader> kElasticFlow{
    "elasticflow",
    "CSV of the ElasticFlow simulator (Gu et al., ASPLOS 2023). Models, batch sizes, iterations "
    "and deadlines (0.5 to 1.5 durations) were drawn at random. In elasticVpollux_e.csv the "
    "durations follow from the models."};
const AddReader<ItpReader> kItp{
    "itp",
    "CSV of Microsoft's ITP clusters, 2021 (ElasticFlow, ASPLOS 2023). All values are real. No "
    "job is shorter than 600 s. Users and end states are missing."};
const AddReader<ItpModelsReader> kItpModels{
    "itp-models",
    "CSV of Microsoft's ITP clusters with randomly drawn models and deadlines: the jobs of "
    "`itp`. Iterations and batch sizes were drawn, too. Deadlines are 0.5 to 1.5 durations, so "
    "that half of the jobs need more GPUs."};

}  // namespace
}  // namespace yard
