#include "serving/log/log_training_data.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "env/base/core/error.h"
#include "env/sim/view/plan.h"
#include "policies/memory.h"
#include "serving/log/recorded_memories.h"
#include "serving/snapshot/snapshot.h"

namespace yard {
namespace {

// Replays one recorded decision as steps of the agent.
class DecisionReplayer {
 public:
  DecisionReplayer(const Agent& agent, const Snapshot& snapshot, const pb::LoggedDecision& decision,
                   ClusterMemory& known)
      : agent_(agent),
        shape_(agent.shape()),
        snapshot_(snapshot),
        known_(known),
        live_(known.next_state(snapshot)),
        view_(live_.fixed(), live_.state(), agent.level()),
        draft_(live_.fixed(), live_.state()),
        memory_block_(kept_memory(agent.memory_bytes(view_))),
        memory_(memory_block_.data()),
        jobs_(static_cast<size_t>(shape_.rows) * static_cast<size_t>(shape_.row_features)),
        cluster_(static_cast<size_t>(shape_.cluster_features)),
        prior_(static_cast<size_t>(shape_.actions())),
        mask_(prior_.size()),
        slots_(static_cast<size_t>(shape_.rows)) {
    std::unordered_map<std::string_view, int32_t> slot_of;
    const pb::DecideRequest& request = decision.request();
    for (int32_t slot = 0; slot < view_.slot_high_water(); ++slot) {
      const Phase phase = view_.phase(slot);
      if (phase == Phase::kFree || phase == Phase::kDone) continue;
      const int32_t entry = live_.request_index(slot);
      slot_of[request.jobs(entry).id()] = slot;
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
    agent_.on_events(view_, memory_);
    agent_.begin_decision(view_, memory_);
    for (bool any = false;; any = true) {
      list_.clear();
      agent_.actions(view_, memory_, list_);
      if (list_.empty()) return any;
      agent_.observe(view_, memory_, list_, shape_, out_);
      const int32_t row = next_row(counts);
      if (row != kNone) {
        step(out_, row);
        continue;
      }
      // The recorded rest cannot be expressed, which is not a choice of the no-op.
      if (left() > 0) return any;
      if (!list_.noop_legal) {
        ++counts.forced;
        return any;
      }
      ++counts.nothing;
      step(out_, shape_.rows);
      return true;
    }
  }

  bool has_kept_memory() const { return kept_; }

  // Lets the agent see what has happened. For decisions that another one made.
  void see() { agent_.on_events(view_, memory_); }

  // Call at the end.
  void remember() { known_.remember_plan(live_, draft_.plan()); }

  size_t left() const { return starts_.size() + stops_.size(); }

  // Calls each(shown) for each recorded action which is left after replay(). `shown`: the agent has
  // an action which concerns its job.
  template <class Each>
  void each_left(Each each) const {
    for (const auto* list : {&starts_, &stops_}) {
      for (const RecordedAction& recorded : *list) each(row_of(recorded.slot) != kNone);
    }
  }

 private:
  struct RecordedAction {
    int32_t slot;  // kNone: no such job
    const pb::Action* action;
  };

  Memory& kept_memory(size_t bytes) {
    kept_ = known_.keep_or_clear_memory(live_.state(), bytes, bytes);
    return known_.memory();
  }

  int32_t row_of(int32_t slot) const {
    const auto it = std::ranges::find(list_.actions, slot, &Action::slot);
    if (slot == kNone || it == list_.actions.end()) return kNone;
    return static_cast<int32_t>(it - list_.actions.begin());
  }

  // Returns the row if the job may start or stop now, else kNone.
  int32_t legal_row(const RecordedAction& recorded) const {
    const int32_t row = row_of(recorded.slot);
    if (row == kNone || !list_.at(row).legal) return kNone;
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

  // Returns where the agent would start the job.
  std::vector<Piece> agents_pieces(const Action& action) {
    const Memory before = memory_block_;
    const size_t mark = draft_.mark();
    agent_.apply(view_, memory_, action, draft_);
    std::vector<Piece> out;
    if (draft_.mark() > mark) {
      const Plan& plan = draft_.plan();
      const Edit& edit = plan.edits.back();
      const auto first = plan.pieces.begin() + edit.first_piece;
      out.assign(first, first + edit.num_pieces);
    }
    draft_.undo_to(mark);
    std::memcpy(memory_block_.data(), before.data(), before.bytes());
    memory_.cache.reset();
    return out;
  }

  // Starts in the recorded placement or, if `anywhere`, in the agent's. Returns kNone on failure.
  int32_t start(size_t i, bool anywhere, LogTrainingData& counts) {
    const RecordedAction recorded = starts_[i];
    const int32_t row = legal_row(recorded);
    const std::vector<Piece> ours = agents_pieces(list_.at(row));
    const std::vector<Piece> recorded_pieces = snapshot_.placement_of(*recorded.action);
    const std::vector<Piece>& there = anywhere ? ours : recorded_pieces;
    const bool same = std::ranges::equal(ours, recorded_pieces, [](const Piece& a, const Piece& b) {
      return a.node == b.node && a.gpus == b.gpus;
    });
    if (there.empty() || !draft_.start(recorded.slot, there)) return kNone;
    counts.other_placement += !same;
    take(starts_, i, counts);
    return row;
  }

  static void take(std::vector<RecordedAction>& from, size_t i, LogTrainingData& counts) {
    from.erase(from.begin() + static_cast<int64_t>(i));
    ++counts.reproduced;
  }

  const Agent& agent_;
  ObservationShape shape_;
  const Snapshot& snapshot_;
  ClusterMemory& known_;
  bool kept_ = false;
  SnapshotState live_;
  const View view_;
  Draft draft_;
  Memory& memory_block_;
  AgentMemory memory_;
  ActionList list_;
  std::vector<RecordedAction> starts_, stops_;
  std::vector<float> jobs_, cluster_, prior_;
  std::vector<uint8_t> mask_;
  std::vector<int32_t> slots_;
  Observation out_{};
};

}  // namespace

LogTrainingData training_data_of(LogReader& log, const Agent& agent) {
  LogTrainingData out;
  RecordedChoices& steps = out.steps;
  steps.shape = agent.shape();
  RecordedMemories memories;
  double first_s = 0;
  int32_t number = -1;
  for (const pb::LogRecord& record : log) {
    if (!record.has_decision()) continue;
    const pb::LoggedDecision& decision = record.decision();
    if (out.decisions++ == 0) first_s = decision.request().time_s();
    const bool by_policy = decision.response().source() == pb::POLICY;
    out.skipped += !by_policy;
    number += by_policy;
    const auto time_s = static_cast<float>(decision.request().time_s() - first_s);
    if (by_policy) out.actions += static_cast<uint64_t>(decision.response().actions_size());
    const auto miss = [&] {
      steps.missed_decision.push_back(number);
      steps.missed_time_s.push_back(time_s);
      if (out.first.empty()) out.first = decision.response().decision_id();
    };
    try {
      const Snapshot snapshot(decision.request());
      if (!snapshot.has_usable_gpus()) {
        out.idle += by_policy;
        continue;
      }
      std::optional<DecisionReplayer> replayer;
      replayer.emplace(agent, snapshot, decision, memories.of(decision));
      if (!by_policy) {
        replayer->see();
        continue;
      }
      if (decision.response().rebuilt() && replayer->has_kept_memory()) {
        replayer.emplace(agent, snapshot, decision, memories.restart(decision));
      }
      const uint64_t forced = out.forced;
      const bool any = replayer->replay(out, [&](const Observation& seen, int32_t action) {
        steps.add(seen);
        out.expert_action += action == seen.expert_action;
        steps.action.push_back(std::min(action, seen.rows));
        steps.decision.push_back(number);
        steps.time_s.push_back(time_s);
        steps.probability.push_back(static_cast<float>(decision.trace().probability()));
      });
      out.idle += !any && replayer->left() == 0 && out.forced == forced;
      replayer->each_left([&](bool shown) {
        ++(shown ? out.not_legal : out.not_shown);
        miss();
      });
      if (out.forced > forced) miss();
      replayer->remember();
    } catch (const InputError&) {
      if (!by_policy) continue;
      ++out.impossible;
      for (int i = 0; i < decision.response().actions_size(); ++i) miss();
    }
  }
  return out;
}

}  // namespace yard
