#include "serving/log/log_training_data.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "env/base/core/error.h"
#include "env/sim/view/plan.h"
#include "policies/learned/dispatcher.h"
#include "policies/memory.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

// Replays one recorded decision in the task.
class DecisionReplayer {
 public:
  DecisionReplayer(const DispatchConfig& task, const Snapshot& snapshot,
                   const pb::LoggedDecision& decision)
      : task_(task),
        snapshot_(snapshot),
        live_(snapshot.state()),
        view_(live_.fixed(), live_.state(), Dispatch::kLevel),
        draft_(live_.fixed(), live_.state()) {
    std::unordered_map<std::string_view, int32_t> slot_of;
    const pb::DecideRequest& request = decision.request();
    for (int32_t slot = 0; slot < view_.high_water(); ++slot) {
      const Phase phase = view_.phase(slot);
      if (phase == Phase::kFree || phase == Phase::kDone) continue;
      const int32_t told = snapshot.request_index(live_.state(), slot);
      slot_of[request.jobs(told).id()] = slot;
    }
    for (const pb::Action& action : decision.response().actions()) {
      const auto it = slot_of.find(action.job());
      const RecordedAction recorded{it == slot_of.end() ? kNone : it->second, &action};
      (action.verb() == pb::START ? starts_ : stops_).push_back(recorded);
    }
    out_.jobs = jobs_.data();
    out_.cluster = cluster_.data();
    out_.prior = prior_.data();
    out_.mask = mask_.data();
    out_.slots = slots_.data();
  }

  // Calls step(observation, action) at each step. Returns whether there was a step.
  template <class Step>
  bool replay(LogTrainingData& counts, Step&& step) {
    Memory memory;
    memory.reset(Dispatch::memory_bytes(view_));  // as in the server: all input is in the snapshot
    if (!Dispatch::on_events(view_, task_, memory.data())) return false;
    for (bool any = false;; any = true) {
      Dispatch::observe(view_, task_, memory.data(), out_);
      if (out_.choices == 0) return any;
      const int32_t row = next_row(counts);
      if (row != kNone) {
        step(out_, row);
        continue;
      }
      // The recorded rest cannot be expressed in the task, which is not a choice of the no-op.
      if (left() > 0) return any;
      if (out_.mask[Dispatch::kNothing] == 0) {
        ++counts.forced;
        return any;
      }
      ++counts.nothing;
      step(out_, Dispatch::kNothing);
      return true;
    }
  }

  size_t left() const { return starts_.size() + stops_.size(); }

  // Queries about recorded actions which are left after replay().
  bool shown(bool of_starts, size_t i) const {
    return row_of((of_starts ? starts_ : stops_)[i].slot) != kNone;
  }
  size_t starts_left() const { return starts_.size(); }
  size_t stops_left() const { return stops_.size(); }

 private:
  struct RecordedAction {
    int32_t slot;  // kNone: no such job
    const pb::Action* action;
  };

  int32_t row_of(int32_t slot) const {
    const auto end = slots_.begin() + out_.rows;
    const auto it = std::find(slots_.begin(), end, slot);
    return slot == kNone || it == end ? kNone : static_cast<int32_t>(it - slots_.begin());
  }

  // Returns the row if the job may start or stop now, else kNone.
  int32_t legal_row(const RecordedAction& recorded) const {
    const int32_t row = row_of(recorded.slot);
    if (row == kNone || out_.mask[static_cast<size_t>(row)] == 0) return kNone;
    const bool waits = view_.phase(recorded.slot) == Phase::kWaiting;
    return waits == (recorded.action->verb() == pb::START) ? row : kNone;
  }

  // Applies the next possible recorded action. Returns its row, or kNone if none is possible.
  int32_t next_row(LogTrainingData& counts) {
    if (!starts_.empty() && legal_row(starts_.front()) != kNone) {
      // In its recorded placement, which a job still to be stopped may occupy.
      if (const int32_t row = start(0, false, counts); row != kNone) return row;
    }
    for (size_t i = 0; i < stops_.size(); ++i) {
      const int32_t row = legal_row(stops_[i]);
      if (row == kNone || !draft_.preempt(stops_[i].slot)) continue;
      take(stops_, i, counts);
      return row;
    }
    for (const bool anywhere : {false, true}) {
      for (size_t i = 0; i < starts_.size(); ++i) {
        if (legal_row(starts_[i]) == kNone) continue;
        if (const int32_t row = start(i, anywhere, counts); row != kNone) return row;
      }
    }
    return kNone;
  }

  // Starts in the recorded placement or, if `anywhere`, in the task's. Returns kNone on failure.
  int32_t start(size_t i, bool anywhere, LogTrainingData& counts) {
    const RecordedAction recorded = starts_[i];
    const int32_t row = legal_row(recorded);
    Piece* own = draft_.scratch();
    const int32_t n = place(view_, task_.placement, recorded.slot, own);
    const std::vector<Piece> ours(own, own + n);
    const std::vector<Piece> told = snapshot_.pieces(*recorded.action);
    const std::vector<Piece>& there = anywhere ? ours : told;
    const bool same = std::ranges::equal(ours, told, [](const Piece& a, const Piece& b) {
      return a.node == b.node && a.gpus == b.gpus;
    });
    if (there.empty() ||
        !draft_.start(recorded.slot, there.data(), static_cast<int32_t>(there.size()))) {
      return kNone;
    }
    counts.other_placement += !same;
    take(starts_, i, counts);
    return row;
  }

  static void take(std::vector<RecordedAction>& from, size_t i, LogTrainingData& counts) {
    from.erase(from.begin() + static_cast<int64_t>(i));
    ++counts.reproduced;
  }

  const DispatchConfig& task_;
  const Snapshot& snapshot_;
  LiveState live_;
  const View view_;
  Draft draft_;
  std::vector<RecordedAction> starts_, stops_;
  std::array<float, size_t{Dispatch::kJobs} * Dispatch::kJobFeatures> jobs_;
  std::array<float, Dispatch::kClusterFeatures> cluster_;
  std::array<float, Dispatch::kActions> prior_;
  std::array<uint8_t, Dispatch::kActions> mask_;
  std::array<int32_t, Dispatch::kJobs> slots_;
  Observation out_{};
};

}  // namespace

LogTrainingData training_data_of(LogReader& log, const DispatchConfig& task) {
  LogTrainingData out;
  RecordedChoices& steps = out.steps;
  steps.shape = kDispatchShape;
  double first_s = 0;
  int32_t number = -1;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision()) continue;
    const pb::LoggedDecision& decision = record.decision();
    if (out.decisions++ == 0) first_s = decision.request().time_s();
    if (decision.response().source() != pb::POLICY) {
      ++out.skipped;
      continue;
    }
    ++number;
    const auto time_s = static_cast<float>(decision.request().time_s() - first_s);
    out.actions += static_cast<uint64_t>(decision.response().actions_size());
    const auto miss = [&] {
      steps.missed_decision.push_back(number);
      steps.missed_time_s.push_back(time_s);
      if (out.first.empty()) out.first = decision.response().decision_id();
    };
    try {
      const Snapshot snapshot(decision.request());
      if (!snapshot.may_start_anything()) {
        ++out.idle;
        continue;
      }
      DecisionReplayer replayer(task, snapshot, decision);
      const uint64_t forced = out.forced;
      const bool any = replayer.replay(out, [&](const Observation& seen, int32_t action) {
        steps.add(seen);
        out.expert_action += action == seen.expert_action;
        steps.action.push_back(action == Dispatch::kNothing ? seen.rows : action);
        steps.decision.push_back(number);
        steps.time_s.push_back(time_s);
        steps.probability.push_back(static_cast<float>(decision.account().probability()));
      });
      out.idle += !any && replayer.left() == 0 && out.forced == forced;
      for (const bool of_starts : {true, false}) {
        const size_t left = of_starts ? replayer.starts_left() : replayer.stops_left();
        for (size_t i = 0; i < left; ++i) {
          ++(replayer.shown(of_starts, i) ? out.not_legal : out.not_shown);
          miss();
        }
      }
      if (out.forced > forced) miss();
    } catch (const InputError&) {
      ++out.impossible;
      for (int i = 0; i < decision.response().actions_size(); ++i) miss();
    }
  }
  return out;
}

}  // namespace yard
