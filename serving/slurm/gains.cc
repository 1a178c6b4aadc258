#include "serving/slurm/gains.h"

#include <algorithm>

namespace yard::slurm {
bool DryRunGains::propose(const SlurmJob& job, double now_s) {
  ObservedJobTimes& seen = jobs_[job.run()];
  if (seen.proposed_s >= 0) return false;
  seen.proposed_s = now_s;
  seen.submit_s = job.submit_s;
  return true;
}

void DryRunGains::saw_running(const SlurmJob& job) {
  if (first_) {
    jobs_[job.run()].started_s = -2;  // before the dry run
    return;
  }
  ObservedJobTimes& seen = jobs_[job.run()];
  if (seen.started_s != -1) return;
  seen.started_s = job.start_s;
  seen.submit_s = job.submit_s;
}

nlohmann::ordered_json DryRunGains::summary() const {
  int started = 0, earlier = 0, waiting = 0;
  double slurm_s = 0, agent_s = 0;
  for (const auto& [key, seen] : jobs_) {
    if (seen.started_s == -1) ++waiting;
    if (seen.started_s < 0) continue;
    ++started;
    slurm_s += std::max(0.0, seen.started_s - seen.submit_s);
    const bool proposed = seen.proposed_s >= 0 && seen.proposed_s < seen.started_s;
    earlier += proposed;
    agent_s += std::max(0.0, (proposed ? seen.proposed_s : seen.started_s) - seen.submit_s);
  }
  const double jobs = std::max(started, 1);
  return {{"event", "dry_run"},
          {"jobs_started_by_slurm", started},
          {"jobs_the_agent_would_have_started_earlier", earlier},
          {"jobs_proposed_and_still_waiting", waiting},
          {"mean_wait_slurm_s", slurm_s / jobs},
          {"mean_wait_agent_s", agent_s / jobs}};
}

}  // namespace yard::slurm
