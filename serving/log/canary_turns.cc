#include "serving/log/canary_turns.h"

#include <algorithm>
#include <limits>
#include <map>

namespace yard {
namespace {

// After so long without a decision, the cluster was not scheduled meanwhile.
constexpr double kMaxGapS = 600;

struct Turn {
  bool is_candidates = false;
  double begin_s = 0;
  double seconds = 0, job_seconds = 0;  // both after the version has settled

  double mean_jobs() const { return job_seconds / seconds; }
};

// The turns of one cluster, by time.
class ClusterTurns {
 public:
  explicit ClusterTurns(double settle_s) : settle_s_(settle_s) {}

  // A decision of a version on trial.
  void add(bool is_candidates, double time_s, int jobs) {
    count_until(time_s);
    if (turns_.empty() || turns_.back().is_candidates != is_candidates) {
      turns_.push_back({is_candidates, time_s, 0, 0});
    }
    last_s_ = time_s;
    last_jobs_ = jobs;
  }

  // A decision of another version: the time until the next one belongs to no turn.
  void interrupt(double time_s) {
    count_until(time_s);
    last_s_ = -std::numeric_limits<double>::infinity();
  }

  void compare_into(CanaryTurns& out) const {
    std::vector<Turn> merged;
    for (const Turn& turn : turns_) {
      if (turn.seconds == 0) continue;  // too short to have settled
      if (!merged.empty() && merged.back().is_candidates == turn.is_candidates) {
        merged.back().seconds += turn.seconds;
        merged.back().job_seconds += turn.job_seconds;
      } else {
        merged.push_back(turn);
      }
    }
    for (size_t i = 1; i + 1 < merged.size(); ++i) {
      const Turn& turn = merged[i];
      if (!turn.is_candidates) continue;
      const double around = 0.5 * (merged[i - 1].mean_jobs() + merged[i + 1].mean_jobs());
      if (turn.job_seconds == 0 || around == 0) continue;  // an idle cluster compares nothing
      out.candidate_jobs.push_back(turn.job_seconds);
      out.current_jobs.push_back(around * turn.seconds);
    }
  }

 private:
  // Adds the time since the last decision to its turn.
  void count_until(double time_s) {
    if (turns_.empty()) return;
    Turn& last = turns_.back();
    const double gap_s = time_s - last_s_;
    // A clock that was set back starts anew.
    const double counted_s = std::min(gap_s, time_s - last.begin_s - settle_s_);
    if (gap_s > kMaxGapS || counted_s <= 0) return;
    last.seconds += counted_s;
    last.job_seconds += counted_s * last_jobs_;
  }

  double settle_s_;
  std::vector<Turn> turns_;
  double last_s_ = 0;
  int last_jobs_ = 0;
};

bool is_fallback(const pb::DecideResponse& response) {
  return response.source() != pb::POLICY && response.reason() != pb::CONTROL &&
         response.reason() != pb::OPERATOR;
}

int jobs_in_system(const pb::DecideRequest& request) {
  return static_cast<int>(std::ranges::count_if(request.jobs(), [](const pb::Job& job) {
    return job.state() == pb::WAITING || job.state() == pb::RUNNING;
  }));
}

}  // namespace

CanaryTurns read_canary_turns(LogReader& log, const CanaryOptions& options) {
  CanaryTurns out;
  std::map<std::string, ClusterTurns> clusters;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision() || record.decision().unix_s() < options.from_unix_s) continue;
    const pb::LoggedDecision& decision = record.decision();
    const pb::DecideResponse& response = decision.response();
    if (response.model() != options.model) continue;
    const pb::DecideRequest& request = decision.request();
    ClusterTurns& turns = clusters.try_emplace(request.cluster(), options.settle_s).first->second;
    const bool is_candidates = response.model_digest() == options.candidate_digest;
    if (!is_candidates && response.model_digest() != options.current_digest) {
      turns.interrupt(request.time_s());
      continue;
    }
    CanaryTurns::Decisions& count = is_candidates ? out.candidate : out.current;
    ++count.all;
    count.fallbacks += is_fallback(response);
    turns.add(is_candidates, request.time_s(), jobs_in_system(request));
  }
  for (const auto& [name, turns] : clusters) turns.compare_into(out);
  return out;
}

}  // namespace yard
