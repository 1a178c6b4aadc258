// Workloads of Pollux' simulator (Qiao et al., OSDI 2021): name, time (s), application,
// num_replicas, batch_size. Run times depend on the placement and are not in the file.
#include "env/base/text/text.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class PolluxReader : public TraceReader {
 public:
  bool recognises(const FileHead& head) const override {
    return head.has_columns({"name", "time", "application", "num_replicas", "batch_size"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("name"), submit = rows.column("time"),
              model = rows.column("application"), gpus = rows.column("num_replicas"),
              batch = rows.column("batch_size");
    rows.add_job_of_each_row([&](Job& job) {
      job.run_us = Job::kFromProfile;
      if (!rows.text(id, job.id) || !rows.seconds(submit, job.submit_us) ||
          !rows.text(model, job.model) || !rows.gpus(gpus, job.gpus)) {
        return false;
      }
      job.batch_size = parse_number<int32_t>(trim(rows.field(batch))).value_or(0);
      return job.batch_size > 0 ||
             rows.reject_row("batch_size is not a whole number above 0",
                             "a batch_size of at least 1", in_quotes(rows.field(batch)));
    });
  }

  std::string example() const override {
    return "name,time,application,num_replicas,batch_size\n"
           "cifar10-0,107,cifar10,6,2048\n"
           "ncf-1,135,ncf,1,32768\n";
  }
};

const AddReader<PolluxReader> kAdd{
    "pollux",
    "workloads of Pollux (OSDI 2021); run times come from --rates. Arrivals and GPUs were drawn "
    "from Philly's hours and sizes."};

}  // namespace
}  // namespace yard
