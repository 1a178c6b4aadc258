#include "serving/snapshot/job_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "env/base/text/text.h"
#include "serving/snapshot/features.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

constexpr uint32_t kMaxRestarts = 1'000'000;
constexpr int64_t kSkewUs = 2'000'000;  // between two clocks

}  // namespace

JobReader::JobReader(const NodeTable& nodes, double now_s, int64_t now_us)
    : nodes_(nodes), now_s_(now_s), now_us_(now_us) {}

int64_t JobReader::us(const char* what, double seconds) {
  const auto read = seconds_to_us(seconds);
  if (!read) flaw_ = invalid_seconds_text(what, seconds);
  return read.value_or(0);
}

// A time up to now. One that lies a little ahead comes from another clock, and is taken as now.
int64_t JobReader::past_us(const char* what, double seconds) {
  const int64_t at_us = us(what, seconds);
  if (at_us > now_us_ + kSkewUs) {
    flaw_ = std::string("expected ") + what + " up to time_s (" + shortest_text(now_s_) +
            "), got " + shortest_text(seconds);
  }
  return std::min(at_us, now_us_);
}

// Work of whole microseconds is read as it was written.
double JobReader::worked_us(double seconds) {
  us("worked_s", seconds);
  const double exact = seconds * 1e6, whole = std::round(exact);
  return std::abs(exact - whole) < 1e-3 ? whole : exact;
}

void JobReader::check_id(const std::string& id) {
  if (id.empty()) flaw_ = "expected an id, got none";
  if (id.size() > kMaxIdBytes) flaw_ = "expected an id of at most 1024 bytes, got a longer one";
}

void JobReader::read(const pb::FinishedJob& entry, JobReading& out) {
  flaw_.clear();
  // The cluster may have been larger then.
  out.job.gpus = static_cast<int32_t>(
      std::min(entry.gpus(), static_cast<uint32_t>(std::max(1, nodes_.installed_gpus()))));
  if (entry.gpus() == 0) flaw_ = "expected GPUs, got 0";
  out.job.id = entry.id();
  out.job.submit_us = past_us("submit_s", entry.submit_s());
  out.job.user = entry.user();
  out.job.name = entry.name();
  out.live.phase = Phase::kDone;
  out.live.since_us = past_us("end_s", entry.end_s());
  out.live.attained_us = us("run_s", entry.run_s());
  if (entry.has_worked_s()) out.live.worked_us = worked_us(entry.worked_s());
  out.live.started = 1;
  // A time that was cut to now would be another one later.
  out.lasts = flaw_.empty() && out.job.submit_us < now_us_ && out.live.since_us < now_us_;
  out.flaw = flaw_;
}

void JobReader::read(const pb::Job& entry, int index, JobReading& out) {
  flaw_.clear();
  // A job without an id, which is set aside, is another one in every snapshot.
  out.job.id = entry.id().empty() ? "\1" + std::to_string(index) : entry.id();
  out.queue_rank = entry.queue_rank();
  check_id(entry.id());
  // A job may need more GPUs than are up, and waits.
  const auto most = static_cast<uint32_t>(nodes_.installed_gpus());
  if (entry.gpus() < 1 || entry.gpus() > most) {
    flaw_ = "expected 1 to " + std::to_string(most) + " GPUs, the size of the cluster, got " +
            std::to_string(entry.gpus());
  }
  out.job.gpus = static_cast<int32_t>(std::min(entry.gpus(), most));
  out.job.submit_us = past_us("submit_s", entry.submit_s());
  out.job.user = entry.user();
  out.job.name = entry.name();
  if (std::string flaw = read_job_features(entry, out.job); !flaw.empty()) flaw_ = flaw;
  if (std::string why = nodes_.left_to_manager().why(entry); !why.empty()) flaw_ = why;
  const int64_t limit_us = us("limit_s", entry.limit_s());
  out.job.limit_us = limit_us > 0 ? limit_us : -1;
  LiveJob& live = out.live;
  live.phase = read_phase(entry.state());
  read_times(entry, out);
  if (entry.preemptions() > kMaxRestarts || entry.starts() > kMaxRestarts) {
    flaw_ = "expected at most a million starts and preemptions, got more";
  }
  const bool holds = live.phase == Phase::kStarting || live.phase == Phase::kRunning;
  live.preempted = static_cast<int32_t>(std::min(entry.preemptions(), kMaxRestarts));
  live.started = static_cast<int32_t>(std::min(entry.starts(), kMaxRestarts));
  if (live.started == 0) live.started = live.preempted + holds;
  if (live.phase == Phase::kWaiting && entry.placement_size() > 0) {
    flaw_ = "expected no placement for a waiting job, got '" +
            shortened(entry.placement(0).node()) + "'";
  }
  for (const pb::Piece& piece : entry.placement()) out.nodes.push_back(nodes_.find(piece.node()));
  if (entry.state() != pb::WAITING || entry.placement_size() > 0) {
    out.placement_flaw = nodes_.flaw_of_placement(entry);
  }
  // The dependencies of a job change with other jobs, and the times of starts and stops with now.
  const bool is_steady =
      (live.phase == Phase::kWaiting || live.phase == Phase::kRunning) && entry.after_size() == 0;
  out.lasts =
      flaw_.empty() && out.placement_flaw.empty() && is_steady && out.job.submit_us < now_us_;
  out.flaw = flaw_;
}

bool JobReader::update(const pb::Job& entry, JobReading& reading) {
  flaw_.clear();
  read_times(entry, reading);
  return flaw_.empty();
}

// Reads when the phase began and ends, and how long the job has run. Requires: the submit time and
// the phase are read.
void JobReader::read_times(const pb::Job& entry, JobReading& reading) {
  LiveJob& live = reading.live;
  live.since_us = live.phase == Phase::kWaiting ? reading.job.submit_us : now_us_;
  if (entry.has_since_s()) live.since_us = past_us("since_s", entry.since_s());
  read_attained(entry, reading);
  if (entry.has_worked_s()) live.worked_us = worked_us(entry.worked_s());
  const bool timed = live.phase == Phase::kStarting || live.phase == Phase::kStopping;
  const int64_t until_us = us("until_s", entry.until_s());
  const int64_t saved_us = us("saved_s", entry.saved_s());
  live.until_us = timed ? std::max(until_us, now_us_) : live.since_us;
  live.saved_us = live.phase == Phase::kStopping ? live.until_us : saved_us;
}

// A job cannot have run for longer than it has been there. Rounding and two clocks make it seem so.
void JobReader::read_attained(const pb::Job& entry, JobReading& reading) {
  LiveJob& live = reading.live;
  live.attained_us = us("attained_s", entry.attained_s());
  const int64_t there_us = now_us_ - reading.job.submit_us;
  if (live.attained_us > there_us + std::max(kSkewUs, there_us / 100)) {
    flaw_ = "expected attained_s of at most the time since submit_s, got " +
            shortest_text(entry.attained_s());
  }
  live.attained_us = std::min(live.attained_us, there_us);
  // It may have been suspended since: then it counts as running for what it attained.
  if (live.phase == Phase::kRunning) {
    live.since_us = std::max(live.since_us, now_us_ - live.attained_us);
  }
}

Phase JobReader::read_phase(pb::JobState state) {
  constexpr std::pair<pb::JobState, Phase> kPhases[] = {{pb::WAITING, Phase::kWaiting},
                                                        {pb::STARTING, Phase::kStarting},
                                                        {pb::RUNNING, Phase::kRunning},
                                                        {pb::STOPPING, Phase::kStopping}};
  for (const auto& [known, phase] : kPhases) {
    if (known == state) return phase;
  }
  flaw_ = "expected state WAITING, STARTING, RUNNING or STOPPING, got " + std::to_string(state);
  return Phase::kWaiting;
}

}  // namespace yard
