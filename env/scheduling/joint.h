// Decides order, GPU type, placement, preemption and migration together. A round visits waiting
// jobs in the order of an index: each job takes its best option (options.h) or waits. After the
// waiting jobs, a round visits running jobs, which may move to a better placement.
//
//   score of an option = log2(rate / best rate)           speed
//                      - price log2(type's mean rate)     fast types go to jobs that need them
//                      - weighted interference cost, fragmentation, preemptions and moves
//   a job waits on while best score < score of its ideal placement + log2(rate_floor)
//                                     - waited / patience
//   if a better placement exists, or if the best option preempts or moves other jobs
//
// A heuristic or a network picks from the options of a job:
//
//   JointScheduler::on_events(view, memory);
//   JointScheduler joint(config, view, memory);
//   joint.begin_round(seconds_left);
//   while (joint.next() != kNone) joint.apply(joint.expert_action(), draft);
//   joint.commit(draft);
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "env/base/core/bump_allocator.h"
#include "env/scheduling/joint_config.h"
#include "env/sim/placement/options.h"
#include "env/sim/view/plan.h"

namespace yard {

class JointScheduler {
 public:
  static constexpr int32_t kStay = -1;  // chosen action: the job keeps waiting, or stays in place

  static size_t bytes(const View& view);

  // Records the events since the last decision. Call it at every decision, even without a round.
  static void on_events(const View& view, std::byte* memory);

  // Requires: `config`, `view` and `memory` outlive this object.
  JointScheduler(const JointConfig& config, const View& view, std::byte* memory);
  JointScheduler(const JointScheduler&) = delete;
  JointScheduler& operator=(const JointScheduler&) = delete;

  // Returns the current job of the round that is stored in `memory`.
  static int32_t current_job(const View& view, const std::byte* memory);

  // Begins a round. `seconds(slot)` returns a job's remaining run time on its reference type.
  // Requires: on_events() was called at this moment. The functions below require begin_round(). The
  // progress of a round is in `memory`, so that another JointScheduler can resume the round.
  void begin_round(const std::function<double(int32_t)>& seconds);

  // Moves to the next job that has options and returns the job; kNone if no job is left.
  int32_t next();
  // Returns the job whose options are listed; kNone before the first and after the last job.
  int32_t current_job() const { return round_.current_job; }
  // Lists the options of the current job of a resumed round.
  void list_options();
  const std::vector<PlacementOption>& options() const { return options_; }
  double score(size_t option) const { return scores_[option]; }
  // Returns the score of waiting or staying. Only options whose score is higher are better.
  double wait_score() const { return wait_score_; }
  int32_t expert_action() const { return expert_action_; }
  // Returns whether the current job may wait or stay. A waiting job must start if no job runs,
  // since no event would follow, or if its option is not of one GPU type.
  bool may_wait_or_stay() const;

  // Applies the option of index `option`. Replaces an impossible option by the best possible one,
  // if any.
  void apply(int32_t option, Draft& draft);

  // Ends the round: puts preemptions before starts, and sets the next decision's time in `draft`.
  void commit(Draft& draft);

  // Statistics of a waiting or running job, compared with all such jobs.
  struct JobStats {
    double best;      // the job's rate on its best GPU type
    double left_s;    // remaining time on the best GPU type
    double length;    // log8 of left_s over its geometric mean over jobs
    double gain;      // log2 of best over the mean rate of types, minus its mean over jobs
    double held_key;  // index when the round began, if the job held GPUs
    bool held;        // whether the job held GPUs when the round began
  };
  const JobStats& job_stats(int32_t slot) const { return at_.job_stats[slot]; }
  // Returns log2 of the mean over jobs of the rate on the type, relative to each job's best rate.
  double type_rate_log2(int32_t type) const { return at_.type_rate_log2[type]; }
  double waiting_gpu_share() const {
    return round_.queue;
  }                                 // GPUs of waiting jobs / all GPUs, <= 1
  double size(int32_t slot) const;  // log8 of the job's GPUs
  bool is_visiting_running_jobs() const { return round_.running; }
  int32_t position_in_pass() const {
    return round_.line;
  }  // 1-based position of the current job in the list of jobs to visit

 private:
  using Rank = std::pair<double, int32_t>;  // index, then submission; the lowest goes first

  struct QueueEntry {
    double key;
    int32_t serial, slot;
    Rank rank() const { return {key, serial}; }
  };
  // Progress of a scheduling round.
  struct RoundState {
    double queue = 0;
    int64_t movable_at_us = kNever;  // time when the first job that may gain by a move may move
    int32_t line = 0, of = 0;        // next entry of the list of jobs to visit, and list length
    int32_t current_job = kNone;
    bool running = false;           // whether running jobs are being visited
    bool waits_for_better = false;  // whether a job waits although it has options
    bool differs = false;           // whether rates differ by type or placement
  };
  struct Columns {
    RoundState* now;         // (1)
    int64_t* since_us;       // (S)  start time of running jobs, for on_events()
    JobStats* job_stats;     // (S)
    double* type_rate_log2;  // (types)
    QueueEntry* line;        // (S)  jobs to visit, in order
  };
  static Columns columns(const View& view, std::byte* memory);

  Rank held_rank(int32_t slot) const { return {job_stats(slot).held_key, view_.serial(slot)}; }
  Rank waiting_rank(int32_t slot) const;
  double key(int32_t slot, double seconds) const;
  double stop_and_resume_cost_s(int32_t slot) const;
  bool movable(int32_t slot) const;
  bool preemptible_for(int32_t running_job, int32_t starting_job) const;

  void compute_job_stats(const std::vector<int32_t>& live);
  void list_running_jobs_to_visit();
  void score_options();

  double placement_score(int32_t slot, int32_t type, double rate, double interference_cost) const;
  double option_score(int32_t slot, const PlacementOption& option) const;
  double ideal_score(int32_t slot) const;
  bool waiting_could_improve(const PlacementOption& option) const;
  double min_score_to_start(int32_t slot) const;
  bool try_apply(int32_t slot, const PlacementOption& option);
  void requeue_victims(const std::vector<int32_t>& stopped);

  const JointConfig& config_;
  const View& view_;
  Columns at_;
  RoundState& round_;
  Draft* draft_ = nullptr;  // set while apply() runs
  ThroughputModel throughput_model_;
  PlacementOptions option_lister_;
  std::set<int32_t> unplaceable_;  // request classes whose jobs have no option
  std::vector<PlacementOption> options_;
  std::vector<double> scores_;
  Rank current_rank_;  // rank of the current job, if it waits
  double wait_score_ = 0;
  int32_t expert_action_ = kStay;
};

}  // namespace yard
