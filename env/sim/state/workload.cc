#include "env/sim/state/workload.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace yard {

Workload::Workload(const Trace& trace, const ClusterSpec& spec, GpuSharingConflicts conflicts)
    : jobs_(trace.jobs, spec, std::move(conflicts)) {
  work_us_.reserve(trace.jobs.size());
  scored_.reserve(trace.jobs.size());
  for (const Job& job : trace.jobs) {
    work_us_.push_back(job.run_us);
    scored_.push_back(job.scored);
  }
}

std::vector<Fault> add_fault_ends(std::vector<Fault> faults) {
  const size_t given = faults.size();
  for (size_t i = 0; i < given; ++i) {
    const Fault down = faults[i];
    YARD_CHECK(down.kind != FaultKind::kRepair && down.until_us > down.at_us,
               "a fault must end after it begins");
    // Jobs that are still there when the notice is over fail.
    if (down.kind == FaultKind::kReclaim && down.notice_us < down.until_us - down.at_us) {
      Fault over = down;
      over.at_us += down.notice_us;
      over.kind = FaultKind::kFail;
      faults.push_back(over);
    }
    if (down.until_us == kNever) continue;
    faults.push_back({down.until_us, down.until_us, down.node, FaultKind::kRepair, down.mask});
  }
  // Repairs come before other faults of the same moment: GPUs may go down again at once.
  const auto key = [](const Fault& a) {
    return std::tuple(a.at_us, a.kind != FaultKind::kRepair, a.node, a.mask, a.kind, a.until_us,
                      a.notice_us);
  };
  std::sort(faults.begin(), faults.end(),
            [&](const Fault& a, const Fault& b) { return key(a) < key(b); });
  return faults;
}

}  // namespace yard
