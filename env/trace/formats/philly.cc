// philly.csv: jobs of Microsoft's Philly, 2017 (Jeon et al., ATC 2019), as cut for Pollux (OSDI
// 2021). Columns: timestamp (of submission, wall clock), duration (s), num_gpus, gpu_time (=
// duration x num_gpus), cluster (the virtual cluster). All is real; status, user, attempts and
// waiting times are missing. Jobs have no names: their ids are line numbers. Rows are not sorted.
#include "env/trace/formats/philly.h"

#include "env/base/config/registry.h"
#include "env/trace/core/rows.h"
#include "env/trace/core/trace_reader.h"

namespace yard {
namespace {

class PhillyReader final : public TraceReader {
 public:
  explicit PhillyReader(const Settings& settings)
      : config_(parse<PhillyConfig>(settings)), zone_(config_.zone, "trace.zone") {}

  bool recognises(const FileHead& head) const override {
    return head.has_only_columns({"timestamp", "duration", "num_gpus", "gpu_time", "cluster"});
  }

  void read(Rows& rows) const override {
    const int timestamp = rows.column("timestamp");
    const int duration = rows.column("duration");
    const int gpus = rows.column("num_gpus");
    const int cluster = rows.column("cluster");
    std::set<std::string> clusters;
    rows.start_at_first_submission();
    while (rows.next()) {
      Job job;
      if (!rows.date(timestamp, zone_, job.submit_us) || !rows.seconds(duration, job.run_us) ||
          !rows.gpus(gpus, job.gpus, 0) || !rows.text(cluster, job.tenant)) {
        continue;
      }
      if (!config_.vc.empty()) clusters.insert(job.tenant);
      if (!config_.vc.empty() && job.tenant != config_.vc) {
        rows.left_out("another virtual cluster");
        continue;
      }
      job.user = job.tenant;  // the log has no users; jobs of one virtual cluster are alike
      job.id = std::to_string(rows.line_number());
      rows.add(std::move(job));
    }
    config_.check_vc(clusters);
  }

  std::string example() const override {
    return "timestamp,duration,num_gpus,gpu_time,cluster\n"
           "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
           "2017-10-09 06:13:03,2951.0,8,23608.0,6214e9\n";
  }

 private:
  PhillyConfig config_;
  Zone zone_;
};

const Registry<TraceReader>::Add<PhillyReader> kAdd{
    "philly",
    {.help = "philly.csv: Microsoft's Philly jobs, 2017, as reduced for Pollux (OSDI 2021). All "
             "values are real. The virtual cluster is tenant and user, line numbers are ids. "
             "End states are missing.",
     .fields = describe<PhillyConfig>}};

}  // namespace
}  // namespace yard
