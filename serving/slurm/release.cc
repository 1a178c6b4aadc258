#include "serving/slurm/release.h"

#include <set>

#include "env/base/core/error.h"
#include "serving/slurm/act.h"
#include "serving/slurm/gate.h"
#include "serving/slurm/read_cluster.h"

namespace yard::slurm {
namespace {

// Returns the names of all records that wait with a lease.
std::set<std::string> leased_records(const SlurmCommander& actor) {
  const CommandResult listed = actor.list_jobs();
  if (!listed.ok()) throw RunError("squeue --json: " + listed.err);
  Listing listing;
  try {
    read_jobs(listed.out, listing);
  } catch (const InputError& error) {
    throw RunError(error.what());
  }
  std::set<std::string> records;
  for (const SlurmJob& job : listing.jobs) {
    // A job that was requeued is listed as completing first.
    const bool will_wait = job.state == "PENDING" || (job.completing && job.restarts > 0);
    if (will_wait && has_lease(job)) records.insert(job.record);
  }
  return records;
}

}  // namespace

Released release_all(const Config& config) {
  const SlurmCommander actor(config,
                             {[] { return std::string(); }, [](const auto&, const auto&) {}});
  const std::set<std::string> before = leased_records(actor);
  for (const std::string& record : before) actor.release({record});
  Released out;
  for (const std::string& record : leased_records(actor)) {
    out.refused += before.contains(record);
  }
  out.released = static_cast<int>(before.size()) - out.refused;
  return out;
}

}  // namespace yard::slurm
