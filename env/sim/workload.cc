#include "env/sim/workload.h"

namespace yard {

Workload::Workload(const Trace& trace, const ClusterSpec& spec) : jobs_(trace.jobs, spec) {
  work_us_.reserve(trace.jobs.size());
  scored_.reserve(trace.jobs.size());
  for (const Job& job : trace.jobs) {
    work_us_.push_back(job.run_us);
    scored_.push_back(job.scored);
  }
}

}  // namespace yard
