// The CSV of Microsoft's ITP clusters (released with ElasticFlow, ASPLOS 2023): job_id,
// submission_time (s), duration (s), num_gpu. It has neither users nor models.
#include "env/base/config/registry.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class ItpReader final : public TraceReader {
 public:
  explicit ItpReader(const Settings& settings) { parse<NoConfig>(settings); }

  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"job_id", "submission_time", "duration", "num_gpu"});
  }

  void read(Rows& rows) const override {
    const int id = rows.column("job_id");
    const int submit = rows.column("submission_time");
    const int duration = rows.column("duration");
    const int gpus = rows.column("num_gpu");
    while (rows.next()) {
      Job job;
      if (rows.text(id, job.id) && rows.seconds(submit, job.submit_us) &&
          rows.seconds(duration, job.run_us) && rows.gpus(gpus, job.gpus)) {
        rows.add(std::move(job));
      }
    }
  }

  std::string example() const override {
    return "job_id,submission_time,duration,num_gpu\n"
           "6f0e,100,900,1\n"
           "a3c1,160,7200,8\n";
  }
};

const Registry<TraceReader>::Add<ItpReader> kAdd{
    "itp",
    {.help = "CSV of Microsoft's ITP clusters, 2021 (ElasticFlow, ASPLOS 2023). All "
             "values are real. No job is shorter than 600 s. Users and end states are "
             "missing."}};

}  // namespace
}  // namespace yard
